"""Where an order's branch begins when that is not the repository's own branch, and how it is set back."""

from journeyman.forges.base import Person
from journeyman.git.commits import CommitMessage, identity
from journeyman.git.mirror import Mirror
from journeyman.git.refs import ORDERS, checked_commit
from journeyman.git.run import git
from journeyman.work_orders.order import check_branch_name


async def create_branch(mirror: Mirror, order_id: str, branch: str, *, base: str, start: str) -> None:
    """Make an order's branch at a commit of another order; the base stays what statistics are against."""
    own, begun = f"refs/heads/{check_branch_name(branch)}", f"{ORDERS}{order_id}"
    made = f"create {own} {checked_commit(start)}\nupdate {begun} {checked_commit(base)}\n"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(own)
        mirror.drop_stale_lock(begun)
        await git("update-ref", "--stdin", git_dir=mirror.path, stdin=made.encode())


async def revert_to(
    mirror: Mirror, branch: str, head: str, start: str, message: CommitMessage, author: Person
) -> str:
    """A commit after the head that holds what an earlier one held; returns its name."""
    made = await git(
        "commit-tree", f"{checked_commit(start)}^{{tree}}", "-p", checked_commit(head),
        git_dir=mirror.path, stdin=message.text.encode(errors="replace"), env=identity(author),
    )  # fmt: skip
    commit_sha, ref = made.decode().strip(), f"refs/heads/{check_branch_name(branch)}"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(ref)
        await git("update-ref", ref, commit_sha, head, git_dir=mirror.path)
    return commit_sha
