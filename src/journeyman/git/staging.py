"""What changed in a workspace, and putting it into an index.

Git is told every path by name and never descends into a repository that an agent made inside the
workspace: its files are staged like any others, its `.git` is not. Files that git cannot store (sockets,
files above 100 MB, names like `.GIT`) are left out and named in the log. What `.gitignore` ignores is
not staged.
"""

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from journeyman.errors import Internal, StoreUnavailable, Transient
from journeyman.git.confine import Confinement
from journeyman.git.faults import fault_of
from journeyman.git.run import git, run
from journeyman.telemetry import log_for_order

_LARGEST_FILE = 100 * 1024 * 1024
"""Forges refuse larger ones."""
_MOST_LEFT_OUT = 50
_ROOM = 1024 * 1024
"""With less than this free on the disk, git may fail at any file."""
_UNSTORABLE = re.compile(rb"(?:^|/)(?:\.git|git~1)[ .]*(?::[^/]*)?(?:/|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Changes:
    head: str
    is_staged: bool
    """Whether the index already differs from the head: a commit was interrupted."""
    files: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    """Directories that hold a repository of their own, with the slash at the end."""

    def __bool__(self) -> bool:
        return self.is_staged or bool(self.files or self.nested)


@dataclass(frozen=True)
class Index:
    """An index file, and where git runs to use it."""

    order_id: str
    path: Path
    git_dir: Path
    tree: Path
    mirror: Path
    """New objects always go there."""

    @property
    def env(self) -> dict[str, str]:
        return {"GIT_INDEX_FILE": str(self.path), "GIT_OBJECT_DIRECTORY": str(self.mirror / "objects")}

    async def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return await git(*arguments, git_dir=self.git_dir, work_tree=self.tree, stdin=stdin, env=self.env)

    async def write_files(self, *arguments: str) -> None:
        """Run a git that changes files which an agent may be changing as well.

        It can write the tree and this index and nothing else, so the index has to lie apart from the git
        directory.
        """
        shown = Confinement(readable=(self.mirror, self.git_dir), writable=(self.path.parent, self.tree))
        await git(*arguments, git_dir=self.git_dir, work_tree=self.tree, env=self.env, confinement=shown)

    async def write_tree(self) -> str:
        return (await self.git("write-tree")).decode().strip()

    async def changes(self) -> Changes:
        output = await self.git(
            "status", "--porcelain=v2", "--branch", "-z",
            "--untracked-files=all", "--no-renames", "--ignore-submodules=all",
        )  # fmt: skip
        return read_status(output, self.order_id)

    async def stage(self, changes: Changes) -> None:
        """Bring the index in line with the files that changed."""
        files, left_out = await asyncio.to_thread(_sort_out, self.tree, changes.files)
        if changes.nested:
            files += await self._not_ignored(await asyncio.to_thread(_files_in, self.tree, changes.nested))
        if files:
            left_out += await self._update(files)
        for path in left_out:
            name = path.decode(errors="backslashreplace")
            log_for_order(self.order_id, "git_file_left_out", level="warning", path=name)

    async def _not_ignored(self, paths: Sequence[bytes]) -> list[bytes]:
        # check-ignore knows no literal names; `./` in front keeps any from being taken for a pattern.
        answer = await run(
            "check-ignore", "-z", "--stdin", git_dir=self.git_dir, work_tree=self.tree,
            stdin=b"\0".join(b"./" + path for path in paths), env=self.env | {"GIT_LITERAL_PATHSPECS": ""},
        )  # fmt: skip
        if answer.exit_code not in (0, 1):  # 1 says that none is ignored
            raise fault_of(answer.error, "check-ignore")
        ignored = set(answer.output.split(b"\0"))
        return [path for path in paths if b"./" + path not in ignored]

    async def _update(self, paths: Sequence[bytes], budget: int = _MOST_LEFT_OUT) -> list[bytes]:
        """Stage paths. What git refuses is halved until the files it cannot take stand alone: left out."""
        answer = await run(
            "update-index", "--add", "--remove", "--replace", "-z", "--stdin",
            git_dir=self.git_dir,
            work_tree=self.tree,
            env=self.env,
            stdin=b"\0".join(paths) + b"\0",
            confinement=Confinement(
                readable=(self.tree, self.mirror, self.git_dir),
                writable=(self.mirror / "objects", self.path.parent),
            ),
        )  # fmt: skip
        if answer.exit_code == 0:
            return []
        if len(paths) == 1:
            self._check_room(paths[0], answer.error)
            return list(paths)
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

    def _check_room(self, path: bytes, complaint: str) -> None:
        """Raises when it was not the file that git refused: left out now, it would be lost."""
        if self.path.with_name(self.path.name + ".lock").exists():
            raise Transient("git was cut off while it staged files", hint="It is tried again.")
        try:
            size = os.lstat(os.path.join(os.fsencode(self.tree), path)).st_size
        except (FileNotFoundError, NotADirectoryError):
            return  # there is nothing that could be lost
        if shutil.disk_usage(self.mirror).free < 2 * size + _ROOM:
            raise StoreUnavailable(
                f"there is no room to keep the workspace's files: {complaint.strip()[-300:]}",
                hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
            )


def read_status(output: bytes, order_id: str) -> Changes:
    """`git status --porcelain=v2 --branch -z`, without what the platform itself keeps below `.journeyman`."""
    head, is_staged = "", False
    files: list[bytes] = []
    nested: list[bytes] = []
    for entry in output.split(b"\0"):
        if entry.startswith(b"# branch.oid "):
            head = entry.removeprefix(b"# branch.oid ").decode()
        if entry[:2] not in (b"1 ", b"u ", b"? "):
            continue
        path = entry[2:] if entry[:2] == b"? " else entry.split(b" ", 8 if entry[:2] == b"1 " else 10)[-1]
        if entry[:2] == b"1 " and entry[2:3] != b".":
            is_staged = True
        is_as_staged = entry[:2] == b"1 " and entry[3:4] == b"."
        if is_as_staged or _is_ours(path, order_id) or _UNSTORABLE.search(path):
            continue
        (nested if path.endswith(b"/") else files).append(path)
    return Changes(head, is_staged, tuple(files), tuple(nested))


def _is_ours(path: bytes, order_id: str) -> bool:
    own = f".journeyman/{order_id}".encode()
    return path.rstrip(b"/") in (b".journeyman", own) or path.startswith(own + b"/")


def _sort_out(tree: Path, paths: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The paths that git can be given, and those it cannot store. A path that is gone is to be removed."""
    root = os.fsencode(tree)
    good: list[bytes] = []
    bad: list[bytes] = []
    for path in paths:
        try:
            facts = os.lstat(os.path.join(root, path))
        except (FileNotFoundError, NotADirectoryError):
            good.append(path)
            continue
        is_file = stat.S_ISREG(facts.st_mode) and facts.st_size <= _LARGEST_FILE
        can_store = is_file or stat.S_ISLNK(facts.st_mode) or stat.S_ISDIR(facts.st_mode)
        (good if can_store else bad).append(path)
    return good, bad


def _files_in(tree: Path, directories: Iterable[bytes]) -> list[bytes]:
    root = os.fsencode(tree)
    found: list[bytes] = []
    for directory in directories:
        found += _walk(root, directory.rstrip(b"/"))
    return _sort_out(tree, found)[0]


def _walk(root: bytes, directory: bytes) -> Iterator[bytes]:
    for place, below, files in os.walk(os.path.join(root, directory)):
        links = [name for name in below if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            if not _UNSTORABLE.fullmatch(name):
                yield os.path.join(place[len(root) + 1 :], name)
        below[:] = [name for name in below if not _UNSTORABLE.fullmatch(name)]
