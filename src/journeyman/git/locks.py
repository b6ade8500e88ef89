"""One at a time: in this process, in every other, and until the last git has ended.

The git processes that a holder starts inherit its lock. When the server is killed while git is still
writing, the next server waits for that git and then knows that any lock file it finds is stale.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

_LOOK_AGAIN_SECONDS = 0.02
_held: ContextVar[tuple[int, ...]] = ContextVar("held", default=())


def held_descriptors() -> tuple[int, ...]:
    """The locks of whoever asks, for the processes it starts."""
    return _held.get()


class FileLock:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        async with self._turn:
            descriptor = await self._acquire()
            before = _held.set((*_held.get(), descriptor))
            try:
                yield
            finally:
                _held.reset(before)
                os.close(descriptor)

    def discard(self) -> None:
        """Remove the file; only for a holder whose locked thing is gone."""
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
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file was not discarded by its last holder in the meantime."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False
