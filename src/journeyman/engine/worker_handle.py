"""A worker of this process, as those see it who are on another event loop.

The API has a loop and a thread of its own: it answers while rounds keep the worker's loop busy. What it asks
the worker for happens on the worker's loop, where everything of a round is.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from journeyman.engine.transitions import Stop
from journeyman.engine.workers import Worker

T = TypeVar("T")


class WorkerHandle:
    """Made on the worker's loop, used on any other."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self.worker_id = worker.worker_id

    def wake(self) -> None:
        """There is a new order."""
        self._loop.call_soon_threadsafe(self._worker.wake)

    async def stop_here(self, order_id: str, stop: Stop) -> None:
        """Pause or cancel an order of this worker. When this returns nothing of it runs any more."""
        await self._over_there(self._worker.stop_here(order_id, stop))

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        """Clear away what the retention policy lets go of; says what went, or would go."""
        return await self._over_there(self._worker.clean_up(dry_run=dry_run))

    async def _over_there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
