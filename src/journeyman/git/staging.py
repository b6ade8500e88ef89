"""Find what changed in a workspace, and stage it in an index.

Git is given every path by name and never descends into a repository that an agent made inside the workspace:
its files are staged like any others, its `.git` is not. Files that git cannot store (sockets, files above
100 MB, names like `.GIT`) are left out. What `.gitignore` ignores is not staged. Every git that reads the
agent's files is confined, and files that would block it are hidden from it.
"""

import asyncio
import bisect
import itertools
import os
import shutil
import stat
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from journeyman.errors import Internal, StoreUnavailable, Transient, WorkspaceUnreadable
from journeyman.files.removal import remove_below
from journeyman.git.changes import (
    UNSTORABLE,
    Changes,
    keeping_submodules,
    read_status,
    without_hidden,
)
from journeyman.git.confine import Confinement
from journeyman.git.faults import fault_of, last_line
from journeyman.git.lfs import LfsStore
from journeyman.git.lfs_files import lfs_contents, stage_lfs
from journeyman.git.policy import EVERYTHING, CommitPolicy
from journeyman.git.run import LOCAL_SECONDS, git, run_git
from journeyman.git.trees import (
    NO_HAZARDS,
    Hazards,
    LeftOut,
    find_hazards,
    kind_of,
    remove_special_files,
    walk,
)

T = TypeVar("T")
_LARGEST_FILE = 100 * 1024 * 1024
"""Forges refuse larger ones."""
_MOST_LEFT_OUT = 50
_MOST_HIDDEN = 100
_TRIES = 3
_ROOM = 1024 * 1024
"""With less than this free on the disk, git may fail at any file."""
_SMALLEST_BLOB = 4096
"""Bytes that even an empty file takes once git has stored it."""


