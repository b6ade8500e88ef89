"""What people push to an order's branch is taken in: nothing of theirs or ours is lost, and nothing runs."""

from pathlib import Path

import pytest

from journeyman.git.push import BranchGone, BranchMoved
from journeyman.git.rebase import RebaseConflict, Rebased, has_foreign_commits, rebase
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, message, remote_of, status, tracked

STASH = f"refs/journeyman/set-aside/{ORDER}/2"


async def commit(workspace: Workspace, **files: str) -> str:
    for name, content in files.items():
        (workspace.tree / f"{name}.txt").write_text(content)
    commit_sha = await workspace.commit(message(f"Write {', '.join(files)}"), author=ADA)
    assert commit_sha is not None
    return commit_sha


def push_as_a_person(source: Path, branch: str, **files: str) -> str:
    git(source, "checkout", "--quiet", branch)
    for name, content in files.items():
        (source / f"{name}.txt").write_text(content)
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "By a person")
    git(source, "checkout", "--quiet", "main")
    return git(source, "rev-parse", branch)


async def taken(git_setup: GitSetup, workspace: Workspace, pushed: str | None, **more: str) -> Rebased | None:
    theirs = await workspace.mirror.fetch_branch(remote_of(git_setup.source), workspace.branch)
    assert theirs is not None
    return await rebase(workspace, theirs, pushed_sha=pushed, **more)


