"""The worker: launches the durable engine in this process and hands it rounds.

A round's workflow id is made of the order and the round's number, so handing it over twice is once. The
application version is fixed: were it a hash of the code, every upgrade would strand what is running.
"""

import asyncio
from pathlib import Path

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetEnqueueOptions, SetWorkflowID

from journeyman.database import engine_database
from journeyman.engine.run_round import Rounds
from journeyman.engine.workshop import Workshop
from journeyman.work_orders.order import WorkOrder

_QUEUE = "rounds"
_VERSION = "1"
_THREADS = 16
_POLL_SECONDS = 0.1
_LOWEST_PRIORITY = 10
"""The queue takes small numbers first; ours are the other way round, as people say it."""


class Engine:
    def __init__(self, workshop: Workshop, *, database_url: str, home: Path) -> None:
        self._workshop = workshop
        self._rounds = Rounds(workshop)
        url, engine = engine_database(database_url, home)
        config: DBOSConfig = {
            "name": "journeyman",
            "system_database_url": url,
            "application_version": _VERSION,
            "executor_id": "embedded",
            "max_executor_threads": _THREADS,
            "notification_listener_polling_interval_sec": 1.0,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "WARNING",
        }
        if engine is not None:
            config["system_database_engine"] = engine
        DBOS(config=config)

    async def start(self, *, works: bool = True) -> None:
        """Launch on the running loop; a worker then goes on with everything that was not finished."""
        if not works:
            DBOS.listen_queues([])
        else:
            await self._workshop.sweep()
        DBOS.launch()
        await DBOS.register_queue_async(
            _QUEUE,
            worker_concurrency=self._workshop.settings.max_concurrent_orders,
            polling_interval_sec=_POLL_SECONDS,
        )
        if works:
            for order in await self._workshop.orders.unfinished():
                await self.submit(order)

    async def submit(self, order: WorkOrder) -> None:
        workflow_id = f"{order.agent_work_order_id}-{order.round}"
        with SetWorkflowID(workflow_id), SetEnqueueOptions(priority=_LOWEST_PRIORITY - order.priority):
            await DBOS.enqueue_workflow_async(
                _QUEUE, self._rounds.run_round, order.agent_work_order_id, order.workflow
            )

    async def stop(self) -> None:
        """Stop taking work. What is running is cut off here and goes on at the next start."""
        await self._rounds.interrupt()
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)
        await self._rounds.interrupt()
