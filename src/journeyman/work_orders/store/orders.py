"""The orders themselves: created, found, changed; their steps, prompts and other records by noun."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Unpack

from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.exc import IntegrityError

from journeyman.access.redaction import Redactor
from journeyman.database import Database, Prepared
from journeyman.errors import Conflict
from journeyman.events import log
from journeyman.events.feed import Feed
from journeyman.events.types import Event
from journeyman.work_orders.changes import DecidedChange, OrderChanges, check_unmoved, time_worked
from journeyman.work_orders.lifecycle import advance
from journeyman.work_orders.order import FINISHED, StepRecord, WorkOrder
from journeyman.work_orders.store.approvals import Approvals
from journeyman.work_orders.store.baselines import Baselines
from journeyman.work_orders.store.check_outputs import CheckOutputs
from journeyman.work_orders.store.evidence import StoredEvidence
from journeyman.work_orders.store.filters import OrderFilter, Sort
from journeyman.work_orders.store.flaky_tests import FlakyTests
from journeyman.work_orders.store.network import NetworkGrants
from journeyman.work_orders.store.prompts import Prompts
from journeyman.work_orders.store.repositories import RepositoryRecords, insert_if_new
from journeyman.work_orders.store.rows import fetch_order, order_of, write_changes
from journeyman.work_orders.store.steps import StepRecords
from journeyman.work_orders.store.transactions import Transactions, Writing
from journeyman.work_orders.store.usage import UsageTotals
from journeyman.work_orders.tables import steps, work_orders

_NEW = Prepared(insert(work_orders))
_DUE = Prepared(
    select(work_orders.c.agent_work_order_id).where(
        work_orders.c.status == "paused", work_orders.c.resume_at <= bindparam("now")
    )
)
_COUNT_WAITING = Prepared(
    select(func.count()).where(work_orders.c.status == "pending", work_orders.c.worker_id.is_(None))
)


class WorkOrders:
    def __init__(
        self, database: Database, feed: Feed, redactor: Redactor, *, holder: str | None = None
    ) -> None:
        self.database = database
        self._transactions = transactions = Transactions(database, feed, redactor, holder)
        self.steps = StepRecords(transactions)
        self.prompts = Prompts(transactions)
        self.approvals = Approvals(transactions)
        self.evidence = StoredEvidence(transactions)
        self.check_outputs = CheckOutputs(transactions)
        self.usage = UsageTotals(transactions)
        self.repositories = RepositoryRecords(transactions)
        self.grants = NetworkGrants(transactions)
        self.baselines = Baselines(transactions)
        self.flaky_tests = FlakyTests(transactions)

    @property
    def holder(self) -> str | None:
        """As whom it writes; None is anybody, who holds nothing."""
        return self._transactions.holder

    def held_by(self, holder: str | None) -> "WorkOrders":
        """The same orders for a worker: what it writes counts only while it holds the order."""
        shared = self._transactions
        return WorkOrders(self.database, shared.feed, shared.redactor, holder=holder)

    def writing(self) -> AbstractAsyncContextManager[Writing]:
        """One transaction; its events are published when it is committed."""
        return self._transactions.writing()

    def redact(self, text: str) -> str:
        """Text without the server's secrets, as events are stored."""
        return self._transactions.redactor.redact(text)

    async def check_held(self, order_id: str) -> None:
        """Raise Superseded when this worker has lost the order.

        Called before something outside is changed (a push, a pull request), which no rollback can undo: to
        append no event changes nothing, but passes the fence all the same.
        """
        async with self.writing() as writing:
            await writing.append(order_id)

    async def create(
        self,
        order: WorkOrder,
        *events: Event,
        steps_done: Sequence[StepRecord] = (),
    ) -> None:
        """Store a new order, and its repository when it is the first; a Conflict when its id is taken."""
        try:
            async with self.writing() as writing:
                await writing.execute(_NEW, asdict(order))
                await insert_if_new(writing, order.repository_url)
                if steps_done:
                    await writing.execute(insert(steps), [asdict(one) for one in steps_done])
                await writing.append(order.agent_work_order_id, *events)
        except IntegrityError as error:
            raise Conflict(
                f"there is an order {order.agent_work_order_id} already", hint="Ask again."
            ) from error

    async def get(self, order_id: str) -> WorkOrder:
        async with self.database.reading() as connection:
            return await fetch_order(connection, order_id)

    async def find(
        self, wanted: OrderFilter, *, limit: int = 50, offset: int = 0, sort: Sort = "-created_at"
    ) -> tuple[list[WorkOrder], int]:
        """A page of the orders that match, and how many match in all."""
        column = work_orders.c[sort.removeprefix("-")]
        ordering = column.desc() if sort.startswith("-") else column.asc()
        conditions = wanted.conditions()
        count = select(func.count()).select_from(work_orders).where(*conditions)
        query = (
            select(work_orders)
            .where(*conditions)
            .order_by(ordering, work_orders.c.agent_work_order_id)
            .limit(limit)
            .offset(offset)
        )
        async with self.database.reading() as connection:
            total: int = (await connection.execute(count)).scalar()
            rows = await connection.execute(query)
        return [order_of(row) for row in rows], total

    async def change(self, order_id: str, *events: Event, **changes: Unpack[OrderChanges]) -> WorkOrder:
        """Change an order and append events, in one transaction. A status that may not follow is a Conflict.

        An order that stops running is released: no worker holds it any more.
        """
        return await self.change_with(order_id, lambda _: (events, changes))

    async def change_if_unclaimed(
        self, seen: WorkOrder, *events: Event, **changes: Unpack[OrderChanges]
    ) -> WorkOrder:
        """As `change`, but Superseded when a worker has claimed the order, or it has moved on since."""

        def decide(now: WorkOrder) -> DecidedChange:
            check_unmoved(now, seen)
            return events, changes

        return await self.change_with(seen.agent_work_order_id, decide)

    async def change_with(self, order_id: str, decide: Callable[[WorkOrder], DecidedChange]) -> WorkOrder:
        """As `change`, decided on the locked order. What `decide` raises rolls back."""
        async with self.writing() as writing:
            current = await fetch_order(writing.connection, order_id, for_update=True)
            events, decided = decide(current)
            await writing.append(order_id, *events)
            now = datetime.now(UTC)
            changes = decided.copy()
            if "status" in decided:
                status = advance(current.status, decided["status"])
                changes.update(time_worked(current, is_active=status == "running", now=now))
                if status != "running":
                    changes.update({"worker_id": None, "stop_requested": None})
                    await writing.release(order_id)
            return await write_changes(writing, order_id, changes, now)

    async def emit(self, order_id: str, *events: Event) -> None:
        """Append events that change nothing about the order."""
        async with self.writing() as writing:
            await writing.append(order_id, *events)

    async def chatter_bytes(self, order_id: str) -> int:
        """About how much of what the order's agents and tools said is stored."""
        return await log.chatter_bytes(self.database, order_id)

    async def due_to_resume(self) -> list[str]:
        """The paused orders whose time to resume by themselves has come."""
        async with self.database.reading() as connection:
            return (await connection.execute(_DUE, {"now": datetime.now(UTC)})).scalars()

    async def count_waiting(self) -> int:
        """How many orders wait in line for a worker."""
        async with self.database.reading() as connection:
            count: int = (await connection.execute(_COUNT_WAITING)).scalar()
        return count

    async def unfinished(self) -> list[WorkOrder]:
        """Every order that is not finished, oldest first."""
        query = (
            select(work_orders)
            .where(work_orders.c.status.not_in(FINISHED))
            .order_by(work_orders.c.created_at)
        )
        async with self.database.reading() as connection:
            return [order_of(row) for row in await connection.execute(query)]