@dataclass(frozen=True)
class Index:
    """An index file, and where git runs to use it."""

    order_id: str
    path: Path
    git_dir: Path
    tree: Path
    mirror: Path
    """New objects are always written there."""
    hazards: Hazards = NO_HAZARDS
    """What is hidden from git."""

    @property
    def env(self) -> dict[str, str]:
        return {"GIT_INDEX_FILE": str(self.path), "GIT_OBJECT_DIRECTORY": str(self.mirror / "objects")}

    @property
    def confinement(self) -> Confinement:
        return Confinement(
            readable=(self.tree, self.mirror, self.git_dir),
            writable=(self.mirror / "objects", self.path.parent),
            hidden=tuple(self.tree / os.fsdecode(one.path) for one in self.hazards.files),
            hidden_directories=tuple(self.tree / os.fsdecode(path) for path in self.hazards.repositories),
        )

    def hiding(self, hazards: Hazards) -> "Index":
        """The same index for a git from which certain files are hidden."""
        if len(hazards.files) > _MOST_HIDDEN:
            raise WorkspaceUnreadable(
                f"the workspace holds {len(hazards.files):,} files that git must not open; "
                f"{hazards.files[0].shown_path} is {hazards.files[0].reason}",
                hint="Remove them there; the files stay in the workspace.",
            )
        return replace(self, hazards=replace(hazards, repositories=hazards.repositories[:_MOST_HIDDEN]))

    async def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git on the index; always confined, because git may open files of the workspace at any time."""
        return await git(
            *arguments,
            git_dir=self.git_dir,
            work_tree=self.tree,
            stdin=stdin,
            env=self.env,
            confinement=self.confinement,
        )

    async def write_files(self, *arguments: str) -> None:
        """Run a git that changes files which an agent may be changing as well.

        It can write the tree and this index and nothing else, so the index has to lie apart from the git
        directory. Named pipes and devices are removed first: nothing that is kept could hold them.
        """
        await asyncio.to_thread(remove_special_files, self.tree)
        shown = Confinement(readable=(self.mirror, self.git_dir), writable=(self.path.parent, self.tree))
        await git(
            *arguments,
            git_dir=self.git_dir,
            work_tree=self.tree,
            env=self.env,
            confinement=shown,
            timeout=LOCAL_SECONDS,
        )

    async def remove_untracked(self) -> None:
        """Remove what is neither tracked nor ignored, as `git clean -ffd` does.

        Git's own way takes seconds in a tree of a thousand levels, and leaves what lies deeper than a path
        can say. It is needed only for directories that hold ignored files beside others.
        """
        listing = ("ls-files", "-z", "--others", "--directory", "--exclude-standard")
        untracked = (await self.git(*listing)).split(b"\0")[:-1]
        ignored = sorted((await self.git(*listing, "--ignored")).split(b"\0")[:-1])
        mixed = {path for path in untracked if path.endswith(b"/") and _has_below(ignored, path)}
        try:
            await asyncio.to_thread(
                remove_below, self.tree, [path for path in untracked if path not in mixed]
            )
        except OSError as error:
            raise Internal(
                f"untracked files of the workspace could not be removed: {error}",
                hint="A process may still be writing there.",
            ) from error
        if mixed:
            await self.write_files("clean", "-ffdq")

    async def unstage(self, commit: str, paths: Collection[bytes]) -> None:
        """Set paths of the index to what a commit has; the files stay as they are."""
        listing = await self.git("ls-tree", "-r", "-z", "--full-tree", commit)
        kept = {entry.partition(b"\t")[2]: entry for entry in listing.split(b"\0") if entry}
        gone = b"0 %b\t" % (b"0" * len(commit))
        entries = b"".join(kept.get(path, gone + path) + b"\0" for path in paths)
        await self.git("update-index", "--replace", "-z", "--index-info", stdin=entries)

    async def write_tree(self) -> str:
        return (await self.git("write-tree")).decode().strip()

    async def changes(self) -> Changes:
        """What differs from the head. A file that git must not open counts as unchanged."""
        for _ in range(_TRIES):
            hazards = await in_thread(find_hazards, self.tree)
            try:
                output = await self.hiding(hazards).git(
                    "status", "--porcelain=v2", "--branch", "-z",
                    "--untracked-files=all", "--no-renames", "--ignore-submodules=all",
                )  # fmt: skip
            except Transient:
                if hazards == NO_HAZARDS:
                    raise
                continue  # a hidden file was gone when the namespace was made
            found = without_hidden(await in_thread(read_status, output, self.order_id), hazards)
            return keeping_submodules(found, self.git_dir)
        raise WorkspaceUnreadable(
            "files that git must not open come and go in the workspace",
            hint="End what makes named pipes there; the files stay in the workspace.",
        )

    async def stage(
        self, changes: Changes, policy: CommitPolicy = EVERYTHING, *, room: int | None = None
    ) -> list[LeftOut]:
        """Stage the files that changed; returns what was left out.

        With `room` only so many bytes of files are staged, the smallest first.
        """
        paths, new = changes.files, changes.new
        if changes.nested:
            below = await in_thread(_files_in, self.tree, changes.nested)
            inside = await self._not_ignored(below)
            paths, new = (*paths, *inside), new.union(inside)
        in_lfs = await self._in_lfs(paths)
        files, left_out = await in_thread(_storable, self.tree, paths, new, policy, in_lfs)
        if room is not None:
            files, too_much = await in_thread(_what_fits, self.tree, files, room)
            left_out += too_much
        if staged := [path for path in files if path in in_lfs]:
            await stage_lfs(LfsStore(self.mirror), self.tree, self.path, self.git, staged)
        if files := [path for path in files if path not in in_lfs]:
            left_out += await self._update(files)
        return [*changes.hazards.files, *left_out]

    async def _in_lfs(self, paths: Sequence[bytes]) -> set[bytes]:
        store = LfsStore(self.mirror)
        if not paths or not store.exists():
            return set()
        named = await store.filtered(self.path, paths)
        return await asyncio.to_thread(lfs_contents, self.tree, sorted(named))

    async def _not_ignored(self, paths: Sequence[bytes]) -> list[bytes]:
        # check-ignore has no literal pathspecs; with `./` in front no name is taken for pathspec magic.
        answer = await run_git(
            "check-ignore", "-z", "--stdin", git_dir=self.git_dir, work_tree=self.tree,
            stdin=b"\0".join(b"./" + path for path in paths), env=self.env | {"GIT_LITERAL_PATHSPECS": ""},
            confinement=self.confinement,
        )  # fmt: skip
        if answer.exit_code not in (0, 1):  # 1 says that none is ignored
            raise fault_of(answer.error, "check-ignore")
        ignored = set(answer.output.split(b"\0"))
        return [path for path in paths if b"./" + path not in ignored]

    async def _update(self, paths: Sequence[bytes], budget: int = _MOST_LEFT_OUT) -> list[LeftOut]:
        """Stage paths. What git refuses is bisected; single files that it cannot take are left out."""
        answer = await run_git(
            "update-index", "--add", "--remove", "--replace", "-z", "--stdin",
            git_dir=self.git_dir,
            work_tree=self.tree,
            env=self.env,
            stdin=b"\0".join(paths) + b"\0",
            confinement=self.confinement,
        )  # fmt: skip
        if answer.exit_code == 0:
            return []
        if len(paths) == 1:
            size = self._check_room(paths[0], answer.error)
            return (
                []
                if size is None
                else [LeftOut(paths[0], size, f"git refused it: {last_line(answer.error)}")]
            )
        half = len(paths) // 2
        left_out = await self._update(paths[:half], budget)
        if len(left_out) < budget:
            left_out += await self._update(paths[half:], budget - len(left_out))
        if len(left_out) >= budget:
            raise Internal(
                f"git cannot store the workspace's files: {answer.error.strip()[-300:]}",
                hint="Look at free disk space and at what the agent wrote.",
            )
        return left_out

    def _check_room(self, path: bytes, complaint: str) -> int | None:
        """The file's size, None when it is gone. Raises when it was not the file that git refused."""
        if self.path.with_name(self.path.name + ".lock").exists():
            raise Transient("git was cut off while it staged files", hint="It is tried again.")
        try:
            size = os.lstat(os.path.join(os.fsencode(self.tree), path)).st_size
        except (FileNotFoundError, NotADirectoryError):
            return None
        if shutil.disk_usage(self.mirror).free < 2 * size + _ROOM:
            raise StoreUnavailable(
                f"there is no room to keep the workspace's files: {complaint.strip()[-300:]}",
                hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
            )
        return size


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Do something whose length depends on the number of files beside the event loop.

    When the caller is cancelled, at a timeout above all, the thread stops at the next file instead of
    competing with whatever comes after.
    """
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(work, *arguments, is_stopped=stopped.is_set)
    finally:
        stopped.set()


def _storable(
    tree: Path,
    paths: Iterable[bytes],
    new: frozenset[bytes],
    policy: CommitPolicy,
    in_lfs: Collection[bytes],
    *,
    is_stopped: Callable[[], bool],
) -> tuple[list[bytes], list[LeftOut]]:
    """The paths to stage, and those to leave out. A path that is gone is staged as deleted."""
    root = os.fsencode(tree)
    good: list[bytes] = []
    bad: list[LeftOut] = []
    for path in paths:
        if is_stopped():
            break
        try:
            facts = os.lstat(os.path.join(root, path))
        except OSError:  # gone, or git says what is wrong with it
            good.append(path)
            continue
        size = 0 if path in in_lfs else facts.st_size  # of which git gets a pointer
        reason = _unstorable(facts.st_mode, size) or (policy.refuses(path, size) if path in new else None)
        if reason is None:
            good.append(path)
        else:
            bad.append(LeftOut(path, facts.st_size, reason))
    return good, bad


def _what_fits(
    tree: Path, paths: Iterable[bytes], room: int, *, is_stopped: Callable[[], bool]
) -> tuple[list[bytes], list[LeftOut]]:
    """The smallest of the files, as many as there is room for, and the others."""
    root = os.fsencode(tree)
    sizes: dict[bytes, int] = {}
    for path in paths:
        if is_stopped():
            break
        try:
            sizes[path] = os.lstat(os.path.join(root, path)).st_size
        except OSError:  # gone, or git says what is wrong with it
            sizes[path] = 0
    good: list[bytes] = []
    bad: list[LeftOut] = []
    for path, size in sorted(sizes.items(), key=lambda one: one[1]):
        room -= max(size, _SMALLEST_BLOB)
        if room >= 0:
            good.append(path)
        else:
            bad.append(LeftOut(path, size, "the order had no room left on the disk"))
    return good, bad


def _unstorable(mode: int, size: int) -> str | None:
    if stat.S_ISREG(mode) and size > _LARGEST_FILE:
        return f"larger than {_LARGEST_FILE // 1024**2} MB"
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode):
        return None
    return f"{kind_of(mode)}, which git cannot store"


def _files_in(tree: Path, directories: Iterable[bytes], *, is_stopped: Callable[[], bool]) -> list[bytes]:
    found = (path for directory in directories for path in _walk(tree, directory.rstrip(b"/")))
    return list(itertools.takewhile(lambda _: not is_stopped(), found))


def _has_below(paths: Sequence[bytes], directory: bytes) -> bool:
    """Whether sorted paths hold the directory or anything in it."""
    place = bisect.bisect_left(paths, directory)
    return place < len(paths) and paths[place].startswith(directory)


def _walk(tree: Path, directory: bytes) -> Iterator[bytes]:
    for found in walk(tree / os.fsdecode(directory), skip=lambda path: bool(UNSTORABLE.search(path))):
        for entry in found.entries:
            name = os.fsencode(entry.name)
            if not entry.is_dir(follow_symlinks=False) and not UNSTORABLE.fullmatch(name):
                yield os.path.join(directory, found.path, name)
