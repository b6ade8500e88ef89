"""Workspaces that are overlays on a shared checkout: the same files, owners and git, for a mount."""

import asyncio
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.errors import WorkspaceUnreadable
from journeyman.git import overlay
from journeyman.git.bases import Bases
from journeyman.git.trees import walk
from journeyman.git.workspaces import Workspaces
from journeyman.sandboxes.identity import jail_uid
from tests.git.repositories import ADA, ORDER, GitSetup, commit_files, git, message, status


@pytest.fixture
def setup(git_setup: GitSetup, home: Path) -> GitSetup:
    if not overlay.can_mount(home):
        pytest.skip("overlays with idmapped layers cannot be mounted here: needs root and Linux 5.19")
    return replace(git_setup, overlays=True)


def facts_of(tree: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for directory in walk(tree):
        for entry in directory.entries:
            facts = entry.stat(follow_symlinks=False)
            size = 0 if entry.is_dir() or entry.name == ".git" else facts.st_size
            found[os.fsdecode(directory.path_of(entry))] = (facts.st_mode, facts.st_uid, size)
    return found


def as_agent(tree: Path, *command: str) -> None:
    """Run a command as the user of the order's jail."""
    uid = jail_uid(ORDER)
    subprocess.run(command, cwd=tree, check=True, user=uid, group=uid, extra_groups=[])


@pytest.fixture
def reachable(tmp_path: Path) -> None:
    """Lets the user of a jail reach the workspace, which it sees by a bind mount otherwise."""
    for path in (tmp_path, *tmp_path.parents):
        if path != Path("/") and path.stat().st_uid == os.geteuid():
            path.chmod(path.stat().st_mode | 0o011)


async def test_an_overlay_looks_like_a_full_checkout(setup: GitSetup, tmp_path: Path) -> None:
    commit_files(setup.source, {"run.sh": "#!/bin/sh\n"}, "Add a script")
    (setup.source / "run.sh").chmod(0o755)
    (setup.source / "link").symlink_to("run.sh")
    git(setup.source, "add", "--all")
    git(setup.source, "commit", "--quiet", "--message", "Modes")
    workspace = await setup.open()
    assert workspace.tree.is_mount()
    (tmp_path / "other").mkdir()
    full = await replace(setup, home=tmp_path / "other", overlays=False).open()
    assert not full.tree.is_mount()
    assert facts_of(workspace.tree) == facts_of(full.tree)
    assert status(workspace) == ""
    assert not await workspace.has_changes()


async def test_what_one_order_writes_no_other_sees(setup: GitSetup) -> None:
    one, other = await setup.open(), await setup.open("wo-other123")
    (one.tree / "readme.md").write_text("mine\n")
    (one.tree / "src/app.py").unlink()
    assert (other.tree / "readme.md").read_text() == "hello\n"
    assert (other.tree / "src/app.py").exists()
    commit = await one.commit(message(), author=ADA)
    assert commit is not None
    assert (
        git(one.mirror.path, "diff", "--name-status", f"{commit}~", commit) == "M\treadme.md\nD\tsrc/app.py"
    )
    assert not await other.has_changes()


@pytest.mark.usefixtures("reachable")
async def test_the_user_of_a_jail_owns_every_file(setup: GitSetup) -> None:
    workspace = await setup.open()
    setup.home.chmod(0o711)
    as_agent(workspace.tree, "chmod", "755", "readme.md")
    as_agent(workspace.tree, "touch", "-d", "2001-01-01", "src/app.py")
    as_agent(workspace.tree, "sh", "-c", "echo more >> src/app.py; rm -r readme.md; mkdir new; mv src new/")
    assert (workspace.tree / "new/src/app.py").read_text() == "one\nmore\n"


async def test_a_directory_can_be_renamed_and_the_rename_committed(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "src").rename(workspace.tree / "lib")
    commit = await workspace.commit(message(), author=ADA)
    assert commit is not None
    assert git(workspace.mirror.path, "diff", "-M", "--name-status", f"{commit}~", commit).startswith("R100")
    overlay.unmount(workspace.tree)
    setup.restart()
    assert ((await setup.open()).tree / "lib/app.py").read_text() == "one\n"


async def test_nothing_is_copied_to_change_owners(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "readme.md").write_text("changed\n")
    await workspace.restore(await workspace.head())
    copied = {path.name for path in (workspace.tree.parent / "upper").rglob("*")}
    assert "app.py" not in copied
    assert not await workspace.has_changes()


async def test_a_restarted_machine_gets_its_overlay_back_with_the_agents_work(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "readme.md").write_text("not committed\n")
    overlay.unmount(workspace.tree)
    setup.restart()
    again = await setup.open()
    assert (again.tree / "readme.md").read_text() == "not committed\n"
    assert (again.tree / "src/app.py").read_text() == "one\n"


async def test_a_base_that_is_gone_costs_only_what_was_in_no_snapshot(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "readme.md").write_text("kept\n")
    await workspace.snapshot()
    overlay.unmount(workspace.tree)
    for base in (setup.home / "bases").glob("[0-9a-f]*"):
        base.rename(setup.home / f"lost-{base.name}")
    setup.restart()
    assert ((await setup.open()).tree / "readme.md").read_text() == "kept\n"


async def test_a_workspace_that_is_made_again_lies_on_its_first_base(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "readme.md").write_text("committed\n")
    await workspace.commit(message(), author=ADA)
    (workspace.tree / "src/app.py").write_text("not committed\n")
    await workspace.snapshot()
    await setup.workspaces.remove(ORDER)
    again = await setup.open()
    assert again.tree.is_mount()
    assert (again.tree / "readme.md").read_text() == "committed\n"
    assert status(again) == " M src/app.py\n".rstrip()
    assert {entry.stat().st_uid for one in walk(again.tree) for entry in one.entries} == {jail_uid(ORDER)}
    assert len(list((setup.home / "bases").glob("[0-9a-f]*"))) == 1


async def test_git_never_looks_at_a_workspace_that_is_not_mounted(setup: GitSetup) -> None:
    workspace = await setup.open()
    (workspace.tree / "readme.md").write_text("not committed\n")
    setup.workspaces.unmount()
    for action in (workspace.has_changes(), workspace.snapshot(), workspace.commit(message(), author=ADA)):
        with pytest.raises(WorkspaceUnreadable, match="not mounted"):
            await action
    assert await (await setup.open()).has_changes()


async def test_what_a_killed_process_had_half_mounted_goes_away(setup: GitSetup) -> None:
    """As if it was killed between the two mounts: the shared files are still shown beside the workspace."""
    workspace = await setup.open()
    (base,) = (setup.home / "bases").glob("[0-9a-f]*")
    shown = workspace.tree.parent / "lower"
    mounting = await asyncio.create_subprocess_exec("mount", "--bind", base / "tree", shown)
    assert await mounting.wait() == 0
    await setup.workspaces.remove(ORDER)
    setup.workspaces.trash.empty()
    assert not shown.is_mount()
    assert list((setup.home / "workspaces" / ".trash").iterdir()) == []
    assert (base / "tree" / "readme.md").read_text() == "hello\n"


async def test_removing_unmounts_while_somebody_is_still_in_there(setup: GitSetup) -> None:
    workspace = await setup.open()
    busy = await asyncio.create_subprocess_exec("sleep", "60", cwd=workspace.tree)
    try:
        await setup.workspaces.remove(ORDER)
        assert not workspace.tree.exists()
        setup.workspaces.trash.empty()
        assert list((setup.home / "workspaces" / ".trash").iterdir()) == []
    finally:
        busy.kill()
        await busy.wait()


async def test_bases_go_when_they_are_unused_and_not_before(setup: GitSetup) -> None:
    await setup.open()
    [first] = (setup.home / "bases").glob("[0-9a-f]*")
    commit_files(setup.source, {"readme.md": "newer\n"}, "Newer")
    await setup.open("wo-other123")
    for base in (setup.home / "bases").iterdir():
        os.utime(base, (time.time() - 10**6,) * 2)
    await setup.workspaces.remove("wo-other123")
    setup.workspaces.discard_leftovers()
    assert list((setup.home / "bases").glob("[0-9a-f]*")) == [first]


async def test_an_ordinary_checkout_is_made_where_overlays_do_not_work(
    setup: GitSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeyman.git.bases.can_mount", lambda _: False)
    workspace = await setup.open()
    assert not workspace.tree.is_mount()
    assert (workspace.tree / "readme.md").read_text() == "hello\n"


async def test_an_order_does_not_wait_for_the_deletion_of_its_workspace(git_setup: GitSetup) -> None:
    """Nothing empties the trash here: what is removed is out of the way all the same, and not yet deleted.

    Neither is an overlay unmounted yet, which waits until the disk has written what the agent wrote.
    """
    workspace = await git_setup.open()
    (workspace.tree / "large").write_text("much\n")
    await git_setup.workspaces.remove(ORDER)
    assert not git_setup.workspaces.exists(ORDER)
    [discarded] = (git_setup.home / "workspaces" / ".trash").iterdir()
    assert (discarded / "tree" / "large").exists()
    git_setup.workspaces.trash.empty()
    assert not discarded.exists()


async def test_bases_are_made_once_by_orders_that_start_together(setup: GitSetup) -> None:
    mirror = await setup.refresh()
    several = [Bases(setup.home / "bases") for _ in range(4)]
    found = await asyncio.gather(*(one.get(mirror, mirror.resolve("main")) for one in several))
    assert len({one.directory for one in found if one is not None}) == 1
    assert list((setup.home / "bases").glob(".partial-*")) == []
    assert Workspaces(setup.home / "workspaces", bases=several[0]).found() == []
