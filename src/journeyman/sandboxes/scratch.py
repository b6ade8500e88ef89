"""Directories on disk for what a sandbox writes outside its workspace: its home and /tmp.

On disk, because a package manager's cache would not fit into memory. They are made empty for each sandbox and
discarded with it, so nothing passes from one role to the next. A file lock marks one that is in use; the
kernel releases it when its process ends, so what is not locked was left by a killed process.
"""

import contextlib
import fcntl
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

from journeyman.files.trash import TRASH, Trash
from journeyman.sandboxes.identity import jail_uid


@dataclass(frozen=True)
class Scratch:
    directory: Path
    lock: int
    """Open and locked for as long as the sandbox lives."""

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def temporary(self) -> Path:
        return self.directory / "tmp"

    @property
    def workspace(self) -> Path:
        """Where the workspace is mounted together with an environment's layers, seen by the jail alone."""
        return self.directory / "workspace"


class Scratches:
    """All scratch directories of one Journeyman home."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self.trash = Trash(self._directory / TRASH)

    def of(self, order_id: str) -> Path:
        """Where those of an order lie, if it has any."""
        return self._directory / order_id

    def make(self, order_id: str) -> Scratch:
        """Empty directories, owned by the user that the order's sandboxes run as."""
        place = self.of(order_id) / uuid.uuid4().hex
        for above in (self._directory.parent, self._directory, self._directory / TRASH):
            above.mkdir(mode=0o700, parents=True, exist_ok=True)  # also what a full disk would refuse later
        place.mkdir(parents=True)
        scratch = Scratch(place, os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        fcntl.flock(scratch.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path, mode in ((scratch.home, 0o700), (scratch.temporary, 0o1777)):
            path.mkdir()
            path.chmod(mode)
            if (uid := jail_uid(order_id)) is not None:
                os.chown(path, uid, uid)
        return scratch

    def discard(self, scratch: Scratch) -> None:
        """Discard it, after the sandbox has ended."""
        self.trash.put(scratch.directory)
        os.close(scratch.lock)
        with contextlib.suppress(OSError):  # another sandbox of the order has one
            scratch.directory.parent.rmdir()

    def sweep(self) -> list[str]:
        """Discard what killed processes left; returns the ids of the orders it belonged to."""
        found = []
        for order in _directories(self._directory):
            for place in _directories(order):
                if _is_free(place):
                    self.trash.put(place)
                    found.append(order.name)
            with contextlib.suppress(OSError):
                order.rmdir()
        return found


def _directories(path: Path) -> list[Path]:
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name != TRASH and entry.is_dir(follow_symlinks=False)
        ]
    return []


def _is_free(place: Path) -> bool:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
