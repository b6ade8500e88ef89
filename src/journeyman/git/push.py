"""Push one commit to one branch, never by force.

The first push can only create the branch; every other reads the remote's branch first. So a push whose answer
was lost is found to be done, and a commit of somebody else is never overwritten.
"""

from pathlib import Path

from journeyman.errors import Conflict, JourneymanError, NotAllowed
from journeyman.failpoints import failpoint
from journeyman.forges.base import Remote
from journeyman.git.faults import fault_of, last_line
from journeyman.git.remote_access import resolved_remote
from journeyman.git.run import RECEIVE_PACK, UPLOAD_PACK, git, run_git
from journeyman.work_orders.order import check_branch_name


class BranchMoved(Conflict):
    """Somebody else pushed to the branch; nothing of theirs was touched."""


class BranchGone(Conflict):
    """Somebody deleted the branch after we had pushed it."""


async def push(
    git_dir: Path, remote: Remote, *, branch: str, commit_sha: str, expected_sha: str | None
) -> str:
    """Bring the remote's branch to a commit. `expected_sha` is what we last pushed, as far as we know.

    A crash may have come between a push and its record, so a commit between the expected one and ours is
    accepted as well. A branch that people deleted is not created again, and one that they reset to an earlier
    commit is not moved forward again.
    """
    async with resolved_remote(remote) as target:
        return await _push(git_dir, target.remote, branch, commit_sha, expected_sha)


async def _push(git_dir: Path, remote: Remote, branch: str, commit_sha: str, expected_sha: str | None) -> str:
    refusal = None
    if expected_sha is None:
        refusal = await _send(git_dir, remote, branch, commit_sha, is_new=True)
        if refusal is None:
            return commit_sha
        if refusal.retryable:
            raise refusal
    there = await read_remote_head(git_dir, remote, branch)
    if there == commit_sha:
        return commit_sha
    if there is None:
        raise refusal or branch_deleted(branch, expected_sha or "")
    if there != expected_sha:
        was_reset = expected_sha is not None and await is_ancestor(git_dir, there, expected_sha)
        if was_reset or not await is_ancestor(git_dir, there, commit_sha):
            raise _moved(branch, there, expected_sha) from refusal
    refusal = await _send(git_dir, remote, branch, commit_sha, is_new=False)
    if refusal is not None:
        now = None if refusal.retryable else await read_remote_head(git_dir, remote, branch)
        # HTTP may have repeated the request after a cut connection: refused, because it was done already.
        if now != commit_sha:
            raise refusal if now in (None, there) else _moved(branch, now, expected_sha) from refusal
    return commit_sha


async def _send(
    git_dir: Path, remote: Remote, branch: str, commit_sha: str, *, is_new: bool
) -> JourneymanError | None:
    """Push; returns the refusal, if any. With `is_new` any existing branch, even one behind ours, refuses it.

    The option for that is a force-with-lease that expects no branch, so there is nothing that force could
    overwrite. A lease on a commit, which would let git rewrite the branch, is never used.
    """
    ref = f"refs/heads/{check_branch_name(branch)}"
    failpoint("push_sent")
    answer = await run_git(
        "push", "--porcelain", "--no-verify", *([f"--force-with-lease={ref}:"] if is_new else []),
        RECEIVE_PACK, "--", remote.url, f"{commit_sha}:{ref}",
        git_dir=git_dir, remote=remote,
    )  # fmt: skip
    if answer.exit_code != 0:
        return _refusal(answer.output.decode(errors="replace"), answer.error, branch)
    failpoint("push_acknowledged")
    return None


def branch_deleted(branch: str, last_sha: str) -> BranchGone:
    return BranchGone(
        f"branch {branch} was deleted on the remote, where {last_sha} was pushed; it is not made again",
        hint="Restore the branch at that commit and retry the order, or start a new one.",
    )


def _moved(branch: str, there: str | None, expected_sha: str | None) -> BranchMoved:
    return BranchMoved(
        f"branch {branch} is at {there} on the remote, where {expected_sha or 'no commit'} was expected",
        hint="Somebody else pushed to it. Start an order with another branch.",
    )


async def is_ancestor(git_dir: Path, there: str | None, commit_sha: str) -> bool:
    """Whether a commit is in the mirror and an ancestor of ours, so that a fast-forward loses nothing."""
    if there is None:
        return False
    return (await run_git("merge-base", "--is-ancestor", there, commit_sha, git_dir=git_dir)).exit_code == 0


async def read_remote_head(git_dir: Path, remote: Remote, branch: str) -> str | None:
    """The commit that the remote's branch is at."""
    ref = f"refs/heads/{check_branch_name(branch)}"
    output = await git(
        "ls-remote", "--heads", UPLOAD_PACK, "--", remote.url, ref, git_dir=git_dir, remote=remote
    )
    lines = (line.partition("\t") for line in output.decode(errors="replace").split("\n"))
    return next((sha for sha, _, name in lines if name == ref), None)


def _refusal(output: str, error: str, branch: str) -> JourneymanError:
    reason = next((line.split("\t", 2)[2] for line in output.splitlines() if line.startswith("!\t")), "")
    if not reason:
        return fault_of(error, "push")
    if "[remote rejected]" not in reason or "cannot lock ref" in reason or "checked out" in reason:
        return Conflict(
            f"branch {branch} was not pushed: {reason}",
            hint="It moved, is checked out there, or conflicts with another branch name; look at the remote.",
        )
    return NotAllowed(
        f"the remote does not take branch {branch}: {reason} {last_line(error)}",
        hint="Look at the remote's branch rules and at what the token may do.",
    )
