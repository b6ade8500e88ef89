"""An order's branch that starts at a commit of another order, or goes back to an earlier one of its own."""

import asyncio

from journeyman.forges.base import Person
from journeyman.git.commits import CommitMessage
from journeyman.git.loose_objects import signatures_of, write_commit
from journeyman.git.mirror import Mirror
from journeyman.git.refs import ORDERS, checked_commit
from journeyman.git.run import git
from journeyman.work_orders.order import check_branch_name


async def create_branch(mirror: Mirror, order_id: str, branch: str, *, base: str, start: str) -> None:
    """Create an order's branch at a commit of another order. Statistics stay relative to the base."""
    own, recorded = f"refs/heads/{check_branch_name(branch)}", f"{ORDERS}{order_id}"
    commands = f"create {own} {checked_commit(start)}\nupdate {recorded} {checked_commit(base)}\n"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(own)
        mirror.drop_stale_lock(recorded)
        await git("update-ref", "--stdin", git_dir=mirror.path, stdin=commands.encode())


async def revert_to(
    mirror: Mirror, branch: str, head: str, start: str, message: CommitMessage, author: Person
) -> str:
    """Add a commit to the branch that has the files of an earlier one; returns its name."""
    commit_sha = await asyncio.to_thread(
        write_commit,
        mirror.path,
        tree=await mirror.tree_of(start),
        parents=[checked_commit(head)],
        signatures=signatures_of(author),
        message=message.text.encode(errors="replace"),
    )
    ref = f"refs/heads/{check_branch_name(branch)}"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(ref)
        await git("update-ref", ref, commit_sha, head, git_dir=mirror.path)
    return commit_sha
