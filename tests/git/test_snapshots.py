"""Snapshots keep what is not committed, and change nothing that anybody could see."""

import asyncio
import os

from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, message, processes_ended, status, tracked


async def test_a_snapshot_holds_untracked_and_changed_files(workspace: Workspace) -> None:
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "new.txt").write_text("new\n")
    snapshot = await workspace.snapshot()
    assert snapshot is not None
    assert snapshot.ref == f"refs/journeyman/snapshots/{ORDER}/1"
    assert tracked(workspace.mirror, snapshot.ref) == ["new.txt", "readme.md", "src/app.py"]
    assert await workspace.mirror.file_at(snapshot.commit_sha, "src/app.py") == b"two\n"
    assert git(workspace.mirror.path, "rev-parse", f"{snapshot.ref}^") == await workspace.head()


async def test_a_snapshot_leaves_index_head_and_status_as_they_were(workspace: Workspace) -> None:
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "new.txt").write_text("new\n")

    def seen() -> tuple[bytes, str, str]:
        index = (workspace.git_dir / "index").read_bytes()
        return index, git(workspace.tree, "rev-parse", "HEAD"), status(workspace)

    before = seen()
    assert await workspace.snapshot() is not None
    assert seen() == before


async def test_what_is_set_aside_is_kept_and_does_not_come_back(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    assert await workspace.stash() is None
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "new.txt").write_text("new\n")
    kept = await workspace.stash()
    assert kept is not None
    assert await workspace.mirror.file_at(kept.commit_sha, "new.txt") == b"new\n"
    assert status(workspace) == ""
    assert not (workspace.tree / "new.txt").exists()
    await git_setup.workspaces.remove(ORDER)
    again = await git_setup.open()
    assert not (again.tree / "new.txt").exists()
    assert (again.tree / "src/app.py").read_text() != "two\n"


async def test_a_snapshot_is_taken_only_of_something_new(workspace: Workspace) -> None:
    assert await workspace.snapshot() is None
    (workspace.tree / "new.txt").write_text("1\n")
    assert await workspace.snapshot() is not None
    assert await workspace.snapshot() is None
    os.utime(workspace.tree / "new.txt", (1, 1))
    assert await workspace.snapshot() is None
    (workspace.tree / "new.txt").write_text("2\n")
    second = await workspace.snapshot()
    assert second is not None
    assert second.ref.endswith("/2")
    await workspace.commit(message(), author=ADA)
    assert await workspace.snapshot() is None


async def test_a_change_that_leaves_size_and_time_alone_is_seen(workspace: Workspace) -> None:
    file, long_ago = workspace.tree / "new.txt", (1_000_000_000, 1_000_000_000)
    file.write_text("1\n")
    os.utime(file, long_ago)
    await workspace.commit(message(), author=ADA)
    os.utime(workspace.git_dir / "index", long_ago)
    file.write_text("2\n")
    os.utime(file, long_ago)
    assert await workspace.snapshot() is not None


async def test_the_tenth_snapshot_is_newer_than_the_ninth(git_setup: GitSetup, workspace: Workspace) -> None:
    for number in range(10):
        (workspace.tree / "count.txt").write_text(f"{number}\n")
        await workspace.snapshot()
    await git_setup.workspaces.remove(ORDER)
    assert (await git_setup.open()).tree.joinpath("count.txt").read_text() == "9\n"


async def test_snapshots_and_commits_at_once_wait_for_each_other(workspace: Workspace) -> None:
    (workspace.tree / "new.txt").write_text("new\n")
    commit_sha, *_ = await asyncio.gather(
        workspace.commit(message(), author=ADA), *(workspace.snapshot() for _ in range(4))
    )
    assert commit_sha == await workspace.head()
    assert git(workspace.mirror.path, "fsck", "--no-dangling", "--strict") == ""


async def test_a_snapshot_that_is_given_up_leaves_no_process_and_no_lock(
    workspace: Workspace, git_setup: GitSetup
) -> None:
    for number in range(300):
        (workspace.tree / f"{number}.txt").write_text(f"{number}\n" * 200)
    for moment in range(0, 40, 4):
        taking = asyncio.create_task(workspace.snapshot())
        for _ in range(moment):
            await asyncio.sleep(0)
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
    await processes_ended(git_setup.home)
    assert await workspace.snapshot() is not None
