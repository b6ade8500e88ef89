"""A mirror is packed and cleaned, and nothing that anybody needs is lost by it."""

import os
import time
from pathlib import Path

from journeyman.git import maintenance
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, message

MONTH_SECONDS = 30 * 24 * 3600


def age_objects(mirror: Path) -> None:
    """As if everything in it had been written a month ago."""
    for path in (mirror / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() - MONTH_SECONDS,) * 2)


def has(mirror: Path, commit_sha: str) -> bool:
    return commit_sha in git(mirror, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")


async def test_packing_keeps_branches_snapshots_and_what_lies_in_a_workspace(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "done.txt").write_text("done\n")
    head = await workspace.commit(message(), author=ADA)
    (workspace.tree / "loose.txt").write_text("loose\n")
    snapshot = await workspace.snapshot()
    assert head is not None
    assert snapshot is not None
    age_objects(workspace.mirror.path)
    assert await maintenance.needs_gc(workspace.mirror, loose_objects=1)
    await maintenance.run_gc(workspace.mirror)
    assert not await maintenance.needs_gc(workspace.mirror, loose_objects=1)
    assert has(workspace.mirror.path, head)
    assert has(workspace.mirror.path, snapshot.commit_sha)
    (workspace.tree / "more.txt").write_text("more\n")
    assert await workspace.commit(message(), author=ADA) is not None
    await git_setup.workspaces.remove(ORDER)
    git_setup.restart()
    again = await git_setup.open()
    assert (again.tree / "loose.txt").read_text() == "loose\n"
    assert git(again.mirror.path, "fsck", "--strict", "--no-dangling") == ""


async def test_only_what_nothing_refers_to_for_weeks_is_dropped(workspace: Workspace) -> None:
    (workspace.tree / "loose.txt").write_text("old\n")
    old = await workspace.snapshot()
    assert old is not None
    await maintenance.delete_refs(workspace.mirror, [old.ref])
    await maintenance.run_gc(workspace.mirror)
    assert has(workspace.mirror.path, old.commit_sha), "it may be under way somewhere"
    age_objects(workspace.mirror.path)
    (workspace.tree / "loose.txt").write_text("new\n")
    new = await workspace.snapshot()
    assert new is not None
    await maintenance.run_gc(workspace.mirror)
    assert not has(workspace.mirror.path, old.commit_sha)
    assert has(workspace.mirror.path, new.commit_sha)


async def test_a_ref_that_is_gone_stays_gone(workspace: Workspace) -> None:
    (workspace.tree / "loose.txt").write_text("loose\n")
    snapshot = await workspace.snapshot()
    assert snapshot is not None
    for _ in range(2):
        await maintenance.delete_refs(workspace.mirror, [snapshot.ref])
    assert await workspace.mirror.refs("refs/journeyman/snapshots/") == {}
    assert await workspace.mirror.branch_head(workspace.branch) is not None


async def test_a_branch_keeps_its_file_so_that_nobody_s_lock_is_taken_for_stale(workspace: Workspace) -> None:
    """Packing refs would lock files that a commit at the same moment removes as left behind."""
    await maintenance.run_gc(workspace.mirror)
    assert (workspace.mirror.path / "refs/heads" / workspace.branch).is_file()
