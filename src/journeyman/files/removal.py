"""Remove a directory tree that may be hostile: arbitrarily deep, wide, or without permissions.

Every directory is renamed to the top of the tree before anything in it is touched. So depth costs no
recursion, no open descriptor per level and no long path; and a mount point, which cannot be renamed, is
never entered. Links are never followed.
"""

import errno
import os
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_LOOK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CHANGED = (errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR)
"""Errors that occur when a process still writes into the tree."""
_MOVED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors that mean that the entry is gone, or that a link has replaced a directory above it."""


def remove_tree(path: Path, *, is_stopped: Callable[[], bool] = lambda: False) -> bool:
    """Remove whatever is at a path; whether it is gone now, which it is not when it was stopped.

    Raises the first OSError that kept something, after everything else is gone.
    """
    try:
        with _descriptor(os.open(path.parent, _READ)) as parent:
            return _remove_entry(path.name, parent, is_stopped)
    except FileNotFoundError:
        return True  # there is nothing, or another process is removing it


def remove_below(root: Path, paths: Iterable[bytes]) -> None:
    """Remove entries of a tree whose owner may be changing it at the same time.

    No link is followed on the way to an entry, so none that takes a directory's place leads outside.
    Raises the first OSError that kept something of an entry; entries after that one are not removed.
    """
    for path in paths:
        *above, name = os.fsdecode(path).strip("/").split("/")
        with ExitStack() as opened:
            try:
                parent = opened.enter_context(_descriptor(os.open(root, _READ)))
                for directory in above:
                    found = os.open(directory, _READ | os.O_NOFOLLOW, dir_fd=parent)
                    parent = opened.enter_context(_descriptor(found))
                _remove_entry(name, parent, lambda: False)
            except OSError as error:
                if error.errno not in _MOVED:
                    raise


def _remove_entry(name: str, parent: int, is_stopped: Callable[[], bool]) -> bool:
    if not stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
        os.unlink(name, dir_fd=parent)
        return True
    with _open_directory(name, parent) as top:
        if _mount_of(top) != _mount_of(parent):
            raise OSError(errno.EBUSY, "something is mounted there", name)
        if not _Removal(top, is_stopped).run():
            return False
    os.rmdir(name, dir_fd=parent)
    return True


class _Removal:
    """Empties the directory `top`."""

    def __init__(self, top: int, is_stopped: Callable[[], bool]) -> None:
        self._top = top
        self._is_stopped = is_stopped
        self._mark = uuid.uuid4().hex
        self._renamed = 0
        self._has_progressed = False
        self._kept: set[str] = set()
        """Names at the top that contain something that cannot be removed."""
        self._error: OSError | None = None

    def run(self) -> bool:
        """Whether it was not stopped. Raises when something is left."""
        self._has_progressed = True
        while self._has_progressed:
            self._has_progressed = False
            with os.scandir(self._top) as entries:
                for entry in entries:
                    if self._is_stopped():
                        return False
                    if entry.name not in self._kept:
                        self._remove(entry)
        if self._error is not None and not self._is_stopped():
            raise self._error
        return self._error is None

    def _remove(self, entry: os.DirEntry[str]) -> None:
        name = entry.name
        with self._collecting_errors(name):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(name, dir_fd=self._top)
                self._has_progressed = True
                return
            if not name.startswith(self._mark):
                name = self._lift(name, self._top)
            self._empty(name)
            with suppress(FileNotFoundError):
                os.rmdir(name, dir_fd=self._top)
                self._has_progressed = True

    def _empty(self, name: str) -> None:
        """Remove the files of a directory at the top, and bring its directories up beside it."""
        with _open_directory(name, self._top) as directory, os.scandir(directory) as entries:
            for entry in entries:
                if self._is_stopped():
                    return
                with self._collecting_errors(name):
                    if entry.is_dir(follow_symlinks=False):
                        self._lift(entry.name, directory)
                    else:
                        os.unlink(entry.name, dir_fd=directory)
                    self._has_progressed = True

    def _lift(self, name: str, directory: int) -> str:
        self._renamed += 1
        lifted = f"{self._mark}{self._renamed}"
        try:
            os.rename(name, lifted, src_dir_fd=directory, dst_dir_fd=self._top)
        except PermissionError:  # moving a directory takes the right to write in it
            with _open_directory(name, directory):
                os.rename(name, lifted, src_dir_fd=directory, dst_dir_fd=self._top)
        return lifted

    @contextmanager
    def _collecting_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            self._has_progressed = True  # another process is removing it
        except OSError as error:
            if error.errno in _CHANGED and self._has_progressed:
                return  # the next pass tries it again
            self._kept.add(name)
            self._error = self._error or error


@contextmanager
def _open_directory(name: str, parent: int) -> Iterator[int]:
    """A directory with all permissions of its owner, which an agent may have removed."""
    with _descriptor(os.open(name, _LOOK, dir_fd=parent)) as found:
        if os.fstat(found).st_mode & 0o700 != 0o700:
            with suppress(PermissionError):  # another user's: the calls below fail if that matters
                os.chmod(f"/proc/self/fd/{found}", 0o700)
        with _descriptor(os.open(".", _READ, dir_fd=found)) as directory:
            yield directory


def _mount_of(descriptor: int) -> str:
    facts = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    return next(line for line in facts.splitlines() if line.startswith("mnt_id:"))


@contextmanager
def _descriptor(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
