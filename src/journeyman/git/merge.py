"""Merge a branch into another inside a local repository, for the merge button of its pull request.

Nothing is checked out for the merge: the tree is made from objects, and the base moves only if nobody moved
it meanwhile. Where the base is checked out, its files are updated, unless that would overwrite somebody's
changes or need a filter, which is a command of the repository: then the error says what to run instead.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from journeyman.errors import Conflict, NotFound
from journeyman.forges.base import Person
from journeyman.forges.local_directory import StandIn, checked_out_at, stand_in
from journeyman.git.faults import fault_of, last_line
from journeyman.git.loose_objects import signatures_of, write_commit
from journeyman.git.run import GitOptions, git, run_git
from journeyman.work_orders.order import check_branch_name

_MERGE_CONFLICT = 1
_SHOWN_PATHS = 5
_FILES_SECONDS = 60.0


class MergeConflict(Conflict):
    """Both sides changed the same lines; a person, or a new order, has to resolve it."""


async def merge(repository: Path, *, base: str, branch: str, message: str, author: Person) -> str:
    """The commit that the base is at afterwards. Safe to repeat: a branch that is merged already stays so."""
    async with stand_in(repository) as shown:
        git_dir = shown.path
        ours, theirs = await _head(git_dir, base), await _head(git_dir, branch)
        if (await run_git("merge-base", "--is-ancestor", theirs, ours, git_dir=git_dir)).exit_code == 0:
            return ours
        tree = await _merged_tree(git_dir, ours, theirs, branch=branch, base=base)
        merged = await _write_merge(git_dir, tree, [ours, theirs], message, author)
        files = _Files.of(shown, base, branch)
        if files is not None:
            await files.check(ours, merged)
            await files.update(ours, merged)
        moved = await run_git("update-ref", f"refs/heads/{base}", merged, ours, git_dir=git_dir)
        if moved.exit_code != 0:
            if files is not None:
                await files.update(merged, ours)
            raise Conflict(f"{base} moved while it was merged into", hint="Try again: nothing was changed.")
        return merged


@dataclass(frozen=True)
class _Files:
    """The checked out files of the base, and the index that knows them."""

    git_dir: Path
    work_tree: Path
    index: Path
    by_hand: str
    """The command that does the same, with filters."""
    is_sparse: bool

    @classmethod
    def of(cls, shown: StandIn, base: str, branch: str) -> "_Files | None":
        found = checked_out_at(shown, base)
        if found is None:
            return None
        return cls(
            git_dir=shown.path,
            work_tree=found.path,
            index=found.git_dir / "index",
            by_hand=f"Run `git -C {found.path} merge --no-ff {branch}` there, and it is merged here as well.",
            is_sparse=shown.settings.get("core.sparsecheckout", "false") != "false",
        )

    async def check(self, before: str, after: str) -> None:
        """Raise Conflict where updating the files needs a command of the repository."""
        if self.is_sparse:
            raise Conflict(f"{self.work_tree} is a sparse checkout", hint=self.by_hand)
        changed = await git(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after, "--", git_dir=self.git_dir
        )
        for place in (before, after):  # attributes of both sides: the merge may add or remove one
            index = self.git_dir / f"index-{place}"
            env = {"GIT_INDEX_FILE": str(index)}
            await git("read-tree", place, git_dir=self.git_dir, env=env)
            attributes = await git(
                "check-attr", "--cached", "-z", "--stdin", "filter",
                git_dir=self.git_dir, work_tree=self.git_dir, env=env, stdin=changed,
            )  # fmt: skip
            fields = attributes.split(b"\0")
            filtered = [
                (path, value)
                for path, value in zip(fields[::3], fields[2::3], strict=False)
                if value not in (b"unspecified", b"unset")
            ]
            if filtered:
                path, value = (part.decode(errors="backslashreplace") for part in filtered[0])
                raise Conflict(
                    f"{path} goes through the filter {value!r} of {self.work_tree}, which is not run here",
                    hint=self.by_hand,
                )

    async def update(self, before: str, after: str) -> None:
        """Update files and index from one commit to another; Conflict where a file was changed."""
        how: GitOptions = {
            "git_dir": self.git_dir,
            "work_tree": self.work_tree,
            "env": {"GIT_INDEX_FILE": str(self.index)},
            "timeout": _FILES_SECONDS,
        }
        # So that a file with only a new timestamp counts as unchanged; real changes fail the next call.
        await run_git("update-index", "-q", "--refresh", **how)
        answer = await run_git("read-tree", "-m", "-u", before, after, **how)
        if answer.exit_code != 0:
            raise Conflict(
                f"{self.work_tree} has changes of its own that are in the way: {last_line(answer.error)}",
                hint="Commit or stash them there, then merge again.",
            )


async def _write_merge(git_dir: Path, tree: str, parents: Sequence[str], message: str, author: Person) -> str:
    text = f"{message.rstrip()}\n".encode(errors="replace")
    try:
        return await asyncio.to_thread(
            write_commit,
            git_dir,
            tree=tree,
            parents=parents,
            signatures=signatures_of(author),
            message=text,
        )
    except OSError as error:
        raise fault_of(f"error: cannot write {error.filename}: {error.strerror}", "merge") from error


async def _head(git_dir: Path, branch: str) -> str:
    ref = f"refs/heads/{check_branch_name(branch)}^{{commit}}"
    answer = await run_git("rev-parse", "--verify", "--quiet", ref, git_dir=git_dir)
    if answer.exit_code != 0:
        raise NotFound(f"the repository has no branch {branch}", hint="It may have been deleted or renamed.")
    return answer.output.decode().strip()


async def _merged_tree(git_dir: Path, ours: str, theirs: str, *, branch: str, base: str) -> str:
    answer = await run_git(
        "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs, git_dir=git_dir
    )
    tree, *paths = answer.output.decode(errors="replace").rstrip("\0").split("\0")
    if answer.exit_code == _MERGE_CONFLICT:
        shown = ", ".join(sorted(set(paths))[:_SHOWN_PATHS])
        raise MergeConflict(
            f"{branch} does not merge into {base} by itself: both changed {shown}",
            hint=f"Merge {base} into the branch by hand and resolve it, or start a new order on {base}.",
        )
    if answer.exit_code != 0:
        raise fault_of(answer.error, "merge-tree")
    return tree
