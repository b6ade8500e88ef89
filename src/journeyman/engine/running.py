"""The rounds that run in this process: started by the carrier, stopped by people, revoked when lost.

A round that is cut off by anything but a person leaves its workflow unfinished in the durable engine, so
that whoever holds the order, this worker after a restart or another, goes on with the same one.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from journeyman.engine.attempt import Attempt
from journeyman.engine.resources import WorkerResources
from journeyman.engine.run_round import run_round, suspend_round
from journeyman.engine.store_retries import retry_until_stored
from journeyman.engine.transitions import Stop, suspend
from journeyman.errors import Superseded
from journeyman.workflows.schema import Workflow


class RunningRounds:
    def __init__(self, resources: WorkerResources, *, on_end: Callable[[], None]) -> None:
        self._resources = resources
        self._on_end = on_end
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._stops: dict[str, Stop] = {}

    @property
    def orders(self) -> set[str]:
        """The orders whose rounds run here."""
        return set(self._tasks)

    async def run(self, attempt: Attempt, workflow: Workflow) -> str:
        """Run a round as whoever holds its order now; returns how it ended.

        Raises CancelledError when it was cut off: by `revoke`, by `interrupt`, or because another worker has
        the order.
        """
        order_id = attempt.order_id
        # What this process ran before it was taken for dead may not have noticed yet that it lost the order.
        await self.revoke(order_id)
        with self._registered(order_id):
            claims, worker_id = self._resources.claims, self._resources.worker_id
            holder = await retry_until_stored(lambda: claims.holder(attempt, worker_id))
            resources = self._resources.held_by(holder)
            try:
                return await run_round(resources, attempt, workflow)
            except Superseded:
                await resources.teardown.detach(order_id)
                raise asyncio.CancelledError from None
            except asyncio.CancelledError:
                if order_id not in self._stops:
                    raise
                # It was asked for and ends here: what follows must not count as cancelled.
                self._tasks[order_id].uncancel()
                return await suspend_round(resources, order_id, self._stops[order_id])

    async def stop(self, order_id: str, stop: Stop) -> None:
        """Stop a round that runs here, in the middle of a step too; returns when all of it has ended."""
        if order_id not in self._tasks:
            await suspend(self._resources.orders, self._resources.teardown, order_id, stop)
        # It may have begun in the meantime.
        if (task := self._tasks.get(order_id)) is not None:
            self._stops[order_id] = stop
            task.cancel()
            try:
                await asyncio.wait({task})
            finally:
                del self._stops[order_id]

    async def revoke(self, order_id: str) -> None:
        """End a round of an order that is not ours any more, and touch nothing of the order."""
        if (task := self._tasks.get(order_id)) is not None:
            task.cancel()
            await asyncio.wait({task})
            await self._resources.teardown.detach(order_id)

    async def interrupt(self) -> None:
        """Cut off what runs in this process. It counts as a crash: the next start goes on with it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _registered(self, order_id: str) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[order_id] = task
        try:
            yield
        finally:
            del self._tasks[order_id]
            self._on_end()
