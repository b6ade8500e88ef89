"""Wait until the store takes something again: a database that is away, a disk that is full.

Such a fault says nothing about the work, and nothing can be written down about it either. So what met it is
done again, however long it takes.
"""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import TypeVar

from journeyman import telemetry
from journeyman.errors import StoreUnavailable

T = TypeVar("T")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 15.0


async def retry_until_stored(act: Callable[[], Awaitable[T]]) -> T:
    """Do something that is safe to repeat, until the store takes it."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return await act()
        except (StoreUnavailable, OSError) as error:
            if isinstance(error, OSError) and error.errno not in NO_ROOM:
                raise
            telemetry.logger().warning("store_unavailable", error_message=str(error), wait_seconds=pause)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
