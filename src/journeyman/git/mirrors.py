"""Our own bare copy of each repository: what orders start from, and where everything they make is kept.

The remote's branches are `refs/remotes/origin/*`, the orders' are `refs/heads/*`, snapshots of
uncommitted work are `refs/journeyman/snapshots/*`. What a ref holds is never collected as garbage.
"""

import asyncio
import hashlib
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.errors import Conflict, InvalidInput, InvalidRepository
from journeyman.files.removal import remove_tree
from journeyman.forges.base import Remote
from journeyman.git.checkout_check import CheckoutCheck
from journeyman.git.commits import JOURNEYMAN, identity
from journeyman.git.faults import fault_of
from journeyman.git.link import link_objects
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
from journeyman.git.push import look
from journeyman.git.reach import Reached, reached
from journeyman.git.run import UPLOAD_PACK, git, run
from journeyman.work_orders.order import check_branch_name
from journeyman.work_orders.repositories import Repository

REMOTE_BRANCHES = "refs/remotes/origin/"
NOTES = "refs/notes/journeyman"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIFF_BYTES = 2_000_000
_COUNTED = ("--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
_LOG = ("-z", "--reverse", "--topo-order", f"--format={LOG_FORMAT}")
ATTRIBUTES = "* !filter !working-tree-encoding\n"
"""Wins over every `.gitattributes`: no file is left out because its attributes cannot be honoured."""

EXCLUDED = "".join(
    f"{name}\n"
    for name in (
        *("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/"),
        *(".venv/", "venv/", ".tox/", ".nox/", "*.egg-info/", ".coverage", "node_modules/", ".gradle/"),
    )
)
"""What tools leave beside their work and nobody means to commit, in repositories that do not say so."""


_MOST_COMMITS = 1000


@dataclass
class Memory:
    """What was found out about a mirror, so that git is not asked for it again."""

    checked: set[tuple[str, int, int]] = field(default_factory=set)
    """Commits that were found fit to be checked out, with the limits that they were held against."""
    branches: dict[str, str] | None = None
    """The remote's branches, at commits that the mirror holds; None until they were compared."""
    trees: dict[str, str] = field(default_factory=dict)
    """The trees of commits."""
    parents: dict[str, str] = field(default_factory=dict)
    """What the commits that were made here stand on."""

    def keep(self, commit: str, tree: str, parent: str | None = None) -> None:
        if len(self.trees) >= _MOST_COMMITS:
            self.trees.clear()
            self.parents.clear()
        self.trees[commit] = tree
        if parent is not None:
            self.parents[commit] = parent


@dataclass(frozen=True)
class Mirror:
    path: Path
    lock: FileLock
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

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

    async def check_checkout(self, commit: str, *, max_files: int, max_bytes: int) -> None:
        """Refuse what cannot be checked out or worked on, before a single file is written."""
        if (commit, max_files, max_bytes) in self.memory.checked:
            return
        check = CheckoutCheck(max_files=max_files, max_bytes=max_bytes, git_dir=self.path)
        await git(
            "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", checked_commit(commit),
            git_dir=self.path, each=check.take,
        )  # fmt: skip
        if check.attributes:
            blobs = "\n".join(check.attributes).encode()
            check.take_attributes(await git("cat-file", "--batch", git_dir=self.path, stdin=blobs))
        self.memory.checked.add((commit, max_files, max_bytes))

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
        answer = await run(
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
        if self.memory.parents.get(head) == base:  # a single commit: git logs and counts it in one go
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
        answer = await run(
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
        if (known := self.memory.trees.get(commit)) is not None:
            return known
        asked = f"{checked_commit(commit)}^{{tree}}"
        tree = (await git("rev-parse", "--verify", asked, git_dir=self.path)).decode().strip()
        self.memory.keep(commit, tree)
        return tree

    async def merge_base(self, a: str, b: str) -> str | None:
        """The newest commit that both have; None when they have nothing to do with each other."""
        answer = await run("merge-base", checked_commit(a), checked_commit(b), git_dir=self.path)
        return answer.output.decode().strip() or None

    async def look_at_branch(self, remote: Remote, branch: str) -> str | None:
        """The commit that the remote's branch is at now; nothing is fetched, and no lock is held."""
        async with reached(remote) as source:
            return await look(self.path, source.remote, branch)

    async def fetch_branch(self, remote: Remote, branch: str) -> str | None:
        """The commit that the remote's branch is at now, with all that it needs; None when it is gone."""
        async with self.lock.hold():
            async with reached(remote) as source:
                if await look(self.path, source.remote, branch) is None:
                    return None
                self.memory.branches = None
                await _fetch(self, source.remote, check_branch_name(branch))
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
        """Remove what a killed git left at a ref; only for the holder of the lock that guards the ref."""
        with suppress(FileNotFoundError, NotADirectoryError):
            (self.path / f"{ref}.lock").unlink()


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


@dataclass(frozen=True)
class _Look:
    begun: int
    remote: Remote
    found: FreshMirror


class Mirrors:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[Path, Mirror] = {}
        self._looks: dict[Path, _Look] = {}
        self._moments = itertools.count()

    def at(self, repository: Repository) -> Mirror:
        """The mirror as it is, without asking the remote."""
        digest = hashlib.sha256(repository.url.encode(errors="surrogateescape")).hexdigest()[:16]
        readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{repository.owner}-{repository.name}")[:60]
        return self._at(self._directory.absolute() / f"{readable}-{digest}.git")

    def _at(self, path: Path) -> Mirror:
        if path not in self._known:
            self._known[path] = Mirror(path, FileLock(path.with_suffix(".lock")))
        return self._known[path]

    def all(self) -> list[Mirror]:
        """Every mirror there is."""
        return [self._at(path) for path in sorted(self._directory.absolute().glob("*.git"))]

    async def refresh(self, repository: Repository, remote: Remote) -> FreshMirror:
        """The mirror with the remote's branches as they are now: cloned at first, fetched when they moved.

        Those who ask while somebody looks share the next look: it begins after they asked.
        """
        mirror = self.at(repository)
        self._directory.mkdir(parents=True, exist_ok=True)
        asked = next(self._moments)
        async with mirror.lock.hold():
            shared = self._looks.get(mirror.path)
            if shared is not None and shared.begun > asked and shared.remote == remote:
                return shared.found
            begun = next(self._moments)
            found = await _refreshed(mirror, remote)
            self._looks[mirror.path] = _Look(begun, remote, found)
        return found


async def _refreshed(mirror: Mirror, remote: Remote) -> FreshMirror:
    """For the holder of the mirror's lock."""
    memory = mirror.memory
    async with reached(remote) as source:
        theirs, head = await _look(source.remote)
        if not mirror.path.exists():
            memory.branches = None
            await _make(mirror.path, source, theirs)
        if theirs != memory.branches:
            if memory.branches is not None or theirs != await mirror.remote_branches():
                await _fetch(mirror, source.remote)
            memory.branches = dict(theirs)
    return FreshMirror(mirror.path, mirror.lock, memory, theirs, head)


async def _make(path: Path, source: Reached, branches: Mapping[str, str]) -> None:
    """Make a mirror beside its place and move it there when it is whole."""
    making = path.with_suffix(".partial")
    await asyncio.to_thread(remove_tree, making)
    object_format = "sha256" if any(len(sha) == 64 for sha in branches.values()) else "sha1"
    await git(
        "init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", "--", str(making)
    )
    (making / "HEAD").write_text("ref: refs/heads/none-of-the-orders\n")
    (making / "info").mkdir(exist_ok=True)
    (making / "info" / "attributes").write_text(ATTRIBUTES)
    (making / "info" / "exclude").write_text(EXCLUDED)
    if source.directory is not None:
        objects = source.directory.source.common / "objects"
        await asyncio.to_thread(link_objects, objects, making / "objects")
    await _fetch(Mirror(making, FileLock(making)), source.remote)
    making.rename(path)


async def _look(remote: Remote) -> tuple[dict[str, str], str | None]:
    """The remote's branches with their commits, and the branch that is its HEAD."""
    output = await git(
        "ls-remote", "--symref", UPLOAD_PACK, "--", remote.url, "HEAD", "refs/heads/*",
        remote=remote,
    )  # fmt: skip
    branches: dict[str, str] = {}
    head = None
    for line in output.decode(errors="surrogateescape").split("\n"):
        value, _, name = line.partition("\t")
        if name == "HEAD" and value.startswith("ref: refs/heads/"):
            head = value.removeprefix("ref: refs/heads/")
        elif name.startswith("refs/heads/"):
            branches[name.removeprefix("refs/heads/")] = value
    return branches, head


async def _fetch(mirror: Mirror, remote: Remote, branch: str = "*") -> None:
    mirror.drop_stale_lock("packed-refs")
    await asyncio.to_thread(_drop_stale_locks, mirror.path / REMOTE_BRANCHES)
    tags = ["+refs/tags/*:refs/tags/*"] if branch == "*" else []  # what builds take their version from
    await git(
        "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
        UPLOAD_PACK, "--", remote.url, f"+refs/heads/{branch}:{REMOTE_BRANCHES}{branch}", *tags,
        git_dir=mirror.path, remote=remote,
    )  # fmt: skip


def _drop_stale_locks(directory: Path) -> None:
    waiting = [directory]  # a remote can name its branches deeper than recursion goes
    while waiting:
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif entry.name.endswith(".lock"):
                    os.unlink(entry.path)


def checked_commit(text: str) -> str:
    """A commit's full name, or an error: nothing else is ever taken for a revision."""
    if not _COMMIT.fullmatch(text):
        raise InvalidInput(f"{text!r} is not the full name of a commit", hint="Give all of its 40 digits.")
    return text


def _revision(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else f"refs/heads/{text}"
