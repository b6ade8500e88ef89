"""The prompts of an order: queued, started as rounds of their own, or cancelled.

Each change locks the order's row first, so that prompts are numbered without gaps and started one by one.
"""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import func, insert, literal, select, update

from journeyman.database import Prepared
from journeyman.errors import Conflict, NotFound
from journeyman.events.types import PromptAccepted, PromptCancelled, PromptStarted
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import FINISHED, WorkOrder
from journeyman.work_orders.prompts import Mode, Prompt
from journeyman.work_orders.store.rows import fetch_order, write_changes
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import prompts, work_orders

_DUE_ORDERS = Prepared(
    select(prompts.c.agent_work_order_id)
    .join(work_orders, work_orders.c.agent_work_order_id == prompts.c.agent_work_order_id)
    .where(prompts.c.status == "queued", work_orders.c.status.in_([*map(literal, FINISHED)]))
    .distinct()
)


class Prompts:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def add(self, order_id: str, text: str, mode: Mode) -> Prompt:
        """Queue a prompt behind those that wait already."""
        async with self._transactions.writing() as writing:
            await fetch_order(writing.connection, order_id, for_update=True)
            highest = select(func.max(prompts.c.number)).where(prompts.c.agent_work_order_id == order_id)
            prompt = Prompt(
                agent_work_order_id=order_id,
                number=((await writing.execute(highest)).scalar() or 0) + 1,
                text=text,
                mode=mode,
                created_at=datetime.now(UTC),
            )
            await writing.execute(insert(prompts).values(asdict(prompt)))
            await writing.append(order_id, PromptAccepted(number=prompt.number, mode=mode, text=text))
        return prompt

    async def cancel(self, order_id: str, number: int) -> None:
        """Cancel a prompt that has not become a round; a Conflict when it has."""
        async with self._transactions.writing() as writing:
            await fetch_order(writing.connection, order_id, for_update=True)
            key = (prompts.c.agent_work_order_id == order_id, prompts.c.number == number)
            status = (await writing.execute(select(prompts.c.status).where(*key))).scalar()
            if status is None:
                raise NotFound(f"{order_id} has no prompt {number}", hint="List its prompts first.")
            if status == "started":
                raise Conflict(
                    f"prompt {number} has been started",
                    hint="Pause or cancel the order to stop what it began.",
                )
            if status == "queued":
                await writing.execute(update(prompts).where(*key).values(status="cancelled"))
                await writing.append(order_id, PromptCancelled(number=number))

    async def of_order(self, order_id: str) -> list[Prompt]:
        query = select(prompts).where(prompts.c.agent_work_order_id == order_id).order_by(prompts.c.number)
        async with self._transactions.reading() as connection:
            return [Prompt(**row) for row in await connection.execute(query)]

    async def due_orders(self) -> list[str]:
        """The finished orders that have a queued prompt."""
        async with self._transactions.reading() as connection:
            return (await connection.execute(_DUE_ORDERS)).scalars()

    async def start(
        self, order_id: str, next_round: Callable[[WorkOrder, Prompt, int], OrderChanges]
    ) -> None:
        """Let the oldest queued prompt become the next round of a finished order."""
        async with self._transactions.writing() as writing:
            order = await fetch_order(writing.connection, order_id, for_update=True)
            oldest = (
                select(prompts)
                .where(prompts.c.agent_work_order_id == order_id, prompts.c.status == "queued")
                .order_by(prompts.c.number)
                .limit(1)
            )
            row = (await writing.execute(oldest)).first()
            if row is None or not order.is_finished:
                return
            prompt = Prompt(**row)
            started = select(func.max(prompts.c.round)).where(prompts.c.agent_work_order_id == order_id)
            newest = (await writing.execute(started)).scalar() or 1
            changes = next_round(order, prompt, max(order.round, newest) + 1)
            await writing.execute(
                update(prompts)
                .where(prompts.c.agent_work_order_id == order_id, prompts.c.number == prompt.number)
                .values(status="started", round=changes["round"])
            )
            await write_changes(writing, order_id, changes, datetime.now(UTC))
            await writing.append(order_id, PromptStarted(number=prompt.number, round=changes["round"]))
