"""Who works on which order, written down: claims, signs of life, and work for another machine.

An order is claimed in one transaction, and the claim is what every later write of its worker is held
against. To take an order from a dead worker is to begin another attempt at its round: the claim of the
attempt before is worth nothing from then on.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import bindparam, delete, func, insert, select, text, update

from journeyman.database import Database, Transaction, carry_out, upserting
from journeyman.engine.queue import Waiting, positions
from journeyman.engine.tables import bundles, workers
from journeyman.events.tables import event_counters
from journeyman.events.types import (
    AgentWorkOrderCancelled,
    AgentWorkOrderPaused,
    AgentWorkOrderRequeued,
    Event,
)
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders, order_of, time_worked
from journeyman.work_orders.tables import steps, work_orders

_CLAIMING_LOCK = 870_004

Choose = Callable[[Sequence[Waiting], Sequence[Waiting], int], Collection[str]]
"""Given who waits, who runs anywhere and how many of those run here: who may start here."""


@dataclass(frozen=True)
class Held:
    """An order that a worker has taken up, as far as looking after it is concerned."""

    order_id: str
    worker_id: str
    round: int
    attempt: int
    stop_requested: Literal["paused", "cancelled"] | None
    last_sequence: int
    """How many events it has: what grows while there is progress."""


@dataclass(frozen=True)
class Bundle:
    saved_by: str
    refs: dict[str, str]
    content: bytes


def holder_of(order: WorkOrder, worker_id: str) -> str:
    """What a worker's writes are held against: this attempt at this round, by this worker."""
    return f"{worker_id}/{order.round}/{order.attempt}"


_IN_LINE = select(
    work_orders.c.agent_work_order_id,
    work_orders.c.priority,
    work_orders.c.created_at,
    work_orders.c.repository_url,
    work_orders.c.worker_id,
).where((work_orders.c.worker_id.is_not(None)) | (work_orders.c.status == "pending"))
_TAKE = (
    update(work_orders)
    .where(work_orders.c.agent_work_order_id == bindparam("of_order"))
    .where(work_orders.c.worker_id.is_(None), work_orders.c.status == "pending")
    .values(worker_id=bindparam("taker"))
    .returning(*work_orders.c)
)
_HOLD = (
    update(event_counters)
    .where(event_counters.c.agent_work_order_id == bindparam("of_order"))
    .values(holder=bindparam("taker"))
)


@dataclass(frozen=True)
class _Line:
    waiting: Sequence[Waiting]
    running: Sequence[Waiting]
    here: int


async def _line(connection: Transaction, worker_id: str = "") -> _Line:
    rows = await carry_out(connection, _IN_LINE, {})
    holders = [row["worker_id"] for row in rows]
    orders = [
        Waiting(row["agent_work_order_id"], row["priority"], row["created_at"], row["repository_url"])
        for row in rows
    ]
    return _Line(
        [order for order, holder in zip(orders, holders, strict=True) if holder is None],
        [order for order, holder in zip(orders, holders, strict=True) if holder is not None],
        holders.count(worker_id),
    )


