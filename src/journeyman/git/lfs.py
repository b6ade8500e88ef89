"""Git LFS: which files of a commit are pointers, and the store of their contents beside the mirror.

A pointer is a small blob that names a content by its SHA-256. Only files whose attributes say `filter=lfs` in
the commit itself count; our own `info/attributes` switches filters off everywhere else, so attributes are
asked in a git directory without it (`<mirror>.lfs/git`). The store's existence says that LFS is used.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from journeyman.git.confine import Confinement
from journeyman.git.refs import checked_commit
from journeyman.git.run import git

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-\d-[^\n]+\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?"
)
_SIZES = range(100, 1024)
"""Bytes that a pointer can have."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Pointer:
    oid: str
    size: int
    blob: str = ""
    """The name of the pointer as a git object, where it is one."""
    text: bytes = b""


def parse_pointer(text: bytes, blob: str = "") -> Pointer | None:
    found = _POINTER.fullmatch(text) if len(text) in _SIZES else None
    return None if found is None else Pointer(found[1].decode(), int(found[2]), blob, text)


def pointer_text(pointer: Pointer) -> bytes:
    """As Git LFS writes it."""
    lines = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"
    return lines.format(pointer.oid, pointer.size).encode()


@dataclass(frozen=True)
class LfsStore:
    """The contents of one repository's LFS files, by SHA-256."""

    mirror: Path

    @property
    def directory(self) -> Path:
        return self.mirror.with_suffix(".lfs")

    def exists(self) -> bool:
        return self.directory.is_dir()

    def make(self, hosts: Collection[str]) -> None:
        """`hosts`: where contents may be transferred from and to, beside the repository's own host."""
        skeleton = self.directory / "git"
        for name in ("objects/info", "refs"):
            (skeleton / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.directory / "objects").mkdir(exist_ok=True)
        config = (self.mirror / "config").read_text().replace("bare = true", "bare = false")
        files = {"HEAD": "ref: refs/heads/none\n", "config": config}
        files["objects/info/alternates"] = f"{self.mirror / 'objects'}\n"
        for name, content in files.items():
            (skeleton / name).write_text(content)
        (self.directory / "hosts.json").write_text(json.dumps(sorted(hosts)))

    def hosts(self) -> list[str]:
        found: list[str] = json.loads((self.directory / "hosts.json").read_bytes())
        return found

    def path_of(self, oid: str) -> Path:
        return self.directory / "objects" / oid[:2] / oid[2:4] / oid

    def has(self, pointer: Pointer) -> bool:
        try:
            return self.path_of(pointer.oid).stat().st_size == pointer.size
        except FileNotFoundError:
            return False

    @contextmanager
    def incoming(self) -> Iterator["Incoming"]:
        """A content that is being received; kept when `keep` is called."""
        with tempfile.NamedTemporaryFile(dir=self.directory, delete=False) as file:
            try:
                yield Incoming(self, file)
            finally:
                Path(file.name).unlink(missing_ok=True)

    def add(self, source: IO[bytes]) -> Pointer:
        """Store what can be read; the pointer says what was stored, even if the source changes meanwhile."""
        with self.incoming() as incoming:
            while piece := source.read(_CHUNK):
                incoming.write(piece)
            return incoming.keep()

    async def filtered(self, index: Path, paths: Sequence[bytes]) -> set[bytes]:
        """Those of the paths that belong in LFS by the attributes in an index."""
        if not paths:
            return set()
        skeleton = self.directory / "git"
        output = await git(
            "check-attr", "--cached", "-z", "--stdin", "filter",
            git_dir=skeleton, work_tree=skeleton, env={"GIT_INDEX_FILE": str(index)},
            stdin=b"\0".join(paths) + b"\0",
            confinement=Confinement(readable=(self.mirror, self.directory, index.parent)),
        )  # fmt: skip
        fields = output.split(b"\0")
        values = zip(fields[::3], fields[2::3], strict=False)
        return {path for path, value in values if value == b"lfs"}

    async def pointers(self, commit: str) -> dict[bytes, Pointer]:
        """The LFS files of a commit, by path."""
        listing = await git(
            "ls-tree", "-r", "-l", "-z", "--full-tree", checked_commit(commit), git_dir=self.mirror
        )
        blobs: dict[bytes, str] = {}
        for entry in listing.split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            if facts.startswith(b"100") and int(facts.split()[3]) in _SIZES:
                blobs[path] = facts.split()[2].decode()
        if not blobs:
            return {}
        with tempfile.TemporaryDirectory(dir=self.directory) as directory:
            index = Path(directory) / "index"
            await git("read-tree", commit, git_dir=self.mirror, env={"GIT_INDEX_FILE": str(index)})
            paths = sorted(await self.filtered(index, list(blobs)))
        asked = "".join(f"{blobs[path]}\n" for path in paths).encode()
        answer = await git("cat-file", "--batch", git_dir=self.mirror, stdin=asked) if paths else b""
        found = {path: _next(answer, blobs[path]) for path in paths}
        return {path: pointer for path, pointer in found.items() if pointer is not None}


def _next(answer: bytes, blob: str) -> Pointer | None:
    head = f"{blob} blob ".encode()
    begin = answer.index(head)
    size, _, rest = answer[begin + len(head) : begin + len(head) + 2048].partition(b"\n")
    return parse_pointer(rest[: int(size)], blob)


@dataclass
class Incoming:
    store: LfsStore
    file: "tempfile._TemporaryFileWrapper[bytes]"

    def __post_init__(self) -> None:
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, piece: bytes) -> None:
        self._digest.update(piece)
        self.size += len(piece)
        self.file.write(piece)

    @property
    def pointer(self) -> Pointer:
        """What was received so far."""
        return Pointer(self._digest.hexdigest(), self.size)

    def keep(self) -> Pointer:
        pointer = self.pointer
        self.file.flush()
        place = self.store.path_of(pointer.oid)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.file.name, place)
        return pointer
