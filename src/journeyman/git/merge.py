"""Merge a branch into another inside a repository of this machine, as its owner's button asks for.

Nothing is checked out for it: the merged tree is made from the objects, and the base moves only if nobody
moved it meanwhile. Where the base is checked out, its files follow, unless that would lose somebody's work.
"""

from pathlib import Path

from journeyman.errors import Conflict, NotFound
from journeyman.forges.base import Person
from journeyman.git.commits import identity
from journeyman.git.faults import fault_of, last_line
from journeyman.git.run import git, run
from journeyman.work_orders.order import check_branch_name

_MERGE_CONFLICT = 1
_SHOWN_PATHS = 5


class MergeConflict(Conflict):
    """Both sides changed the same lines: only a person, or other work, can tell what is meant."""


async def merge(repository: Path, *, base: str, branch: str, message: str, author: Person) -> str:
    """The commit that the base is at afterwards. Safe to repeat: a branch that is merged already stays so."""
    git_dir = git_dir_of(repository)
    ours, theirs = await _head(git_dir, base), await _head(git_dir, branch)
    if (await run("merge-base", "--is-ancestor", theirs, ours, git_dir=git_dir)).exit_code == 0:
        return ours
    tree = await _merged_tree(git_dir, ours, theirs, branch=branch, base=base)
    made = await git(
        "commit-tree", "-p", ours, "-p", theirs, "-m", message, tree, git_dir=git_dir, env=identity(author)
    )
    merged = made.decode().strip()
    work_tree = await _checked_out_at(git_dir, base)
    if work_tree is not None:
        await _bring_files(work_tree, ours, merged)
    moved = await run("update-ref", f"refs/heads/{base}", merged, ours, git_dir=git_dir)
    if moved.exit_code != 0:
        if work_tree is not None:
            await _bring_files(work_tree, merged, ours)
        raise Conflict(f"{base} moved while it was merged into", hint="Try again: nothing was changed.")
    return merged


def git_dir_of(repository: Path) -> Path:
    """Where git keeps the repository that lies in a directory, with or without checked out files."""
    inside = repository / ".git"
    return inside if inside.exists() else repository


async def _head(git_dir: Path, branch: str) -> str:
    ref = f"refs/heads/{check_branch_name(branch)}^{{commit}}"
    answer = await run("rev-parse", "--verify", "--quiet", ref, git_dir=git_dir)
    if answer.exit_code != 0:
        raise NotFound(f"the repository has no branch {branch}", hint="It may have been deleted or renamed.")
    return answer.output.decode().strip()


async def _merged_tree(git_dir: Path, ours: str, theirs: str, *, branch: str, base: str) -> str:
    answer = await run(
        "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs, git_dir=git_dir
    )
    tree, *paths = answer.output.decode(errors="replace").rstrip("\0").split("\0")
    if answer.exit_code == _MERGE_CONFLICT:
        shown = ", ".join(sorted(set(paths))[:_SHOWN_PATHS])
        raise MergeConflict(
            f"{branch} does not merge into {base} by itself: both changed {shown}",
            hint=f"Merge {base} into the branch by hand, resolving it there, or start a new order on {base}.",
        )
    if answer.exit_code != 0:
        raise fault_of(answer.error, "merge-tree")
    return tree


async def _checked_out_at(git_dir: Path, branch: str) -> Path | None:
    listed = await git("worktree", "list", "--porcelain", "-z", git_dir=git_dir)
    for entry in listed.decode(errors="surrogateescape").split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
        if facts.get("branch") == f"refs/heads/{branch}":
            return Path(facts["worktree"])
    return None


async def _bring_files(work_tree: Path, before: str, after: str) -> None:
    """Files and index from one commit to another; a file that somebody changed is in the way, and stays."""
    git_dir = git_dir_of(work_tree)
    # Whoever has only been touched counts as unchanged; what has changed is told by the next call.
    await run("update-index", "-q", "--refresh", git_dir=git_dir, work_tree=work_tree)
    answer = await run("read-tree", "-m", "-u", before, after, git_dir=git_dir, work_tree=work_tree)
    if answer.exit_code != 0:
        raise Conflict(
            f"{work_tree} has changes of its own that are in the way: {last_line(answer.error)}",
            hint="Commit or stash them there, then merge again.",
        )
