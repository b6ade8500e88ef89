"""Room on the home's disk that belongs to the server: for its database, its log and a cancel.

It is held by a file of that size. When the disk is full the file goes, and what keeps the server working has
room while the cause is dealt with; when there is room again it is made again.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MB = 1024 * 1024
_SMALLEST_SHARE = 50


@dataclass(frozen=True)
class Disk:
    """A look at the disk of the home."""

    free: int
    """Bytes that this user may still write."""
    held: int
    """Bytes of the reserve that its file holds at the moment."""
    reserve: int
    """Bytes of the reserve when it is whole."""

    @property
    def is_low(self) -> bool:
        """Whether nothing but the reserve, and as much before it, is left."""
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
        """Give the room back."""
        self._file.unlink(missing_ok=True)

    def take(self) -> None:
        """Hold the room, as far as the disk has it."""
        disk = self.look()
        if disk.held >= disk.reserve or not disk.has_room_again:
            return
        with suppress(OSError), open(self._file, "wb", opener=_private) as file:
            os.posix_fallocate(file.fileno(), 0, disk.reserve)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
