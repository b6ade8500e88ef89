"""Rebase an order's own commits onto what people pushed to its branch.

Only objects in the mirror are used. No file is checked out for a merge, so no hook, filter or merge driver of
the repository can run, and until the branch is moved nothing has changed for anybody.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from journeyman.errors import Conflict
from journeyman.git.commits import JOURNEYMAN, one_line
from journeyman.git.faults import fault_of
from journeyman.git.loose_objects import signatures_of, write_commit
from journeyman.git.mirror import Mirror
from journeyman.git.push import is_ancestor
from journeyman.git.refs import REPLACED, SNAPSHOTS, checked_commit
from journeyman.git.run import git, run_git
from journeyman.git.workspace import Workspace

_MAX_COMMITS = 50
_MAX_PATHS = 20


@dataclass(frozen=True)
class ForeignCommit:
    commit_sha: str
    author: str
    message: str


@dataclass(frozen=True)
class Rebased:
    head: str
    """The head of the order's branch after the rebase."""
    theirs: str
    """The head of the remote's branch."""
    commits: tuple[ForeignCommit, ...]
    """The newest commits of people, oldest first."""
    count: int
    stashed: str | None = None
    """The order's side of a conflict, where it was left out of the branch."""


@dataclass(frozen=True)
class _Own:
    head: str
    commits: tuple[str, ...]
    """Commits that were not pushed yet, oldest first."""
    uncommitted: str | None
    """A commit of the uncommitted files, on no branch."""


class RebaseConflict(Conflict):
    """People and the order changed the same lines."""

    def __init__(self, paths: Sequence[str]) -> None:
        more = f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else ""
        super().__init__(
            f"commits that people pushed to the branch conflict with the order's own in "
            f"{', '.join(paths[:_MAX_PATHS])}{more}; both are kept, theirs on the remote",
            hint='Send the order a prompt such as "Resolve the conflict with what was pushed": the agent '
            "begins from what people pushed and works its own changes in again.",
        )
        self.paths = paths


async def rebase(
    workspace: Workspace, theirs: str, *, pushed_sha: str | None, stash_ref: str | None = None
) -> Rebased | None:
    """Rebase the order's unpushed commits and uncommitted files onto the head of the remote's branch.

    None when the branch has nothing new. When people have reset it to an earlier commit, what they dropped is
    dropped here as well. With `stash_ref`, a conflict is not raised: the order's side is kept at that ref and
    the branch becomes theirs. Safe to repeat because commits that the branch already contains are only
    reported again.
    """
    mirror, ours = workspace.mirror, await workspace.head()
    if theirs == pushed_sha:
        return None
    before = pushed_sha or workspace.base_commit_sha
    was_reset = pushed_sha is not None and await is_ancestor(mirror.path, theirs, pushed_sha)
    if not was_reset and await is_ancestor(mirror.path, theirs, ours):
        commits, count = await _foreign_to(workspace, theirs, before)
        aside = (await mirror.refs(stash_ref)).get(stash_ref) if stash_ref else None
        return Rebased(ours, theirs, commits, count, aside) if count else None
    if pushed_sha is None and await mirror.merge_base(ours, theirs) in (None, before):
        return None  # it has none of our commits: it is another author's branch
    async with workspace.locked():
        own = await _own(workspace, theirs, before)
        is_replaced = was_reset or own.commits
        kept = {f"{REPLACED}{workspace.order_id}/{own.head}": own.head} if is_replaced else {}
        try:
            head, uncommitted = await _replay_all(mirror, own, theirs)
        except RebaseConflict as conflict:
            if stash_ref is None:
                raise RebaseConflict(conflict.paths) from None
            head, uncommitted = theirs, None
            kept[stash_ref] = own.uncommitted or own.head
        commits, count = await _foreign_to(workspace, theirs, before)
        await _move(workspace, own.head, head, uncommitted, kept)
    return Rebased(head, theirs, commits, count, kept.get(stash_ref or ""))


async def has_foreign_commits(workspace: Workspace, since: str, head: str) -> bool:
    """Whether the head has commits since another one that the order did not make."""
    if not await is_ancestor(workspace.mirror.path, since, head):
        return True
    return bool((await _foreign_to(workspace, head, since))[1])


