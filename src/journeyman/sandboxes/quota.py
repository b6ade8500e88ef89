"""How much of the disk an order's files take, and whether that is over its quota.

Kernel quotas need root or a special file system, so files are counted instead (`disk_monitor.py` decides
when). Blocks count, not lengths, so a sparse file counts as what it occupies; a file with several hard links
counts once.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from journeyman.errors import DiskQuotaExceeded
from journeyman.sandboxes.base import SandboxLimits

_BLOCK = 512
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MB = 1024 * 1024


@dataclass(frozen=True)
class DiskUsage:
    """Counting stops as soon as a limit is exceeded, so figures above a limit are lower bounds."""

    size: int = 0
    """Bytes."""
    files: int = 0
    """Directories and links count as files."""
    is_too_deep: bool = False
    """Whether directories are nested deeper than the longest path that the kernel accepts."""
    has_hidden: bool = False
    """Whether there are directories that may not be read: what they hold is not counted."""

    def exceeds(self, limits: SandboxLimits) -> str | None:
        """What is too much, in words."""
        if self.is_too_deep:
            return "its directories are nested too deeply to be counted"
        if self.size > limits.disk_mb * _MB:
            return f"its files take more than {limits.disk_mb:,} MB"
        if self.files > limits.files:
            return f"it has more than {limits.files:,} files"
        return None


def over_quota(order_id: str, what: str) -> DiskQuotaExceeded:
    return DiskQuotaExceeded(
        f"the sandbox of {order_id} was stopped: {what}",
        hint="What fits is kept in a snapshot. Let the task write less, or raise JOURNEYMAN_SANDBOX_DISK_MB "
        "or JOURNEYMAN_SANDBOX_FILES.",
    )


def measure(directories: Sequence[Path], limits: SandboxLimits, processes: Iterable[int] = ()) -> DiskUsage:
    """What these directories hold, plus deleted files that the processes still have open."""
    counted = _Count()
    for top in directories:
        for directory in _walk(top, counted):
            counted.add(os.fstat(directory))
            with suppress(OSError), os.scandir(directory) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        with suppress(OSError):  # gone meanwhile
                            counted.add(os.stat(entry.name, dir_fd=directory, follow_symlinks=False))
            if counted.usage.exceeds(limits):
                return counted.usage
    for pid in processes:
        counted.add_deleted(pid)
    return counted.usage


def _walk(top: Path, counted: "_Count") -> Iterator[int]:
    """Every directory from the top down, as a descriptor that is open until the next one.

    A link that an agent swaps in for a directory meanwhile can only make the order count too much.
    """
    try:
        root = os.open(top, _OPEN)
    except OSError:
        return
    pending = [b"."]
    try:
        while pending:
            path = pending.pop()
            try:
                directory = os.open(path, _OPEN, dir_fd=root)
            except OSError as error:
                counted.is_too_deep |= error.errno == errno.ENAMETOOLONG
                counted.has_hidden |= error.errno == errno.EACCES
                continue
            try:
                yield directory
                with suppress(OSError), os.scandir(directory) as entries:
                    below = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
                    pending += [os.path.join(path, os.fsencode(name)) for name in below]
            finally:
                os.close(directory)
    finally:
        os.close(root)


class _Count:
    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()
        self._devices: set[int] = set()
        self._size = 0
        self._files = 0
        self.is_too_deep = False
        self.has_hidden = False

    @property
    def usage(self) -> DiskUsage:
        return DiskUsage(self._size, self._files, self.is_too_deep, self.has_hidden)

    def add(self, facts: os.stat_result) -> None:
        if facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode):
            if (facts.st_dev, facts.st_ino) in self._seen:
                return
            self._seen.add((facts.st_dev, facts.st_ino))
        self._devices.add(facts.st_dev)
        self._size += facts.st_blocks * _BLOCK
        self._files += 1

    def add_deleted(self, pid: int) -> None:
        """Deleted files that a process has open: they take space, but no directory lists them."""
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    facts = os.stat(entry.path)
                    key = (facts.st_dev, facts.st_ino)
                    is_deleted = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 0
                    if is_deleted and facts.st_dev in self._devices and key not in self._seen:
                        self._seen.add(key)
                        self._size += facts.st_blocks * _BLOCK
                        self._files += 1


def processes_below(pid: int) -> list[int]:
    """All descendants of a process."""
    found, pending = [], [pid]
    while pending:
        parent = pending.pop()
        with suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{task}/children").read_text().split()
                pending += map(int, children)
        found.append(parent)
    return found[1:]
