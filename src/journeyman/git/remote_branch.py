"""The remote's branch of an idle order.

Only a round moves the order's own branch and rebases it (`rebase.py`). Until then the last head that was
found on the remote is kept in a ref of its own, for those who read the order.
"""

from dataclasses import dataclass

from journeyman.forges.base import Remote
from journeyman.git.mirror import Mirror
from journeyman.git.progress import Progress
from journeyman.git.push import is_ancestor
from journeyman.git.rebase import ForeignCommit, foreign_commits
from journeyman.git.refs import FOUND
from journeyman.git.run import git


@dataclass(frozen=True)
class RemoteBranch:
    head: str
    is_own: bool
    """Whether the head is what the order pushed, or a later commit of its own branch."""
    commits: tuple[ForeignCommit, ...]
    """The newest commits of people, oldest first."""
    count: int
    progress: Progress
    """Includes people's commits where those contain all of the order's, else only the order's own."""


async def newest_head(mirror: Mirror, order_id: str, branch: str) -> str | None:
    """The head to show for an order: people's where it contains all of the order's commits, else its own."""
    own, ref = await mirror.branch_head(branch), f"{FOUND}{order_id}"
    theirs = (await mirror.refs(ref)).get(ref) if own is not None else None
    return theirs if theirs is not None and await is_ancestor(mirror.path, own, theirs) else own


async def compare_remote_branch(
    mirror: Mirror, remote: Remote, order_id: str, branch: str, *, there: str, base: str, pushed: str
) -> RemoteBranch | None:
    """What is on the remote's branch, which is at `there`, beside the order's own; None when either is gone.

    Safe to repeat because nothing moves but the ref of what was found, which is fetched once.
    """
    ref, own = f"{FOUND}{order_id}", await mirror.branch_head(branch)
    kept = (await mirror.refs(ref)).get(ref)
    head = kept if kept == there else await mirror.fetch_branch(remote, branch)
    if head is None or own is None:
        return None
    commits, count = await foreign_commits(mirror, order_id, head, pushed, own, base)
    is_built_on_own = await is_ancestor(mirror.path, own, head)
    progress = await mirror.progress(order_id, branch, base, head=head if is_built_on_own else own)
    if head != kept:  # after the counting: what cannot be counted is not shown either
        async with mirror.lock.hold():
            mirror.drop_stale_lock(ref)
            await git("update-ref", ref, head, git_dir=mirror.path)
    is_own = await is_ancestor(mirror.path, pushed, head) and await is_ancestor(mirror.path, head, own)
    return RemoteBranch(head, is_own, commits, count, progress)