async def _own(workspace: Workspace, theirs: str, before: str) -> _Own:
    head, tree = await workspace.uncommitted_tree()
    listed = await git(
        "rev-list", "--reverse", "--topo-order", "--ignore-missing",
        head, f"^{theirs}", f"^{before}", f"^{workspace.base_commit_sha}", "--",
        git_dir=workspace.mirror.path,
    )  # fmt: skip
    text = f"Snapshot of {workspace.order_id}\n"
    uncommitted = None if tree is None else workspace.write_commit(tree, head, text, JOURNEYMAN)
    return _Own(head, tuple(listed.decode().split()), uncommitted)


async def _replay_all(mirror: Mirror, own: _Own, onto: str) -> tuple[str, str | None]:
    for commit in own.commits:
        onto = await _replay(mirror, commit, onto)
    if own.uncommitted is None:
        return onto, None
    uncommitted = await _replay(mirror, own.uncommitted, onto)
    return onto, None if uncommitted == onto else uncommitted


async def _replay(mirror: Mirror, commit: str, onto: str) -> str:
    """Cherry-pick a commit with its author, dates and message. Returns `onto` when it would be empty."""
    raw = await git("cat-file", "commit", checked_commit(commit), git_dir=mirror.path)
    head, _, message = raw.partition(b"\n\n")
    fields = [line.partition(b" ") for line in head.split(b"\n")]
    [parent] = [value.decode() for name, _, value in fields if name == b"parent"]
    before = (await git("rev-parse", f"{onto}^{{tree}}", git_dir=mirror.path)).decode().strip()
    # A cherry-pick is a three-way merge whose base is the parent of the picked commit. Before git 2.40
    # merge-tree takes no base, so "ours" is a commit that has that parent as its own parent.
    ours = write_commit(
        mirror.path, tree=before, parents=[parent], signatures=signatures_of(JOURNEYMAN), message=b""
    )
    answer = await run_git(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
        ours, commit,
        git_dir=mirror.path,
    )  # fmt: skip
    if answer.exit_code not in (0, 1):
        raise fault_of(answer.error, "merge-tree")
    tree, *paths = answer.output.decode(errors="backslashreplace").rstrip("\0").split("\0")
    if answer.exit_code == 1:
        raise RebaseConflict(list(dict.fromkeys(map(one_line, paths))))
    if tree == before:
        return onto
    kept = [
        b" ".join((name, value))
        for name, _, value in fields
        if name in (b"author", b"committer", b"encoding")
    ]
    return write_commit(mirror.path, tree=tree, parents=[onto], signatures=b"\n".join(kept), message=message)


async def foreign_commits(
    mirror: Mirror, order_id: str, head: str, *since: str
) -> tuple[tuple[ForeignCommit, ...], int]:
    """Commits of the head, but not of `since`, that the order did not make: the newest, and the count."""
    output = await git(
        "log", "-z", "--ignore-missing",
        "--format=%H%x1f%an%x1f%s%x1f%(trailers:key=Agent-Work-Order,valueonly,separator=%x2C)",
        head, *(f"^{one}" for one in since), "--",
        git_dir=mirror.path,
    )  # fmt: skip
    rows = (entry.split("\x1f") for entry in output.decode(errors="replace").split("\0") if entry)
    found = [ForeignCommit(row[0], one_line(row[1]), one_line(row[2])) for row in rows if row[-1] != order_id]
    return tuple(reversed(found[:_MAX_COMMITS])), len(found)


async def _foreign_to(workspace: Workspace, head: str, before: str) -> tuple[tuple[ForeignCommit, ...], int]:
    return await foreign_commits(
        workspace.mirror, workspace.order_id, head, before, workspace.base_commit_sha
    )


async def _move(
    workspace: Workspace, old: str, new: str, uncommitted: str | None, kept: dict[str, str]
) -> None:
    """Move the branch, then the files. Until both are done the workspace is not marked as ready."""
    mirror, branch = workspace.mirror, f"refs/heads/{workspace.branch}"
    kept = dict(kept)
    if uncommitted is not None:
        number, _ = await workspace.newest_snapshot()
        kept[f"{SNAPSHOTS}{workspace.order_id}/{number + 1}"] = uncommitted
    for ref in (branch, *kept):
        mirror.drop_stale_lock(ref)
    moves = [f"update {branch} {new} {old}\n", *(f"update {ref} {sha}\n" for ref, sha in kept.items())]
    workspace.ready.unlink(missing_ok=True)
    await git("update-ref", "--stdin", git_dir=mirror.path, stdin="".join(moves).encode())
    await workspace.move_to(new, uncommitted)
    workspace.ready.touch()
