"""Workspaces: opened, kept, thrown away and opened again without losing anything."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from journeyman.errors import Conflict, InvalidInput
from journeyman.git.mirror import Mirror
from journeyman.git.overlay import unmount
from journeyman.git.workspaces import Workspace
from journeyman.sandboxes.identity import jail_uid
from tests.git.repositories import ADA, ORDER, GitSetup, commit_files, git, message, status, tracked


def files(workspace: Workspace) -> dict[str, str]:
    found = (path for path in workspace.tree.rglob("*") if path.is_file() and path.name != ".git")
    return {str(path.relative_to(workspace.tree)): path.read_text() for path in found}


async def test_a_workspace_holds_the_files_of_its_base(workspace: Workspace) -> None:
    assert files(workspace) == {"readme.md": "hello\n", "src/app.py": "one\n"}
    assert await workspace.head() == workspace.base_commit_sha
    assert not await workspace.has_changes()


async def test_git_works_inside_the_tree_and_sees_the_branch(workspace: Workspace) -> None:
    assert git(workspace.tree, "branch", "--show-current") == workspace.branch
    assert git(workspace.tree, "log", "--format=%s") == "Begin"
    assert status(workspace) == ""


async def test_a_worktree_is_one_that_git_knows(source: Path, home: Path) -> None:
    workspace = await GitSetup(source, home, "git_worktree").open()
    assert str(workspace.tree) in git(workspace.mirror.path, "worktree", "list")
    assert workspace.git_directories == (workspace.mirror.path,)


async def test_a_branch_workspace_shows_no_refs_of_other_orders(source: Path, home: Path) -> None:
    git_setup = GitSetup(source, home, "git_branch")
    workspace = await git_setup.open()
    await git_setup.open("wo-other123")
    assert git(workspace.tree, "for-each-ref", "--format=%(refname)") == f"refs/heads/{workspace.branch}"
    assert workspace.git_directories == (workspace.git_dir, workspace.mirror.path / "objects")


async def test_an_open_workspace_is_used_as_it_is(git_setup: GitSetup, workspace: Workspace) -> None:
    (workspace.tree / "draft.txt").write_text("not yet committed\n")
    again = await git_setup.open()
    assert again.tree == workspace.tree
    assert files(again)["draft.txt"] == "not yet committed\n"


async def test_two_orders_work_on_one_repository_at_once(git_setup: GitSetup) -> None:
    one, two = await asyncio.gather(git_setup.open("wo-one00000"), git_setup.open("wo-two00000"))
    (one.tree / "one.txt").write_text("1\n")
    (two.tree / "two.txt").write_text("2\n")
    await asyncio.gather(*(place.commit(message(), author=ADA) for place in (one, two)))
    assert tracked(one.mirror, one.branch) == ["one.txt", "readme.md", "src/app.py"]
    assert tracked(two.mirror, two.branch) == ["readme.md", "src/app.py", "two.txt"]


async def test_a_commit_takes_everything_that_changed(workspace: Workspace) -> None:
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "readme.md").unlink()
    (workspace.tree / "new").mkdir()
    (workspace.tree / "new/script.sh").write_text("#!/bin/sh\n")
    (workspace.tree / "new/script.sh").chmod(0o755)
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert commit_sha == await workspace.head()
    assert tracked(workspace.mirror, commit_sha) == ["new/script.sh", "src/app.py"]
    assert git(workspace.mirror.path, "ls-tree", commit_sha, "new/script.sh").startswith("100755")
    assert git(workspace.tree, "rev-parse", "HEAD") == commit_sha
    assert status(workspace) == ""
    assert not await workspace.has_changes()


async def test_nothing_is_committed_when_nothing_changed(workspace: Workspace) -> None:
    assert await workspace.commit(message(), author=ADA) is None
    os.utime(workspace.tree / "readme.md", (1, 1))
    assert await workspace.commit(message(), author=ADA) is None
    assert await workspace.head() == workspace.base_commit_sha


async def test_what_is_ignored_is_not_committed(workspace: Workspace) -> None:
    (workspace.tree / ".gitignore").write_text("*.log\n")
    (workspace.tree / "noise.log").write_text("noise\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == [".gitignore", "readme.md", "src/app.py"]


async def test_a_file_becomes_a_directory_and_back(workspace: Workspace) -> None:
    shutil.rmtree(workspace.tree / "src")
    (workspace.tree / "src").write_text("now a file\n")
    (workspace.tree / "readme.md").unlink()
    (workspace.tree / "readme.md").mkdir()
    (workspace.tree / "readme.md/inside.txt").write_text("x\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    assert tracked(workspace.mirror, commit_sha) == ["readme.md/inside.txt", "src"]


async def test_the_author_is_the_person_and_the_committer_is_journeyman(workspace: Workspace) -> None:
    (workspace.tree / "a").write_text("a\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    who = git(workspace.mirror.path, "log", "-1", "--format=%an <%ae>, %cn <%ce>", commit_sha)
    assert who == "Ada <ada@example.org>, Journeyman <agent@journeyman.invalid>"


async def test_records_are_committed_without_passing_through_the_tree(workspace: Workspace) -> None:
    path = f".journeyman/{ORDER}/plan.md"
    commit_sha = await workspace.commit(message(), author=ADA, records={path: b"the plan\n"})
    assert commit_sha is not None
    assert await workspace.mirror.file_at(commit_sha, path) == b"the plan\n"
    assert not (workspace.tree / ".journeyman").exists()
    assert status(workspace) == ""
    assert await workspace.commit(message(), author=ADA, records={path: b"the plan\n"}) is None
    (workspace.tree / "more.txt").write_text("more\n")
    later = await workspace.commit(message(), author=ADA)
    assert later is not None
    assert await workspace.mirror.file_at(later, path) == b"the plan\n"


async def test_an_agent_cannot_write_the_records(workspace: Workspace) -> None:
    path = f".journeyman/{ORDER}/plan.md"
    (workspace.tree / path).parent.mkdir(parents=True)
    (workspace.tree / path).write_text("forged\n")
    assert not await workspace.has_changes()
    commit_sha = await workspace.commit(message(), author=ADA, records={path: b"the plan\n"})
    assert commit_sha is not None
    (workspace.tree / path).write_text("forged again\n")
    assert await workspace.commit(message(), author=ADA) is None
    assert await workspace.mirror.file_at(commit_sha, path) == b"the plan\n"


async def test_a_commit_is_found_again_by_what_it_was_for(workspace: Workspace) -> None:
    (workspace.tree / "a").write_text("a\n")
    first = await workspace.commit(message(subtask=1, round=1), author=ADA)
    (workspace.tree / "a").write_text("b\n")
    second = await workspace.commit(message(subtask=1, round=2), author=ADA)
    assert await workspace.find_commit(step="build", subtask=1) == second
    assert await workspace.find_commit(step="build", subtask=1, round=1) == first
    assert await workspace.find_commit(step="build", subtask=1, round=3) is None
    assert await workspace.find_commit(step="build", subtask=2) is None
    assert await workspace.find_commit(step="verify", subtask=1) is None


async def test_restoring_throws_away_what_is_not_committed(workspace: Workspace) -> None:
    (workspace.tree / ".gitignore").write_text("cache/\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    expected = files(workspace)
    (workspace.tree / "src/app.py").write_text("spoilt\n")
    (workspace.tree / "readme.md").unlink()
    (workspace.tree / "left/over").mkdir(parents=True)
    (workspace.tree / "left/over/file").write_text("x\n")
    (workspace.tree / "cache").mkdir()
    (workspace.tree / "cache/kept").write_text("kept\n")
    await workspace.restore(commit_sha)
    assert files(workspace) == expected | {"cache/kept": "kept\n"}
    assert not await workspace.has_changes()


async def test_files_belong_to_the_user_of_the_jail_and_git_directories_do_not(workspace: Workspace) -> None:
    (workspace.tree / "readme.md").unlink()
    await workspace.restore(workspace.base_commit_sha)
    wanted = os.geteuid() if jail_uid(ORDER) is None else jail_uid(ORDER)
    own = [workspace.tree, *workspace.tree.rglob("*")]
    assert {path.lstat().st_uid for path in own} == {wanted}
    assert {path.lstat().st_uid for path in workspace.git_dir.rglob("*")} == {os.geteuid()}


async def test_the_index_knows_whose_the_files_are(workspace: Workspace) -> None:
    """Otherwise every status would read every file again."""
    remembered = git(workspace.tree, "ls-files", "--debug")
    for name in ("readme.md", "src/app.py"):
        facts = (workspace.tree / name).lstat()
        seconds, nanoseconds = divmod(facts.st_ctime_ns, 10**9)
        assert f"ctime: {seconds}:{nanoseconds}\n" in remembered
        assert f"uid: {facts.st_uid}\tgid: {facts.st_gid}\n" in remembered
    assert git(workspace.tree, "fsck", "--no-dangling") == "", "the index has a wrong checksum"


async def test_a_lost_workspace_comes_back_with_what_was_not_committed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "src/app.py").write_text("committed\n")
    head = await workspace.commit(message(), author=ADA)
    (workspace.tree / "src/app.py").write_text("in progress\n")
    (workspace.tree / "untracked.txt").write_text("new\n")
    (workspace.tree / "readme.md").unlink()
    assert await workspace.snapshot() is not None
    expected = files(workspace)
    unmount(workspace.tree)
    shutil.rmtree(workspace.tree)
    git_setup.restart()
    again = await git_setup.open()
    assert files(again) == expected
    assert await again.head() == head
    assert status(again).split("\n") == [" D readme.md", " M src/app.py", "?? untracked.txt"]


async def test_a_snapshot_from_before_the_last_commit_is_not_brought_back(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "draft.txt").write_text("draft\n")
    await workspace.snapshot()
    (workspace.tree / "draft.txt").rename(workspace.tree / "final.txt")
    await workspace.commit(message(), author=ADA)
    await git_setup.workspaces.remove(ORDER)
    assert sorted(files(await git_setup.open())) == ["final.txt", "readme.md", "src/app.py"]


async def test_resetting_the_files_removes_what_is_untracked_and_keeps_what_is_ignored(
    workspace: Workspace,
) -> None:
    tree = workspace.tree
    for name in ("top.txt", "new/file", "src/new.py", "mixed/code.py", "mixed/__pycache__/code.pyc", "a.pyc"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    (tree / "empty" / "below").mkdir(parents=True)
    git(tree, "init", "--quiet", "nested")
    (tree / "src" / "app.py").write_text("changed\n")
    await workspace.restore(await workspace.head())
    left = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    assert left == {".git", "readme.md", "src/app.py", "mixed/__pycache__/code.pyc", "a.pyc"}
    assert not (tree / "empty").exists()
    assert status(workspace) == ""


async def test_a_half_made_workspace_is_made_anew(git_setup: GitSetup, workspace: Workspace) -> None:
    (workspace.tree.parent / "ready").unlink()
    (workspace.tree / "readme.md").unlink()
    git_setup.restart()
    again = await git_setup.open()
    assert files(again) == {"readme.md": "hello\n", "src/app.py": "one\n"}
    assert status(again) == ""


async def test_a_lost_git_directory_does_not_cost_the_agent_its_files(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "draft.txt").write_text("never snapshotted\n")
    shutil.rmtree(workspace.git_dir)
    git_setup.restart()
    again = await git_setup.open()
    assert files(again)["draft.txt"] == "never snapshotted\n"
    assert status(again) == "?? draft.txt"


async def test_lock_files_of_a_killed_git_do_not_stop_the_next(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.git_dir / "index.lock").touch()
    ref = workspace.mirror.path / "refs/heads" / f"{workspace.branch}.lock"
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.touch()
    git_setup.restart()
    again = await git_setup.open()
    (again.tree / "a").write_text("a\n")
    assert await again.commit(message(), author=ADA) is not None


async def test_a_removed_workspace_leaves_branch_and_snapshots(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "a").write_text("a\n")
    head = await workspace.commit(message(), author=ADA)
    (workspace.tree / "a").write_text("b\n")
    snapshot = await workspace.snapshot()
    await git_setup.workspaces.remove(ORDER)
    await git_setup.workspaces.remove(ORDER)
    assert not git_setup.workspaces.exists(ORDER)
    assert not workspace.tree.parent.exists()
    assert not workspace.git_dir.exists()
    assert await workspace.mirror.branch_head(workspace.branch) == head
    assert snapshot is not None
    assert git(workspace.mirror.path, "rev-parse", snapshot.ref) == snapshot.commit_sha


async def test_a_workspace_that_its_agent_locked_up_is_removed_all_the_same(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "src").chmod(0)
    await git_setup.workspaces.remove(ORDER)
    git_setup.workspaces.trash.empty()
    assert list((git_setup.home / "workspaces" / ".trash").iterdir()) == []


async def test_what_a_deletion_left_is_deleted_and_workspaces_stay(git_setup: GitSetup) -> None:
    assert git_setup.workspaces.found() == []
    await asyncio.gather(git_setup.open("wo-first000"), git_setup.open("wo-second00"))
    rubbish = git_setup.home / "workspaces/.trash/wo-gone0000-1"
    rubbish.mkdir(parents=True, exist_ok=True)
    git_setup.workspaces.trash.empty()
    assert not rubbish.exists()
    assert git_setup.workspaces.found() == ["wo-first000", "wo-second00"]


async def test_a_branch_of_somebody_else_on_the_remote_is_not_taken(git_setup: GitSetup) -> None:
    git(git_setup.source, "branch", "feature")
    with pytest.raises(Conflict, match="feature exists already") as raised:
        await git_setup.open(branch="feature")
    assert "another branch name" in raised.value.hint


async def test_a_branch_of_another_order_is_not_taken(git_setup: GitSetup) -> None:
    await git_setup.open("wo-first000", branch="feature")
    with pytest.raises(Conflict, match="feature exists already"):
        await git_setup.open("wo-second00", branch="feature")


async def test_a_branch_below_another_branch_is_refused(git_setup: GitSetup) -> None:
    await git_setup.open("wo-first000", branch="feature")
    with pytest.raises(Conflict):
        await git_setup.open("wo-second00", branch="feature/more")


async def test_an_order_goes_on_from_its_pushed_branch_on_another_machine(
    git_setup: GitSetup, tmp_path: Path
) -> None:
    first = await git_setup.open()
    (first.tree / "a").write_text("a\n")
    head = await first.commit(message(), author=ADA)
    git(first.mirror.path, "push", "--quiet", str(git_setup.source), f"{first.branch}:{first.branch}")
    elsewhere = GitSetup(git_setup.source, tmp_path / "elsewhere", git_setup.kind)
    second = await elsewhere.open()
    assert await second.head() == head
    assert files(second)["a"] == "a\n"


@pytest.mark.parametrize(
    "branch", ["--force", "a b", "a`id`", "x\u3000y", "../../x", "refs/heads/x", "x.lock", "HEAD"]
)
async def test_a_branch_name_that_could_be_anything_else_is_refused(git_setup: GitSetup, branch: str) -> None:
    with pytest.raises(InvalidInput, match="branch name"):
        await git_setup.open(branch=branch)


@pytest.mark.parametrize("order_id", ["../../etc", ".trash", "", "a/b", "-x"])
async def test_an_order_id_that_is_a_path_is_refused(git_setup: GitSetup, order_id: str) -> None:
    with pytest.raises(InvalidInput, match="not a work order's id"):
        await git_setup.workspaces.remove(order_id)


async def test_a_base_that_moved_on_does_not_move_the_order(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    commit_files(git_setup.source, {"later.txt": "later\n"}, "Later")
    mirror: Mirror = await git_setup.refresh()
    again = await git_setup.workspaces.open(
        mirror,
        order_id=ORDER,
        kind=git_setup.kind,
        branch=workspace.branch,
        base_commit_sha=workspace.base_commit_sha,
    )
    assert "later.txt" not in files(again)
