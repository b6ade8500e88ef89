"""The records of an order's steps: how far each has come in each round."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Unpack

from sqlalchemy import select, update

from journeyman.events.types import Event
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import PREPARE, StepRecord
from journeyman.work_orders.store.rows import STEP_KEY, save_row
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import steps, work_orders

_USAGE = ("cost_usd", "tokens_in", "tokens_out", "tokens_cache_read")
"""Written by `UsageTotals` alone, while the step runs."""


class StepRecords:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def save(self, record: StepRecord, *events: Event, **order_changes: Unpack[OrderChanges]) -> None:
        """Write how far a step has come, what its order learned from it, and the events. Usage stays."""
        row = asdict(record)
        await save_row(self._transactions, steps, STEP_KEY, row, events, order_changes, kept=_USAGE)

    async def of_order(self, order_id: str) -> list[StepRecord]:
        """The records of the workflows' steps."""
        query = (
            select(steps)
            .where(steps.c.agent_work_order_id == order_id, steps.c.step != PREPARE)
            .order_by(steps.c.round, steps.c.started_at, steps.c.step)
        )
        async with self._transactions.reading() as connection:
            return [StepRecord(**row) for row in await connection.execute(query)]

    async def current(self, order_id: str, step: str) -> StepRecord | None:
        """The record of a step in the order's current round, if it was started."""
        query = (
            select(steps)
            .join(
                work_orders,
                (work_orders.c.agent_work_order_id == steps.c.agent_work_order_id)
                & (work_orders.c.round == steps.c.round),
            )
            .where(steps.c.agent_work_order_id == order_id, steps.c.step == step)
        )
        async with self._transactions.reading() as connection:
            row = (await connection.execute(query)).first()
        return StepRecord(**row) if row else None

    async def reopen(self, order_id: str, round: int, names: Iterable[str]) -> None:
        """Let steps that ended count as not done."""
        async with self._transactions.writing() as writing:
            await writing.execute(
                update(steps)
                .where(
                    steps.c.agent_work_order_id == order_id,
                    steps.c.round == round,
                    steps.c.step.in_(sorted(names)),
                )
                .values(status="waiting")
            )
            await writing.append(order_id)
