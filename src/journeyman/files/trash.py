"""Deferred deletion: a path is renamed into the trash at once, and deleted in the background.

So no caller waits for a deletion, and one that is interrupted goes on at the next start. What cannot be
deleted is renamed with the prefix `set-aside-`, and tried again only by the next process.
"""

import asyncio
import os
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from journeyman import telemetry
from journeyman.files.removal import remove_tree

TRASH = ".trash"
"""Name of its directory, which lies beside what is discarded: a rename works within one disk only."""
_ENTRY_SECONDS = 30.0
"""How long one entry is worked on before the next, so that a huge one does not block the others."""
_POLL_SECONDS = 3.0
"""Poll interval: other threads and processes put entries into the trash as well."""
_SET_ASIDE = "set-aside-"


class Trash:
    def __init__(self, directory: Path, *, release: Callable[[Path], None] = lambda _: None) -> None:
        """`release` is called with an entry before it is deleted: it ends what would keep it."""
        self._directory = directory
        self._release = release
        self._added = asyncio.Event()
        self._undeletable: set[str] = set()
        """Names of entries that this process could not delete."""

    def put(self, path: Path) -> None:
        """Discard what is at a path on the same disk, if anything is."""
        if not os.path.lexists(path):
            return
        self._directory.mkdir(mode=0o700, exist_ok=True)
        path.rename(self._directory / f"{path.name}-{uuid.uuid4().hex}")
        self._added.set()

    async def keep_empty(self) -> None:
        """Delete what is discarded, and what an earlier process left, for as long as this runs."""
        is_stopped = threading.Event()
        try:
            while True:
                self._added.clear()
                await asyncio.to_thread(self.empty, is_stopped)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._added.wait(), _POLL_SECONDS)
        finally:
            is_stopped.set()

    def empty(self, is_stopped: threading.Event | None = None) -> None:
        """Delete all entries, except those that turned out to be undeletable."""
        is_stopped = is_stopped or threading.Event()
        while not is_stopped.is_set():
            names = [name for name in self._names() if name not in self._undeletable]
            if not names:
                return
            for name in names:
                self._delete(name, is_stopped)

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._directory))
        except FileNotFoundError:
            return []
        except OSError as error:
            telemetry.logger().error("trash_not_emptied", path=str(self._directory), error=str(error))
            return []

    def _delete(self, name: str, is_stopped: threading.Event) -> None:
        ends_at = time.monotonic() + _ENTRY_SECONDS
        try:
            self._release(self._directory / name)
            remove_tree(
                self._directory / name, is_stopped=lambda: is_stopped.is_set() or time.monotonic() > ends_at
            )
        except OSError as error:
            kept = self._set_aside(name)
            self._undeletable.add(kept.name)
            telemetry.logger().warning("leftover_set_aside", path=str(kept), error=str(error))

    def _set_aside(self, name: str) -> Path:
        path = self._directory / name
        aside = self._directory / f"{_SET_ASIDE}{name.removeprefix(_SET_ASIDE)}"
        try:
            path.rename(aside)
        except OSError:  # a mount point cannot be renamed
            return path
        return aside


def undeletable(directory: Path) -> list[Path]:
    """Entries that no process could delete so far."""
    try:
        return sorted(directory / name for name in os.listdir(directory) if name.startswith(_SET_ASIDE))
    except FileNotFoundError:
        return []