class Claims:
    def __init__(self, database: Database, orders: WorkOrders) -> None:
        self._database = database
        self._orders = orders

    async def claim(self, worker_id: str, choose: Choose) -> list[WorkOrder]:
        """Take up the waiting orders that may start; no two workers ever take the same one."""
        async with self._orders.writing() as writing:
            if not self._database.is_sqlite:
                await writing.execute(text(f"SELECT pg_advisory_xact_lock({_CLAIMING_LOCK})"))
            line = await _line(writing.connection, worker_id)
            taken = []
            for order_id in choose(line.waiting, line.running, line.here) if line.waiting else ():
                mine = {"of_order": order_id, "taker": worker_id}
                for row in await carry_out(writing.connection, _TAKE, mine):  # none, if it was stopped since
                    order = order_of(row)
                    held = {"of_order": order_id, "taker": holder_of(order, worker_id)}
                    await carry_out(writing.connection, _HOLD, held)
                    taken.append(order)
        return taken

    async def positions(self) -> dict[str, int]:
        """The place in the line of every order that waits."""
        async with self._database.reading() as connection:
            line = await _line(connection)
        return positions(line.waiting, line.running)

    async def held_by(self, worker_id: str) -> list[Held]:
        column = work_orders.c
        query = (
            select(
                column.agent_work_order_id.label("order_id"),
                column.worker_id,
                column.round,
                column.attempt,
                column.stop_requested,
                event_counters.c.last_sequence,
            )
            .join(event_counters, event_counters.c.agent_work_order_id == column.agent_work_order_id)
            .where(column.worker_id == worker_id)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [Held(**row) for row in rows]

    async def orders_held_by(self, worker_id: str) -> list[WorkOrder]:
        async with self._database.reading() as connection:
            query = select(work_orders).where(work_orders.c.worker_id == worker_id)
            rows = (await connection.execute(query)).mappings().all()
        return [order_of(row) for row in rows]

    async def reclaim(self, held: Held, reason: str) -> bool:
        """Take an order from a worker that does not go on with it; False when it was too late for that.

        Steps that were cut off count as not done; whoever takes the order up next begins with them. An order
        that was to be stopped is stopped by this.
        """
        column, order_id = work_orders.c, held.order_id
        stopped: dict[str, Event] = {
            "paused": AgentWorkOrderPaused(),
            "cancelled": AgentWorkOrderCancelled(),
        }
        told: list[Event] = [AgentWorkOrderRequeued(worker_id=held.worker_id, reason=reason)]
        if held.stop_requested is not None:
            told.append(stopped[held.stop_requested])
        async with self._orders.writing() as writing:
            same_attempt = (
                (column.agent_work_order_id == order_id)
                & (column.worker_id == held.worker_id)
                & (column.round == held.round)
                & (column.attempt == held.attempt)
            )
            now = datetime.now(UTC)
            rows = (await writing.execute(select(work_orders).where(same_attempt))).mappings().all()
            worked = [time_worked(order_of(row), is_active=False, now=now) for row in rows]
            changed = await writing.execute(
                update(work_orders)
                .where(same_attempt)
                .values(
                    status=held.stop_requested or "pending",
                    attempt=held.attempt + 1,
                    worker_id=None,
                    stop_requested=None,
                    updated_at=now,
                    **(worked[0] if worked else {}),
                )
            )
            if not changed.rowcount:
                return False
            await writing.execute(
                update(steps)
                .where(
                    steps.c.agent_work_order_id == order_id,
                    steps.c.round == held.round,
                    steps.c.status == "running",
                )
                .values(status="waiting")
            )
            await writing.release(order_id)
            await writing.tell(order_id, *told)
        return True

    async def heartbeat(self, worker_id: str, name: str) -> bool:
        """Give a sign of life. False when this worker had been given up, or is new."""
        async with self._database.writing() as connection:
            beaten = await connection.execute(
                update(workers).where(workers.c.worker_id == worker_id).values(beats=workers.c.beats + 1)
            )
            if beaten.rowcount:
                return True
            await connection.execute(
                insert(workers).values(worker_id=worker_id, name=name, beats=0, started_at=datetime.now(UTC))
            )
        return False

    async def heartbeats(self) -> dict[str, int]:
        """How often each worker has given one."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(workers.c.worker_id, workers.c.beats))).all()
        return {row.worker_id: row.beats for row in rows}

    async def expire(self, worker_id: str, beats: int) -> bool:
        """Count a worker as dead, unless it gave a sign of life since."""
        async with self._database.writing() as connection:
            gone = await connection.execute(
                delete(workers).where(workers.c.worker_id == worker_id, workers.c.beats == beats)
            )
        return bool(gone.rowcount)

    async def deregister(self, worker_id: str) -> None:
        """A worker that holds nothing any more leaves."""
        async with self._database.writing() as connection:
            await connection.execute(delete(workers).where(workers.c.worker_id == worker_id))

    async def holders(self) -> set[str]:
        """Every worker that holds an order."""
        async with self._database.reading() as connection:
            query = select(work_orders.c.worker_id).where(work_orders.c.worker_id.is_not(None)).distinct()
            return set((await connection.execute(query)).scalars())

    async def save_bundle(self, orders: WorkOrders, order_id: str, bundle: Bundle) -> None:
        """Keep an order's work, unless its worker has lost the order: then there is newer work."""
        values: dict[str, Any] = {
            "agent_work_order_id": order_id,
            "saved_by": bundle.saved_by,
            "refs": bundle.refs,
            "content": bundle.content,
            "saved_at": datetime.now(UTC),
        }
        async with orders.writing() as writing:
            await writing.execute(
                upserting(self._database.dialect)(bundles)
                .values(values)
                .on_conflict_do_update(index_elements=["agent_work_order_id"], set_=values)
            )
            await writing.tell(order_id)

    async def bundle(self, order_id: str) -> Bundle | None:
        async with self._database.reading() as connection:
            query = select(bundles).where(bundles.c.agent_work_order_id == order_id)
            row = (await connection.execute(query)).mappings().first()
        return Bundle(row["saved_by"], row["refs"], row["content"]) if row else None

    async def forget_bundle(self, order_id: str) -> None:
        async with self._database.writing() as connection:
            await connection.execute(delete(bundles).where(bundles.c.agent_work_order_id == order_id))

    async def has_bundle_of_another(self, order_id: str, worker_id: str) -> bool:
        """Whether the newest work on an order was done by another worker."""
        async with self._database.reading() as connection:
            query = select(func.count()).where(
                bundles.c.agent_work_order_id == order_id, bundles.c.saved_by != worker_id
            )
            return bool((await connection.execute(query)).scalar_one())
