"""Disk space that is reserved for the server itself: for its database, its log and a cancel.

A preallocated file holds the space. When the disk is full the file is deleted, so that the server can go on
writing while the cause is dealt with; when there is space again, the file is made again.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MB = 1024 * 1024
_SMALLEST_SHARE = 50


@dataclass(frozen=True)
class Disk:
    """The state of the home's disk at one moment."""

    free: int
    """Bytes that this user may still write."""
    held: int
    """Bytes of the reserve that its file holds at the moment."""
    reserve: int
    """Bytes of the reserve when it is whole."""

    @property
    def is_low(self) -> bool:
        """Whether less than twice the reserve is left, the reserve included."""
        return self.free + self.held < 2 * self.reserve

    @property
    def has_room_again(self) -> bool:
        return self.free + self.held >= 3 * self.reserve


class DiskReserve:
    def __init__(self, home: Path, megabytes: int) -> None:
        self._home = home
        self._file = home / "reserve"
        self._megabytes = megabytes

    def look(self) -> Disk:
        disk = os.statvfs(self._home)
        share = disk.f_blocks * disk.f_frsize // _SMALLEST_SHARE
        held = 0
        with suppress(FileNotFoundError):
            held = self._file.stat().st_blocks * 512
        return Disk(disk.f_bavail * disk.f_frsize, held, min(self._megabytes * _MB, share))

    def release(self) -> None:
        """Delete the file, so that its space can be used."""
        self._file.unlink(missing_ok=True)

    def take(self) -> None:
        """Make the file, if there is space enough. The gap to `is_low` keeps it from coming and going."""
        disk = self.look()
        if disk.held >= disk.reserve or not disk.has_room_again:
            return
        with suppress(OSError), open(self._file, "wb", opener=_private) as file:
            os.posix_fallocate(file.fileno(), 0, disk.reserve)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