@pytest.fixture
async def pushed(git_setup: GitSetup, workspace: Workspace) -> str:
    """One commit of the order, on the remote."""
    first = await commit(workspace, work="one\ntwo\nthree\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    return first


async def test_our_unpushed_commits_are_put_on_top_of_theirs(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    second = await commit(workspace, more="more\n")
    theirs = push_as_a_person(git_setup.source, workspace.branch, person="by hand\n")
    result = await taken(git_setup, workspace, pushed)
    assert result is not None
    head = await workspace.head()
    assert (result.head, result.theirs, result.stashed) == (head, theirs, None)
    assert [(one.commit_sha, one.author, one.message) for one in result.commits] == [
        (theirs, "Test", "By a person")
    ]
    mirror = workspace.mirror.path
    assert git(mirror, "rev-parse", f"{head}^") == theirs
    whole = "%an %ae %ad %cn %B"
    assert git(mirror, "log", "-1", f"--format={whole}", head) == git(
        mirror, "log", "-1", f"--format={whole}", second
    )
    assert (workspace.tree / "person.txt").read_text() == "by hand\n"
    assert (workspace.tree / "more.txt").read_text() == "more\n"
    assert status(workspace) == ""
    assert git(mirror, "rev-parse", f"refs/journeyman/replaced/{ORDER}/{second}") == second
    assert await workspace.push(remote_of(git_setup.source), expected_sha=theirs) == head


async def test_without_commits_of_our_own_the_branch_becomes_theirs(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    theirs = push_as_a_person(git_setup.source, workspace.branch, person="by hand\n")
    result = await taken(git_setup, workspace, pushed)
    assert result is not None
    assert await workspace.head() == result.head == theirs
    assert await taken(git_setup, workspace, theirs) is None


async def test_what_is_not_committed_comes_along_and_stays_uncommitted(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    (workspace.tree / "work.txt").write_text("one\ntwo\nTHREE\n")
    (workspace.tree / "new.txt").write_text("new\n")
    theirs = push_as_a_person(git_setup.source, workspace.branch, work="ONE\ntwo\nthree\n")
    await taken(git_setup, workspace, pushed)
    assert await workspace.head() == theirs
    assert (workspace.tree / "work.txt").read_text() == "ONE\ntwo\nTHREE\n"
    assert sorted(status(workspace).splitlines()) == [" M work.txt", "?? new.txt"]
    await git_setup.workspaces.remove(ORDER)
    again = await git_setup.open()
    assert (again.tree / "work.txt").read_text() == "ONE\ntwo\nTHREE\n"
    assert (again.tree / "new.txt").read_text() == "new\n"


async def test_a_branch_that_people_reset_to_an_earlier_commit_stays_there(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    dropped = await commit(workspace, dropped="dropped\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=pushed)
    own = await commit(workspace, own="not pushed yet\n")
    git(git_setup.source, "update-ref", f"refs/heads/{workspace.branch}", pushed)
    with pytest.raises(BranchMoved):
        await workspace.push(remote_of(git_setup.source), expected_sha=dropped)
    result = await taken(git_setup, workspace, dropped)
    assert result is not None
    assert (result.theirs, result.count) == (pushed, 0)
    head = await workspace.head()
    assert git(workspace.mirror.path, "rev-parse", f"{head}^") == pushed
    assert tracked(workspace.mirror, head) == ["own.txt", "readme.md", "src/app.py", "work.txt"]
    assert not (workspace.tree / "dropped.txt").exists()
    assert git(workspace.mirror.path, "rev-parse", f"refs/journeyman/replaced/{ORDER}/{own}") == own
    assert await taken(git_setup, workspace, dropped) == result, "a crash before it was recorded"
    assert await workspace.push(remote_of(git_setup.source), expected_sha=pushed) == head


async def test_a_conflict_changes_nothing_and_names_the_files(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    ours = await commit(workspace, work="one\nours\nthree\n", fine="fine\n")
    (workspace.tree / "loose.txt").write_text("loose\n")
    theirs = push_as_a_person(git_setup.source, workspace.branch, work="one\ntheirs\nthree\n")
    with pytest.raises(RebaseConflict) as raised:
        await taken(git_setup, workspace, pushed)
    assert raised.value.paths == ["work.txt"]
    assert "work.txt" in raised.value.message
    assert "prompt" in raised.value.hint
    assert raised.value.category == "conflict"
    assert await workspace.head() == ours
    assert (workspace.tree / "work.txt").read_text() == "one\nours\nthree\n"
    assert (workspace.tree / "loose.txt").read_text() == "loose\n"
    assert git(git_setup.source, "rev-parse", workspace.branch) == theirs


async def test_a_conflict_can_be_restarted_from_their_side_with_ours_kept(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    await commit(workspace, work="one\nours\nthree\n")
    (workspace.tree / "loose.txt").write_text("loose\n")
    theirs = push_as_a_person(git_setup.source, workspace.branch, work="one\ntheirs\nthree\n")
    result = await taken(git_setup, workspace, pushed, stash_ref=STASH)
    assert result is not None
    assert await workspace.head() == theirs
    assert (workspace.tree / "work.txt").read_text() == "one\ntheirs\nthree\n"
    assert status(workspace) == ""
    assert result.stashed == git(workspace.mirror.path, "rev-parse", STASH)
    assert await workspace.mirror.file_at(result.stashed, "work.txt") == b"one\nours\nthree\n"
    assert await workspace.mirror.file_at(result.stashed, "loose.txt") == b"loose\n"
    told_again = await taken(git_setup, workspace, pushed, stash_ref=STASH)
    assert told_again == result, "a crash before it was written down loses nothing"


async def test_what_people_did_as_well_is_not_done_twice(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    await commit(workspace, more="the same\n")
    last = await commit(workspace, most="only ours\n")
    theirs = push_as_a_person(git_setup.source, workspace.branch, more="the same\n")
    result = await taken(git_setup, workspace, pushed)
    assert result is not None
    assert git(workspace.mirror.path, "rev-parse", f"{result.head}^") == theirs
    assert tracked(workspace.mirror, result.head) == tracked(workspace.mirror, last)


async def test_commits_that_a_person_took_out_of_the_branch_do_not_come_back(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    await commit(workspace, more="more\n")
    git(git_setup.source, "branch", "--force", workspace.branch, "main")
    theirs = push_as_a_person(git_setup.source, workspace.branch, person="instead\n")
    result = await taken(git_setup, workspace, pushed)
    assert result is not None
    assert git(workspace.mirror.path, "rev-parse", f"{result.head}^") == theirs
    assert tracked(workspace.mirror, result.head) == ["more.txt", "person.txt", "readme.md", "src/app.py"]


async def test_a_push_that_a_crash_made_us_forget_is_recognised(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    second = await commit(workspace, more="more\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=pushed)
    theirs = push_as_a_person(git_setup.source, workspace.branch, person="by hand\n")
    result = await taken(git_setup, workspace, None)
    assert result is not None
    assert (result.head, [one.commit_sha for one in result.commits]) == (theirs, [theirs])
    assert await has_foreign_commits(workspace, second, result.head)


async def test_a_branch_that_never_was_ours_is_left_to_its_owner(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    ours = await commit(workspace, work="one\n")
    git(git_setup.source, "branch", workspace.branch, "main")
    push_as_a_person(git_setup.source, workspace.branch, person="mine\n")
    assert await taken(git_setup, workspace, None) is None
    assert await workspace.head() == ours
    with pytest.raises(BranchMoved):
        await workspace.push(remote_of(git_setup.source), expected_sha=None)


async def test_a_crash_between_branch_and_files_never_undoes_what_people_did(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    """The branch has moved and the files have not: taken as they are they would revert the person."""
    theirs = push_as_a_person(git_setup.source, workspace.branch, person="by hand\n")
    await workspace.mirror.fetch_branch(remote_of(git_setup.source), workspace.branch)
    workspace.ready.unlink()
    git(workspace.mirror.path, "update-ref", f"refs/heads/{workspace.branch}", theirs)
    git_setup.restart()
    again = await git_setup.open()
    assert (again.tree / "person.txt").read_text() == "by hand\n"
    assert not await again.has_changes()


async def test_only_what_others_made_is_foreign(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    second = await commit(workspace, more="more\n")
    assert not await has_foreign_commits(workspace, pushed, second)
    assert await has_foreign_commits(workspace, second, pushed), "it does not even lead there"


async def test_nothing_of_the_repository_runs_while_it_is_merged(
    git_setup: GitSetup, workspace: Workspace, pushed: str, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    (workspace.tree / ".gitattributes").write_text("* merge=evil filter=evil diff=evil\n")
    hostile = f'[merge "evil"]\n\tdriver = touch {canary}\n[filter "evil"]\n\tsmudge = touch {canary}\n'
    (workspace.tree / ".gitconfig").write_text(hostile)
    hook = workspace.tree / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    await commit(workspace, work="one\ntwo\nTHREE\n")
    push_as_a_person(git_setup.source, workspace.branch, work="ONE\ntwo\nthree\n")
    assert await taken(git_setup, workspace, pushed) is not None
    assert (workspace.tree / "work.txt").read_text() == "ONE\ntwo\nTHREE\n"
    assert not canary.exists()


async def test_a_branch_that_people_deleted_is_not_made_again(
    git_setup: GitSetup, workspace: Workspace, pushed: str
) -> None:
    await commit(workspace, more="more\n")
    git(git_setup.source, "branch", "-D", workspace.branch)
    assert await workspace.mirror.fetch_branch(remote_of(git_setup.source), workspace.branch) is None
    with pytest.raises(BranchGone, match="not made again"):
        await workspace.push(remote_of(git_setup.source), expected_sha=pushed)
    assert git(git_setup.source, "branch", "--list", workspace.branch) == ""
