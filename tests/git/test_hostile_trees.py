"""Whatever an agent puts into its tree, the platform's git runs none of it and reads nothing outside it."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from journeyman.errors import Internal
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, make_repository, message, tracked

EXECUTING = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "credential.helper",
    "gpg.program",
)
HOOKS = (
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "pre-push",
    "reference-transaction",
    "post-index-change",
)


def booby_trap(git_dir: Path, canary: Path) -> None:
    """Make a git directory run a command on almost anything that is done with it."""
    script = git_dir / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    for setting in EXECUTING:
        git(git_dir, f"--git-dir={git_dir}", "config", setting, str(script))
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(script, git_dir / "hooks" / name)


async def use_everything(workspace: Workspace, git_setup: GitSetup) -> str:
    """Each thing that git does with a tree; returns the commit."""
    await workspace.has_changes()
    await workspace.snapshot()
    commit_sha = await workspace.commit(
        message(), author=ADA, records={f".journeyman/{ORDER}/plan.md": b"plan"}
    )
    assert commit_sha is not None
    await workspace.mirror.diff(workspace.base_commit_sha, commit_sha)
    await workspace.mirror.progress(ORDER, workspace.branch, workspace.base_commit_sha)
    await workspace.restore(commit_sha)
    await git_setup.workspaces.remove(ORDER)
    await git_setup.open()
    return commit_sha


async def test_a_git_directory_planted_at_the_top_is_not_used(
    git_setup: GitSetup, workspace: Workspace, tmp_path: Path
) -> None:
    (workspace.tree / ".git").unlink()
    git(workspace.tree, "init", "--quiet")
    booby_trap(workspace.tree / ".git", tmp_path / "canary")
    (workspace.tree / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (workspace.tree / "a.txt").write_text("a\n")
    commit_sha = await use_everything(workspace, git_setup)
    assert "a.txt" in tracked(workspace.mirror, commit_sha)
    assert not (tmp_path / "canary").exists()


async def test_the_traps_of_these_tests_do_spring(tmp_path: Path) -> None:
    place = make_repository(tmp_path / "place")
    booby_trap(place / ".git", tmp_path / "canary")
    git(place, "status")
    assert (tmp_path / "canary").exists()


async def test_files_of_a_nested_repository_are_committed_and_its_traps_are_not_sprung(
    git_setup: GitSetup, workspace: Workspace, tmp_path: Path
) -> None:
    nested = make_repository(
        workspace.tree / "made/by/agent", {"app.py": "nested\n", ".gitignore": "junk/\n"}
    )
    booby_trap(nested / ".git", tmp_path / "canary")
    (nested / "junk").mkdir()
    (nested / "junk/cache").write_text("junk\n")
    (nested / "uncommitted.py").write_text("new\n")
    (nested / "link").symlink_to("app.py")
    unborn = workspace.tree / "unborn"
    unborn.mkdir()
    git(unborn, "init", "--quiet")
    (unborn / "first.txt").write_text("first\n")
    commit_sha = await use_everything(workspace, git_setup)
    assert tracked(workspace.mirror, commit_sha) == [
        f".journeyman/{ORDER}/plan.md",
        "made/by/agent/.gitignore",
        "made/by/agent/app.py",
        "made/by/agent/link",
        "made/by/agent/uncommitted.py",
        "readme.md",
        "src/app.py",
        "unborn/first.txt",
    ]
    assert " 160000 " not in git(workspace.mirror.path, "ls-tree", "-r", commit_sha)
    assert not (tmp_path / "canary").exists()


async def test_a_repository_inside_a_tracked_directory_hides_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    git(workspace.tree / "src", "init", "--quiet")
    booby_trap(workspace.tree / "src/.git", tmp_path / "canary")
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "src/new.py").write_text("new\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == ["readme.md", "src/app.py", "src/new.py"]
    assert not (tmp_path / "canary").exists()


async def test_a_bare_repository_in_a_directory_is_only_files(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.tree / "bare").mkdir()
    git(workspace.tree / "bare", "init", "--quiet", "--bare")
    booby_trap(workspace.tree / "bare", tmp_path / "canary")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert "bare/HEAD" in tracked(workspace.mirror, commit_sha)
    assert not (tmp_path / "canary").exists()


async def test_attributes_cannot_keep_a_file_from_being_kept(workspace: Workspace) -> None:
    (workspace.tree / ".gitattributes").write_text("* filter=lfs working-tree-encoding=UTF-16 ident\n")
    (workspace.tree / "a.txt").write_bytes(b"odd\xff\n")
    snapshot = await workspace.snapshot()
    assert snapshot is not None
    assert await workspace.mirror.file_at(snapshot.commit_sha, "a.txt") == b"odd\xff\n"


async def test_a_linked_records_directory_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace.tree / ".journeyman").symlink_to(outside)
    path = f".journeyman/{ORDER}/plan.md"
    commit_sha = await workspace.commit(message(), author=ADA, records={path: b"the plan\n"})
    assert commit_sha is not None
    assert await workspace.mirror.file_at(commit_sha, path) == b"the plan\n"
    await workspace.restore(commit_sha)
    assert list(outside.iterdir()) == []


async def test_links_are_kept_as_links(workspace: Workspace, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("hunter2\n")
    shutil.rmtree(workspace.tree / "src")
    (workspace.tree / "src").symlink_to(secret)
    (workspace.tree / "key").symlink_to(secret / "key")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == ["key", "readme.md", "src"]
    assert await workspace.mirror.file_at(commit_sha, "key") == os.fsencode(secret / "key")
    await workspace.restore(workspace.base_commit_sha)
    assert (workspace.tree / "src/app.py").read_text() == "one\n"
    assert (secret / "key").read_text() == "hunter2\n"


@contextmanager
def swapping(place: Path, link_to: Path) -> Iterator[None]:
    """An agent that swaps a directory with a link, again and again, until told to stop."""
    honest, link, stop = place.with_name("honest"), place.with_name("link"), threading.Event()
    link.symlink_to(link_to)

    def swap() -> None:
        while not stop.wait(0.004):
            with suppress(OSError):  # git may have moved either of them first
                place.rename(honest)
                link.rename(place)
                stop.wait(0.004)
                place.rename(link)
                honest.rename(place)

    agent = threading.Thread(target=swap)
    agent.start()
    try:
        yield
    finally:
        stop.set()
        agent.join()


def many_files(directory: Path, content: str) -> None:
    directory.mkdir(exist_ok=True)
    for number in range(300):
        (directory / f"{number:03}").write_text(f"{content} {number}\n")


async def test_a_link_swapped_in_while_git_reads_leads_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    many_files(tmp_path / "secrets", "hunter2")
    many_files(workspace.tree / "place", "harmless")
    with swapping(workspace.tree / "place", tmp_path / "secrets"):
        for number in range(12):
            (workspace.tree / "counter").write_text(f"{number}\n")
            with suppress(Internal):  # too many files that were there and then were not
                await workspace.snapshot()
    stored = git(workspace.mirror.path, "cat-file", "--batch", "--batch-all-objects", "--unordered")
    assert "harmless" in stored
    assert "hunter2" not in stored


@pytest.mark.parametrize("target", ["outside", "mirror"])
async def test_a_link_swapped_in_while_git_writes_leads_nowhere(
    workspace: Workspace, tmp_path: Path, target: str
) -> None:
    outside = tmp_path / "outside" if target == "outside" else workspace.mirror.path
    outside.mkdir(exist_ok=True)
    many_files(workspace.tree / "place", "harmless")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    before = sorted(outside.iterdir())
    for _ in range(8):
        many_files(workspace.tree / "place", "spoilt")
        with swapping(workspace.tree / "place", outside), suppress(Internal):
            await workspace.restore(commit_sha)
        for leftover in ("link", "honest"):
            _remove(workspace.tree / leftover)
        if (workspace.tree / "place").is_symlink():
            (workspace.tree / "place").unlink()
    assert sorted(outside.iterdir()) == before
    await workspace.restore(commit_sha)
    assert (workspace.tree / "place/000").read_text() == "harmless 0\n"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


NAMES = (
    b"new\nline",
    b"--help",
    b"-rf",
    b"$(touch hacked)",
    b"invalid\xff\xfe",
    "right\u202eto-left".encode(),
    b"tab\there",
    b'quo"te',
    b"back\\slash",
    b":(exclude)*",
    b" leading and trailing ",
    b"*",
    b"x" * 255,
)


async def test_any_name_of_a_file_survives(git_setup: GitSetup, workspace: Workspace) -> None:
    for name in NAMES:
        (workspace.tree / os.fsdecode(name)).write_bytes(name)
    await workspace.snapshot()
    await git_setup.workspaces.remove(ORDER)
    workspace = await git_setup.open()
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    kept = {os.fsencode(name) for name in tracked(workspace.mirror, commit_sha)}
    assert kept == {*NAMES, b"readme.md", b"src/app.py"}


@pytest.mark.parametrize("name", [".GIT", ".git ", "git~1", ".Git."])
async def test_a_name_that_other_systems_take_for_a_git_directory_is_left_out(
    workspace: Workspace, name: str
) -> None:
    (workspace.tree / "deep" / name).mkdir(parents=True)
    for number in range(60):
        (workspace.tree / "deep" / name / f"config{number}").write_text("[core]\n")
    (workspace.tree / "deep/kept.txt").write_text("kept\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == ["deep/kept.txt", "readme.md", "src/app.py"]


async def test_what_git_cannot_store_is_left_out_and_the_rest_is_kept(workspace: Workspace) -> None:
    os.mkfifo(workspace.tree / "pipe")
    (workspace.tree / "readme.md").unlink()
    os.mkfifo(workspace.tree / "readme.md")
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(workspace.tree)
    listening.bind("socket")
    os.chdir(here)
    with (workspace.tree / "huge").open("wb") as huge:
        huge.truncate(200 * 1024 * 1024)
    (workspace.tree / "kept.txt").write_text("kept\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    listening.close()
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == ["kept.txt", "readme.md", "src/app.py"]


async def test_settings_in_files_of_the_tree_are_only_files(workspace: Workspace, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (workspace.tree / ".gitconfig").write_text(f"[core]\n\tfsmonitor = touch {canary}\n")
    (workspace.tree / "config").write_text(f"[core]\n\tfsmonitor = touch {canary}\n")
    (workspace.tree / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (workspace.tree / name).mkdir()
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == [
        ".gitconfig",
        "HEAD",
        "config",
        "readme.md",
        "src/app.py",
    ]
    assert not canary.exists()


async def test_what_tools_leave_behind_is_not_committed(workspace: Workspace) -> None:
    for name in ("pkg/__pycache__/a.cpython-311.pyc", "node_modules/x/index.js", "work.txt"):
        path = workspace.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    head = await workspace.commit(message(), author=ADA)
    assert head is not None
    assert await workspace.mirror.changed_paths(workspace.base_commit_sha, head) == ["work.txt"]
