"""Questions to a person about a step, and the decisions on them."""

from dataclasses import asdict

from sqlalchemy import select

from journeyman.events.types import Event
from journeyman.work_orders.approvals import Approval
from journeyman.work_orders.store.rows import STEP_KEY, save_row
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import approvals

_KEY = (*STEP_KEY, "commit_sha")


class Approvals:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def save(self, approval: Approval, *events: Event) -> None:
        await save_row(self._transactions, approvals, _KEY, asdict(approval), events, {})

    async def of_order(self, order_id: str) -> list[Approval]:
        query = (
            select(approvals)
            .where(approvals.c.agent_work_order_id == order_id)
            .order_by(approvals.c.requested_at, approvals.c.step)
        )
        async with self._transactions.reading() as connection:
            return [Approval(**row) for row in await connection.execute(query)]
