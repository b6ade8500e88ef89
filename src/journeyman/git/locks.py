"""Locks that hold across processes, and until the last git started under them has ended.

The git processes that a holder starts inherit the descriptor of its lock. When the server is killed while git
is still writing, the next server waits for that git; after that any lock file of git is stale.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

_POLL_SECONDS = 0.02
_held: ContextVar[tuple[int, ...]] = ContextVar("held", default=())


def held_descriptors() -> tuple[int, ...]:
    """The locks that the current task holds, for the processes it starts to inherit."""
    return _held.get()


class FileLock:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._in_process = asyncio.Lock()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        async with self._in_process:
            descriptor = await self._acquire()
            before = _held.set((*_held.get(), descriptor))
            try:
                yield
            finally:
                _held.reset(before)
                os.close(descriptor)

    def discard(self) -> None:
        """Remove the file; only for the holder, after what it guarded is gone."""
        self._path.unlink(missing_ok=True)

    async def _acquire(self) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_current(descriptor):
                    return descriptor
            except BlockingIOError:
                pass
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
            await asyncio.sleep(_POLL_SECONDS)

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file is still there: its last holder may have discarded it."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False
