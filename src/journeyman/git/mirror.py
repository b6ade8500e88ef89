"""Our own bare copy of each repository: what orders start from, and where everything they make is kept.

The remote's branches are `refs/remotes/origin/*`, the orders' are `refs/heads/*`, snapshots of
uncommitted work are `refs/journeyman/snapshots/*`. What a ref holds is never collected as garbage.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.errors import Conflict, InvalidRepository
from journeyman.forges.base import Remote
from journeyman.git.checkout_check import CheckoutCheck
from journeyman.git.commits import JOURNEYMAN, identity
from journeyman.git.faults import fault_of
from journeyman.git.fetch import fetch
from journeyman.git.locks import FileLock
from journeyman.git.progress import (
    LOG_FORMAT,
    LoggedCommit,
    PhaseMark,
    Progress,
    parse_log,
    parse_log_with_counts,
    parse_numstat,
    progress_of,
)
from journeyman.git.push import read_remote_head
from journeyman.git.refs import NOTES, REMOTE_BRANCHES, checked_commit, drop_stale_lock, is_commit
from journeyman.git.remote_access import resolved_remote
from journeyman.git.run import git, run_git
from journeyman.work_orders.order import check_branch_name

_DIFF_BYTES = 2_000_000
_COUNTED = ("--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
_LOG = ("-z", "--reverse", "--topo-order", f"--format={LOG_FORMAT}")
_MAX_COMMITS = 1000


@dataclass
class MirrorCache:
    """Facts about a mirror that need not be asked from git again."""

    checked: dict[tuple[str, int, int], CheckoutCheck] = field(default_factory=dict)
    """Commits that were found fit to be checked out, with the limits that they were held against."""
    branches: dict[str, str] | None = None
    """The remote's branches, at commits that the mirror holds; None until they were compared."""
    trees: dict[str, str] = field(default_factory=dict)
    """The trees of commits."""
    parents: dict[str, str] = field(default_factory=dict)
    """The parents of commits that were made here."""

    def add(self, commit: str, tree: str, parent: str | None = None) -> None:
        if len(self.trees) >= _MAX_COMMITS:
            self.trees.clear()
            self.parents.clear()
        self.trees[commit] = tree
        if parent is not None:
            self.parents[commit] = parent


