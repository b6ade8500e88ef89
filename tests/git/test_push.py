"""A push brings one branch to one commit, or says why not; it never overwrites anything."""

import asyncio
from pathlib import Path

import pytest

from journeyman.errors import Conflict, NotAllowed
from journeyman.git.maintenance import delete_refs
from journeyman.git.push import BranchGone, BranchMoved
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, GitSetup, git, message, remote_of


async def commit(workspace: Workspace, content: str) -> str:
    (workspace.tree / "work.txt").write_text(content)
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    return commit_sha


def refs(source: Path) -> dict[str, str]:
    lines = git(source, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ", 1) for line in lines)


async def test_a_push_makes_the_branch_and_touches_no_other(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    before = refs(git_setup.source)
    await workspace.snapshot()
    head = await commit(workspace, "one\n")
    assert await workspace.push(remote_of(git_setup.source), expected_sha=None) == head
    assert refs(git_setup.source) == before | {f"refs/heads/{workspace.branch}": head}


async def test_a_push_that_was_done_already_is_done(git_setup: GitSetup, workspace: Workspace) -> None:
    head = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    assert await workspace.push(remote_of(git_setup.source), expected_sha=None) == head


async def test_a_later_push_goes_on_from_the_last(git_setup: GitSetup, workspace: Workspace) -> None:
    first = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    second = await commit(workspace, "two\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=first)
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == second


async def test_an_earlier_commit_of_the_branch_can_be_pushed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    first = await commit(workspace, "one\n")
    await commit(workspace, "two\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None, commit_sha=first)
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == first


@pytest.mark.parametrize("knows_own", [True, False])
async def test_a_commit_of_somebody_else_is_never_overwritten(
    git_setup: GitSetup, workspace: Workspace, knows_own: bool
) -> None:
    ours = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    git(git_setup.source, "checkout", "--quiet", workspace.branch)
    git(git_setup.source, "commit", "--quiet", "--allow-empty", "--message", "By a person")
    git(git_setup.source, "checkout", "--quiet", "main")
    theirs = git(git_setup.source, "rev-parse", workspace.branch)
    await commit(workspace, "two\n")
    with pytest.raises(Conflict) as raised:
        await workspace.push(remote_of(git_setup.source), expected_sha=ours if knows_own else None)
    assert theirs in raised.value.message
    assert (ours if knows_own else "no commit") in raised.value.message
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == theirs


async def test_a_remote_that_lost_our_commits_is_not_taken_for_ours(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    """The branch is where we expect it, but what we have is no descendant of it: git itself refuses."""
    await commit(workspace, "one\n")
    git(git_setup.source, "checkout", "--quiet", "-b", workspace.branch)
    git(git_setup.source, "commit", "--quiet", "--allow-empty", "--message", "Elsewhere")
    git(git_setup.source, "checkout", "--quiet", "main")
    there = refs(git_setup.source)[f"refs/heads/{workspace.branch}"]
    with pytest.raises(Conflict, match="was not pushed"):
        await workspace.push(remote_of(git_setup.source), expected_sha=there)
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == there


async def test_a_branch_that_is_checked_out_there_is_left_alone(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    first = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    git(git_setup.source, "config", "receive.denyCurrentBranch", "updateInstead")
    git(git_setup.source, "checkout", "--quiet", workspace.branch)
    await commit(workspace, "two\n")
    with pytest.raises(Conflict, match="checked out"):
        await workspace.push(remote_of(git_setup.source), expected_sha=first)
    assert (git_setup.source / "work.txt").read_text() == "one\n"


async def test_hooks_of_a_local_repository_do_not_run(
    git_setup: GitSetup, workspace: Workspace, tmp_path: Path
) -> None:
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        hook = git_setup.source / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'canary'}\n")
        hook.chmod(0o755)
    await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    assert not (tmp_path / "canary").exists()


async def test_two_pushes_at_once_end_in_one_branch(git_setup: GitSetup, workspace: Workspace) -> None:
    head = await commit(workspace, "one\n")
    pushes = (workspace.push(remote_of(git_setup.source), expected_sha=None) for _ in range(2))
    ends = await asyncio.gather(*pushes, return_exceptions=True)
    assert head in ends
    assert all(end == head or isinstance(end, Conflict | NotAllowed) for end in ends)
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == head


async def test_a_push_that_a_crash_made_us_forget_does_not_stand_in_the_way(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    second = await commit(workspace, "two\n")
    assert await workspace.push(remote_of(git_setup.source), expected_sha=None) == second
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == second


async def test_a_branch_that_people_deleted_is_not_made_again(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    first = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    git(git_setup.source, "branch", "--quiet", "-D", workspace.branch)
    await commit(workspace, "two\n")
    with pytest.raises(BranchGone, match=first):
        await workspace.push(remote_of(git_setup.source), expected_sha=first)
    assert f"refs/heads/{workspace.branch}" not in refs(git_setup.source)


async def test_a_first_push_never_takes_a_branch_back(git_setup: GitSetup, workspace: Workspace) -> None:
    """The remote's branch is ahead of what is pushed: not even our own commits are taken off it."""
    first = await commit(workspace, "one\n")
    second = await commit(workspace, "two\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    with pytest.raises(BranchMoved, match=second):
        await workspace.push(remote_of(git_setup.source), expected_sha=None, commit_sha=first)
    assert refs(git_setup.source)[f"refs/heads/{workspace.branch}"] == second


async def test_what_was_pushed_is_fetched_only_when_nothing_else_holds_it(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    head = await commit(workspace, "one\n")
    await workspace.push(remote_of(git_setup.source), expected_sha=None)
    mirror = await git_setup.refresh()
    assert mirror.resolve(workspace.branch) == head
    assert workspace.branch not in await mirror.remote_branches()
    await delete_refs(mirror, [f"refs/heads/{workspace.branch}"])
    await git_setup.refresh()
    assert (await mirror.remote_branches())[workspace.branch] == head
