"""What nobody needs any more: out of the way at once, and deleted beside the work.

Throwing something away is a rename, so whoever does it waits for no deletion, and one that is cut off goes
on at the next start. What cannot be deleted is set aside under a name that says so, and tried again only by
the next process.
"""

import asyncio
import os
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

from journeyman import telemetry
from journeyman.files.removal import remove_tree

TRASH = ".trash"
"""Its directory lies beside what is thrown into it: a rename works on one disk only."""
_TURN_SECONDS = 30.0
"""How long one thing is worked at before the next has its turn, so that none keeps all others."""
_LOOK_SECONDS = 3.0
"""Another thread, or another process on the same home, throws things away as well."""
_SET_ASIDE = "set-aside-"


class Trash:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._news = asyncio.Event()
        self._kept: set[str] = set()
        """Names of what this process could not delete."""

    def put(self, path: Path) -> None:
        """Throw away whatever is at a path, on the same disk; nothing there is fine."""
        if not os.path.lexists(path):
            return
        self._directory.mkdir(mode=0o700, exist_ok=True)
        path.rename(self._directory / f"{path.name}-{uuid.uuid4().hex}")
        self._news.set()

    async def keep_empty(self) -> None:
        """Delete, for as long as it runs, what is thrown away, and what an earlier process left."""
        is_stopped = threading.Event()
        try:
            while True:
                self._news.clear()
                await asyncio.to_thread(self.empty, is_stopped)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), _LOOK_SECONDS)
        finally:
            is_stopped.set()

    def empty(self, is_stopped: threading.Event | None = None) -> None:
        """Delete all there is, except what turned out not to be deletable."""
        is_stopped = is_stopped or threading.Event()
        while not is_stopped.is_set():
            waiting = [name for name in self._names() if name not in self._kept]
            if not waiting:
                return
            for name in waiting:
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
        turn_ends = time.monotonic() + _TURN_SECONDS
        try:
            remove_tree(
                self._directory / name, is_stopped=lambda: is_stopped.is_set() or time.monotonic() > turn_ends
            )
        except OSError as error:
            kept = self._set_aside(name)
            self._kept.add(kept.name)
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
    """What no process could delete so far."""
    try:
        return sorted(directory / name for name in os.listdir(directory) if name.startswith(_SET_ASIDE))
    except FileNotFoundError:
        return []