@dataclass(frozen=True)
class Mirror:
    path: Path
    lock: FileLock
    cache: MirrorCache = field(default_factory=MirrorCache, compare=False, repr=False)

    async def branch_head(self, branch: str) -> str | None:
        """The commit that an order's branch is at. Its file is read first: that costs no process."""
        ref = f"refs/heads/{check_branch_name(branch)}"
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return checked_commit((self.path / ref).read_text().strip())
        return (await self.refs(ref)).get(ref)

    async def resolve_own(self, branch: str) -> str:
        """The commit that an order's branch is at."""
        head = await self.branch_head(branch)
        if head is None:
            raise Conflict(
                f"branch {branch} is not in the mirror",
                hint="Open the order's workspace; that makes it again.",
            )
        return head

    async def check_checkout(self, commit: str, *, max_files: int, max_bytes: int) -> CheckoutCheck:
        """Refuse what cannot be checked out or worked on, before a single file is written."""
        if (known := self.cache.checked.get((commit, max_files, max_bytes))) is not None:
            return known
        check = CheckoutCheck(max_files=max_files, max_bytes=max_bytes, git_dir=self.path)
        await git(
            "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", checked_commit(commit),
            git_dir=self.path, each=check.take,
        )  # fmt: skip
        if check.attributes:
            blobs = "\n".join(check.attributes).encode()
            check.take_attributes(await git("cat-file", "--batch", git_dir=self.path, stdin=blobs))
        self.cache.checked[commit, max_files, max_bytes] = check
        return check

    async def diff(
        self,
        base: str,
        head: str,
        *,
        limit: int = _DIFF_BYTES,
        context_lines: int = 3,
        paths: Sequence[str] = (),
    ) -> str:
        """A unified diff of two commits, of all files or of these; `head` may be an order's branch. Cut, and
        says so, when long."""
        answer = await run_git(
            "diff-tree", "-p", "-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv",
            f"--unified={context_lines}", checked_commit(base), _revision(head),
            "--", *paths,
            git_dir=self.path, limit=limit,
        )  # fmt: skip
        if answer.exit_code != 0:
            raise fault_of(answer.error, "diff-tree")
        text = answer.output.decode(errors="replace")
        return f"{text}\n[cut after {limit:,} bytes]\n" if answer.truncated else text

    async def progress(
        self,
        order_id: str,
        branch: str,
        base: str,
        marks: Sequence[PhaseMark] = (),
        *,
        head: str | None = None,
    ) -> Progress:
        """What an order's branch, or another head of it, holds beyond its base; nothing yet when there is no
        branch."""
        head = head or await self.branch_head(branch)
        if head is None:
            return progress_of(order_id, [], parse_numstat(b""), marks)
        if self.cache.parents.get(head) == base:  # a single commit: git logs and counts it in one go
            both = await git("log", *_LOG, *_COUNTED, f"{base}..{head}", "--", git_dir=self.path)
            return progress_of(order_id, *parse_log_with_counts(both), marks)
        commits, changed = await asyncio.gather(
            self.commits(base, head),
            git("diff-tree", "-r", "-z", *_COUNTED, checked_commit(base), head, "--", git_dir=self.path),
        )
        return progress_of(order_id, commits, parse_numstat(changed), marks)

    async def commits(self, base: str, head: str) -> list[LoggedCommit]:
        """The commits after base, oldest first."""
        return parse_log(
            await git(
                "log", *_LOG, f"{checked_commit(base)}..{_revision(head)}", "--", git_dir=self.path
            )
        )  # fmt: skip

    async def file_at(self, commit: str, path: str, *, limit: int = 2_000_000) -> bytes | None:
        """A file's first bytes as they are in a commit; None when there is no such file."""
        asked = f"{checked_commit(commit)}:{path}".encode(errors="surrogateescape")
        answer = await run_git(
            "cat-file", "--batch", "-z", git_dir=self.path, stdin=asked, limit=limit + 200 + len(asked)
        )
        head, _, content = answer.output.partition(b"\n")
        if (found := re.fullmatch(rb"[0-9a-f]+ blob (\d+)", head)) is None:
            return None
        return content[: min(int(found[1]), limit)]

    async def changed_paths(self, a: str, b: str) -> list[str]:
        """Paths that differ between two commits; bytes that are not UTF-8 are shown as `\\xNN`."""
        output = await git(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames",
            checked_commit(a), checked_commit(b), "--",
            git_dir=self.path,
        )  # fmt: skip
        return [path.decode(errors="backslashreplace") for path in output.split(b"\0") if path]

    async def annotate(self, commit: str, records: Mapping[str, bytes]) -> None:
        """Keep records as git's note of a commit. Repeated, the newer records take the older's place."""
        note = b"\n".join(b"## %s\n\n%s\n" % (name.encode(), content) for name, content in records.items())
        blob = (await git("hash-object", "-w", "--stdin", git_dir=self.path, stdin=note)).decode().strip()
        async with self.lock.hold():
            self.drop_stale_lock(NOTES)
            await git(
                "notes", f"--ref={NOTES}", "add", "-f", "--allow-empty", "-C", blob, checked_commit(commit),
                git_dir=self.path, env=identity(JOURNEYMAN),
            )  # fmt: skip

    async def tree_of(self, commit: str) -> str:
        if (known := self.cache.trees.get(commit)) is not None:
            return known
        asked = f"{checked_commit(commit)}^{{tree}}"
        tree = (await git("rev-parse", "--verify", asked, git_dir=self.path)).decode().strip()
        self.cache.add(commit, tree)
        return tree

    async def merge_base(self, a: str, b: str) -> str | None:
        """The newest commit that both have; None when they have nothing to do with each other."""
        answer = await run_git("merge-base", checked_commit(a), checked_commit(b), git_dir=self.path)
        return answer.output.decode().strip() or None

    async def remote_head(self, remote: Remote, branch: str) -> str | None:
        """The commit that the remote's branch is at now; nothing is fetched, and no lock is held."""
        async with resolved_remote(remote) as source:
            return await read_remote_head(self.path, source.remote, branch)

    async def fetch_branch(self, remote: Remote, branch: str) -> str | None:
        """The commit that the remote's branch is at now, with all that it needs; None when it is gone."""
        async with self.lock.hold():
            async with resolved_remote(remote) as source:
                if await read_remote_head(self.path, source.remote, branch) is None:
                    return None
                self.cache.branches = None
                await fetch(self.path, source.remote, check_branch_name(branch))
            ref = f"{REMOTE_BRANCHES}{branch}"
            return (await self.refs(ref)).get(ref)

    async def refs(self, *patterns: str, field: str = "%(objectname)") -> dict[str, str]:
        """Refs below or exactly at the patterns, with one field of each."""
        output = await git(
            "for-each-ref", f"--format=%(refname)%00{field}", "--", *patterns, git_dir=self.path
        )
        lines = output.decode(errors="surrogateescape").split("\n")
        return {name: value for name, _, value in (line.partition("\0") for line in lines if line)}

    async def remote_branches(self) -> dict[str, str]:
        """The remote's branches as they were when they were last fetched."""
        refs = await self.refs(REMOTE_BRANCHES)
        return {name.removeprefix(REMOTE_BRANCHES): sha for name, sha in refs.items()}

    def drop_stale_lock(self, ref: str) -> None:
        """Remove a stale lock file; see `refs.drop_stale_lock`."""
        drop_stale_lock(self.path, ref)


@dataclass(frozen=True)
class FreshMirror(Mirror):
    """A mirror, with what the remote had when it was just asked."""

    branches: Mapping[str, str] = field(default_factory=dict)
    """The remote's branches with their commits."""
    head: str | None = None
    """The branch that is the remote's HEAD."""

    def default_branch(self) -> str:
        if self.head is not None and self.head in self.branches:
            return self.head
        if not self.branches:
            raise InvalidRepository("the repository has no commits", hint="Commit something to it first.")
        raise InvalidRepository(
            "the repository's HEAD points at no branch",
            hint="Name the base branch, or check out a branch there.",
        )

    def resolve(self, branch: str) -> str:
        """The commit that the remote's branch is at."""
        if branch not in self.branches:
            raise InvalidRepository(
                f"the repository has no branch {branch!r}", hint="Start a new order on a branch that exists."
            )
        return self.branches[branch]


def _revision(text: str) -> str:
    return text if is_commit(text) else f"refs/heads/{text}"
