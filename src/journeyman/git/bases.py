"""Checkouts that workspaces share: one for each tree of files, made once, read by every overlay on it.

A workspace on top of one costs a mount and a copied index instead of a checkout. A base is never written: it
is made under another name and renamed, and no sandbox can reach it but through an overlay.
"""

import asyncio
import os
import shutil
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from journeyman.git.overlay import can_mount
from journeyman.git.ownership import owned_by
from journeyman.git.refs import checked_commit
from journeyman.git.staging import Index

_UNUSED_SECONDS = 3600.0
"""A base that nobody asked for so long is discarded: another order would pay for a checkout again."""


@dataclass(frozen=True)
class Base:
    name: str
    directory: Path

    @property
    def tree(self) -> Path:
        return self.directory / "tree"

    def copy_index(self, place: Path, uid: int, *, hash_bytes: int) -> None:
        """The index of the files as a user of a workspace sees them: owned by himself."""
        shutil.copy2(self.directory / "state" / "index", place)
        owned_by(place, uid, hash_bytes=hash_bytes)


class Bases:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._can_mount: bool | None = None
        self._locks: dict[str, FileLock] = {}

    async def get(self, mirror: Mirror, commit: str) -> Base | None:
        """The base with the files of a commit, made where there is none; None where overlays do not work."""
        if self._can_mount is None:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._can_mount = await asyncio.to_thread(can_mount, self._directory)
        if not self._can_mount:
            return None
        name = await mirror.tree_of(commit)
        base = Base(name, self._directory / name)
        if not base.directory.is_dir():
            lock = self._locks.setdefault(name, FileLock(self._directory / f".{name}.lock"))
            async with lock.hold():
                if not base.directory.is_dir():
                    await self._make(base, mirror, checked_commit(commit))
        os.utime(base.directory)
        return base

    def find(self, name: str) -> Base | None:
        """A base that was made before."""
        base = Base(name, self._directory / name)
        return base if name and base.tree.is_dir() else None

    def unused(self, in_use: Collection[str]) -> list[Path]:
        """Bases that no workspace lies on and that were not asked for lately, and what was left half made."""
        if not self._directory.is_dir():
            return []
        oldest = time.time() - _UNUSED_SECONDS
        found = [path for path in self._directory.iterdir() if path.is_dir() and path.name not in in_use]
        return sorted(path for path in found if path.stat().st_mtime < oldest)

    async def _make(self, base: Base, mirror: Mirror, commit: str) -> None:
        partial = self._directory / f".partial-{uuid.uuid4().hex}"
        for name in ("tree", "state"):
            (partial / name).mkdir(parents=True)
        index = Index(
            order_id="",
            path=partial / "state" / "index",
            git_dir=mirror.path,
            tree=partial / "tree",
            mirror=mirror.path,
        )
        await index.write_files("read-tree", "--reset", "-u", commit)
        partial.rename(base.directory)
