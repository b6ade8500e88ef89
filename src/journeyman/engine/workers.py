"""The worker: launches the durable engine in this process and starts rounds in it.

A workflow's id is made of the order, its round and the attempt at it, so starting it twice is once. The
application version is fixed: were it a hash of the code, every upgrade would strand what is running.

Orders wait in our own table, not in the engine's queue: starting one costs no polling, and the line can
be seen by whoever reads orders.
"""

import asyncio
from pathlib import Path
from typing import Literal

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID

from journeyman import telemetry
from journeyman.database import engine_database
from journeyman.engine.control import Standstill, Stop, check_rest, go_on
from journeyman.engine.prompts import next_round
from journeyman.engine.queue import Waiting, next_to_start
from journeyman.engine.run_round import Rounds
from journeyman.engine.waiting import decide
from journeyman.engine.workshop import Workshop
from journeyman.failpoints import failpoint
from journeyman.work_orders.order import WorkOrder

_VERSION = "1"
_THREADS = 16
_LOOK_ANYWAY_SECONDS = 5.0
"""Orders that another process accepted are found without a wake-up from it."""


class Worker:
    def __init__(self, workshop: Workshop, *, database_url: str, home: Path) -> None:
        self._workshop = workshop
        self._news = asyncio.Event()
        self._rounds = Rounds(workshop, on_end=self._news.set)
        self._starting: set[str] = set()
        """Workflow ids that were started and have not taken their order up yet."""
        self._deciding = asyncio.Lock()
        """Held while an order is started or stopped, so that none slips from one into the other."""
        self._dispatching: asyncio.Task[None] | None = None
        url, engine = engine_database(database_url, home)
        config: DBOSConfig = {
            "name": "journeyman",
            "system_database_url": url,
            "application_version": _VERSION,
            "executor_id": "embedded",
            "max_executor_threads": _THREADS,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "WARNING",
        }
        if engine is not None:
            config["system_database_engine"] = engine
        DBOS(config=config)

    async def start(self) -> None:
        """Launch on the running loop: rounds that were cut off go on, and waiting orders are taken up."""
        await self._workshop.sweep()
        DBOS.launch()
        self._dispatching = asyncio.create_task(self._dispatch())

    def wake(self) -> None:
        """There is a new order."""
        self._news.set()

    async def stop_order(self, order_id: str, stop: Stop) -> WorkOrder:
        """Pause or cancel an order. When this returns nothing of it runs and nothing more will happen."""
        if check_rest(await self._workshop.orders.get(order_id), stop):
            async with self._deciding:
                await self._rounds.stop(order_id, stop)
        return await self._workshop.orders.get(order_id)

    async def go_on(self, order_id: str, *, after: Standstill) -> WorkOrder:
        """Let a paused, failed or cancelled order go on from the step it was stopped at."""
        order = await go_on(self._workshop, order_id, after=after)
        self.wake()
        return order

    async def decide(
        self, order_id: str, step: str | None, decision: Literal["approved", "rejected"], comment: str
    ) -> WorkOrder:
        """Take a person's decision on a step that waits for it."""
        order = await decide(self._workshop, order_id, step, decision, comment)
        self.wake()
        return order

    async def stop(self) -> None:
        """Stop taking work. What is running is cut off here and goes on at the next start."""
        if self._dispatching is not None:
            self._dispatching.cancel()
            await asyncio.gather(self._dispatching, return_exceptions=True)
        await self._rounds.interrupt()
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)

    async def _dispatch(self) -> None:
        while True:
            self._news.clear()
            try:
                await self._start_what_may()
            except Exception as error:
                # Whatever it is, it may pass, and nobody but this loop would ever start an order again.
                telemetry.logger().error("orders_not_started", exc_info=error)
            try:
                await asyncio.wait_for(self._news.wait(), _LOOK_ANYWAY_SECONDS)
            except TimeoutError:
                continue

    async def _start_what_may(self) -> None:
        async with self._deciding:
            await self._start_next()

    async def _start_next(self) -> None:
        for order_id in await self._workshop.orders.orders_with_prompts():
            await self._workshop.orders.start_prompt(order_id, next_round)
        pending = {order.agent_work_order_id: order for order in await self._workshop.orders.pending()}
        self._starting &= {_workflow_id(order) for order in pending.values()}
        starting = {order_id for order_id, order in pending.items() if _workflow_id(order) in self._starting}
        waiting = [Waiting(order_id, order.priority, order.created_at) for order_id, order in pending.items()]
        limit = self._workshop.settings.max_concurrent_orders
        for order_id in next_to_start(waiting, self._rounds.running | starting, limit=limit):
            order = pending[order_id]
            self._starting.add(_workflow_id(order))
            with SetWorkflowID(_workflow_id(order)):
                await DBOS.start_workflow_async(
                    self._rounds.run_round, order_id, order.round, order.attempt, order.workflow
                )
            failpoint("enqueued")


def _workflow_id(order: WorkOrder) -> str:
    return f"{order.agent_work_order_id}-{order.round}-{order.attempt}"
