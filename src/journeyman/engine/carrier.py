"""The durable engine that carries rounds, by its public calls only.

It starts a round in this process at once, and keeps a workflow for it whose id is made of the order, the
round and the attempt, so that starting one twice is once. A workflow without an end is resumed by whoever
holds its order: this worker after a restart, or another after a hand-over. What a round has done is not its
business: no step of a round is a step of the engine.

The application version is fixed: were it a hash of the code, every upgrade would strand what is running.
The executor's id is new at each start: else the engine would resume at launch what this worker carried
before, on a queue that all workers share, whoever holds the orders by then.
"""

import asyncio
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from dbos import (
    DBOS,
    DBOSConfig,
    DBOSConfiguredInstance,
    DBOSPortableJSONSerializer,
    SetWorkflowID,
    error,
)

from journeyman import telemetry
from journeyman.database import engine_database, idle_transaction_seconds
from journeyman.engine.attempt import Attempt
from journeyman.engine.running import RunningRounds
from journeyman.work_orders.order import WorkOrder
from journeyman.workflows.schema import Workflow

_VERSION = "1"
_THREADS = 16
_RESUME_SECONDS = 1.0
"""How often a worker looks for what it is to resume."""
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_UNENDED = ["PENDING", "ENQUEUED"]
_MOST_ROWS = 500


@DBOS.dbos_class()
class Rounds(DBOSConfiguredInstance):
    """The workflow. Its names and its arguments stay as they are: rows of earlier versions have them."""

    def __init__(self, running: RunningRounds) -> None:
        super().__init__("rounds")
        self._running = running

    @DBOS.workflow(name="run_round", max_recovery_attempts=10_000)
    async def run_round(self, order_id: str, round: int, attempt: int, definition: dict[str, Any]) -> str:
        return await self._running.run(Attempt(order_id, round, attempt), Workflow.model_validate(definition))


class Carrier:
    def __init__(
        self, running: RunningRounds, *, worker_id: str, database_url: str, home: Path, lease_seconds: float
    ) -> None:
        self._rounds = Rounds(running)
        url, engine = engine_database(database_url, home)
        self._queue = None if engine is not None else worker_id
        """On SQLite there is one worker, and the engine's own queue will do."""
        config: DBOSConfig = {
            "name": "journeyman",
            "system_database_url": url,
            "application_version": _VERSION,
            "executor_id": f"{worker_id}-{secrets.token_hex(4)}",
            "max_executor_threads": _THREADS,
            "serializer": DBOSPortableJSONSerializer(),
            "sys_db_idle_transaction_timeout_sec": idle_transaction_seconds(lease_seconds),
            "log_level": "WARNING",
        }
        if engine is not None:
            config["system_database_engine"] = engine
        DBOS(config=config)
        DBOS.listen_queues([self._queue] if self._queue else [])
        telemetry.log_through_root("dbos")

    async def launch(self) -> None:
        """Launch on the running loop: rounds run there."""
        DBOS.launch()
        await self.register()

    async def register(self) -> None:
        """Let this worker be resumed on: at the start, and when it was given up and lives."""
        if self._queue is not None:
            await DBOS.register_queue_async(
                self._queue, polling_interval_sec=_RESUME_SECONDS, on_conflict="always_update"
            )

    async def carry(self, order: WorkOrder) -> None:
        """Start the order's attempt here, or resume it here where it was begun before, on any worker."""
        attempt = Attempt.current(order)
        try:
            with SetWorkflowID(attempt.workflow_id, workflow_id_reuse_policy="reject"):
                await DBOS.start_workflow_async(
                    self._rounds.run_round,
                    attempt.order_id,
                    attempt.round,
                    attempt.number,
                    order.current_workflow,
                )
        except error.DBOSWorkflowIDInUseError:
            await DBOS.resume_workflows_async([attempt.workflow_id], queue_name=self._queue)

    async def forget_worker(self, worker_id: str) -> None:
        """A worker is gone: its queue is not read any more."""
        await DBOS.delete_queue_async(worker_id)

    async def close(self) -> None:
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)


async def forgettable_rows(before: datetime, orders: list[WorkOrder]) -> list[str]:
    """The engine's rows from before a time that no unfinished order needs.

    A row without an end belongs to an attempt that was cut off and is over by now.
    """
    needed = {Attempt.current(order).workflow_id for order in orders}
    ended = await DBOS.list_workflows_async(
        status=_ENDED,
        completed_before=before.isoformat(),
        limit=_MOST_ROWS,
        load_input=False,
        load_output=False,
    )
    unended = await DBOS.list_workflows_async(
        status=_UNENDED, end_time=before.isoformat(), limit=_MOST_ROWS, load_input=False, load_output=False
    )
    return [row.workflow_id for row in (*ended, *unended) if row.workflow_id not in needed]


async def forget_rows(workflow_ids: list[str]) -> None:
    await DBOS.delete_workflows_async(workflow_ids)
