"""The evidence that verification left, each bound to a commit."""

from dataclasses import asdict
from typing import Unpack

from sqlalchemy import select

from journeyman.events.types import Event
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import Evidence
from journeyman.work_orders.store.rows import STEP_KEY, save_row
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import evidence

_KEY = (*STEP_KEY, "attempt")


class StoredEvidence:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def save(self, record: Evidence, *events: Event, **order_changes: Unpack[OrderChanges]) -> None:
        await save_row(self._transactions, evidence, _KEY, asdict(record), events, order_changes)

    async def of_order(self, order_id: str) -> list[Evidence]:
        query = (
            select(evidence)
            .where(evidence.c.agent_work_order_id == order_id)
            .order_by(evidence.c.round, evidence.c.created_at, evidence.c.attempt)
        )
        async with self._transactions.reading() as connection:
            return [Evidence(**row) for row in await connection.execute(query)]
