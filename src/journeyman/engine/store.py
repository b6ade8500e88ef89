"""Who works on which order: claims, heartbeats, and bundles of work for another machine.

An order is claimed in one transaction, and the claim is what every later write of its worker is held
against: once the order is taken from it, whatever it still writes is refused.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import (
    Integer,
    String,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    select,
    text,
    update,
)

from journeyman.database import Database, Prepared, upserting
from journeyman.engine.attempt import Attempt
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

_NO_LIMIT = 2**31 - 1


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


_column = work_orders.c
_is_waiting = (_column.status == "pending") & _column.worker_id.is_(None)
_running = (
    select(_column.repository_url, func.count().label("orders"))
    .where(_column.worker_id.is_not(None))
    .group_by(_column.repository_url)
    .subquery("running")
)
_placed = (
    select(
        _column.agent_work_order_id,
        _column.priority,
        _column.created_at,
        (
            func.coalesce(_running.c.orders, 0)
            + func.row_number().over(
                partition_by=_column.repository_url,
                order_by=(_column.priority.desc(), _column.created_at, _column.agent_work_order_id),
            )
            - 1
        ).label("before_it"),
    )
    .join_from(work_orders, _running, _running.c.repository_url == _column.repository_url, isouter=True)
    .where(_is_waiting)
    .subquery("placed")
)
"""The waiting orders, each with how many of its repository run or come before it."""
_LINE = Prepared(
    select(_placed.c.agent_work_order_id)
    .where(_placed.c.before_it < bindparam("per_repository", type_=Integer))
    .order_by(
        _placed.c.priority.desc(),
        _placed.c.before_it,
        _placed.c.created_at,
        _placed.c.agent_work_order_id,
    )
    .limit(bindparam("free", type_=Integer))
)
"""Who comes after whom: the highest priority first; among equals repositories take turns, so that a hundred
orders of one do not hold up the first of another; then the one that has waited longest."""
_ROOM = Prepared(
    select(
        select(func.count()).where(_column.worker_id == bindparam("taker")).scalar_subquery().label("here"),
        exists().where(_is_waiting).label("anybody_waits"),
    )
)
_TAKE = Prepared(
    update(work_orders)
    .where(work_orders.c.agent_work_order_id == bindparam("of_order"))
    .where(work_orders.c.worker_id.is_(None), work_orders.c.status == "pending")
    .values(worker_id=bindparam("taker"))
    .returning(*work_orders.c)
)
_HOLD = Prepared(
    update(event_counters)
    .where(event_counters.c.agent_work_order_id == bindparam("of_order"))
    .values(holder=bindparam("taker", type_=String) + "/" + cast(event_counters.c.last_sequence, String))
)
"""No two claims of an order write as the same: a claim is followed by an event before there is another."""


def _holder(attempt: Attempt, worker_id: str) -> str:
    return f"{worker_id}/{attempt.round}/{attempt.number}"


class Claims:
    def __init__(self, database: Database, orders: WorkOrders) -> None:
        self._database = database
        self._orders = orders

    async def claim(
        self, worker_id: str, *, places: int, per_repository: int | None = None
    ) -> list[WorkOrder]:
        """Take up the waiting orders that may start; no two workers ever take the same one.

        `places` is how many orders this worker carries out at once, `per_repository` how many of one
        repository all workers do. Whether there is room and anybody waits is looked at first: only a worker
        that could take something asks for the lock that keeps two from choosing at once.
        """
        async with self._database.reading() as connection:
            room = (await connection.execute(_ROOM, {"taker": worker_id}))[0]
        if room["here"] >= places or not room["anybody_waits"]:
            return []
        limits = {
            "free": places - room["here"],
            "per_repository": _NO_LIMIT if per_repository is None else per_repository,
        }
        async with self._orders.writing() as writing:
            if not self._database.is_sqlite:
                await writing.execute(text(f"SELECT pg_advisory_xact_lock({_CLAIMING_LOCK})"))
            taken = []
            for order_id in (await writing.execute(_LINE, limits)).scalars():
                mine = {"of_order": order_id, "taker": worker_id}
                for row in await writing.execute(_TAKE, mine):  # none, if it was stopped since
                    order = order_of(row)
                    held = {"of_order": order_id, "taker": _holder(Attempt.current(order), worker_id)}
                    await writing.execute(_HOLD, held)
                    taken.append(order)
        return taken

    async def holder(self, attempt: Attempt, worker_id: str) -> str:
        """As whom a worker writes in an attempt that it has claimed; refused at each write if it has not."""
        query = select(event_counters.c.holder).where(
            event_counters.c.agent_work_order_id == attempt.order_id
        )
        async with self._database.reading() as connection:
            current = (await connection.execute(query)).scalar()
        own = _holder(attempt, worker_id)
        return current if current is not None and current.startswith(f"{own}/") else own

    async def positions(self) -> dict[str, int]:
        """The place in the line of every order that waits; 1 is the next."""
        everybody = {"free": _NO_LIMIT, "per_repository": _NO_LIMIT}
        async with self._database.reading() as connection:
            line = (await connection.execute(_LINE, everybody)).scalars()
        return {order_id: place for place, order_id in enumerate(line, start=1)}

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
            rows = await connection.execute(query)
        return [Held(**row) for row in rows]

    async def orders_held_by(self, worker_id: str) -> list[WorkOrder]:
        async with self._database.reading() as connection:
            query = select(work_orders).where(work_orders.c.worker_id == worker_id)
            rows = await connection.execute(query)
        return [order_of(row) for row in rows]

    async def reclaim(self, held: Held, reason: str, *, new_attempt: bool = False) -> bool:
        """Take an order from a worker that does not go on with it; False when it was too late for that.

        Steps that were cut off count as not done; whoever takes the order up next begins with them, in the
        same attempt unless that one came to no good. An order that was to be stopped is stopped by this.
        """
        column, order_id = work_orders.c, held.order_id
        stopped: dict[str, Event] = {
            "paused": AgentWorkOrderPaused(),
            "cancelled": AgentWorkOrderCancelled(),
        }
        events: list[Event] = [AgentWorkOrderRequeued(worker_id=held.worker_id, reason=reason)]
        if held.stop_requested is not None:
            events.append(stopped[held.stop_requested])
        async with self._orders.writing() as writing:
            same_attempt = (
                (column.agent_work_order_id == order_id)
                & (column.worker_id == held.worker_id)
                & (column.round == held.round)
                & (column.attempt == held.attempt)
            )
            now = datetime.now(UTC)
            rows = await writing.execute(select(work_orders).where(same_attempt))
            worked = [time_worked(order_of(row), is_active=False, now=now) for row in rows]
            changed = await writing.execute(
                update(work_orders)
                .where(same_attempt)
                .values(
                    status=held.stop_requested or "pending",
                    attempt=held.attempt + new_attempt,
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
            await writing.append(order_id, *events)
        return True

    async def heartbeat(self, worker_id: str, name: str) -> bool:
        """Count up. False when this worker had been given up, or is new."""
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
        """The count of each worker."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(workers.c.worker_id, workers.c.beats))
        return {row["worker_id"]: row["beats"] for row in rows}

    async def expire(self, worker_id: str, beats: int) -> bool:
        """Count a worker as dead, unless it gave a heartbeat since."""
        async with self._database.writing() as connection:
            gone = await connection.execute(
                delete(workers).where(workers.c.worker_id == worker_id, workers.c.beats == beats)
            )
        return bool(gone.rowcount)

    async def deregister(self, worker_id: str) -> None:
        """A worker that holds nothing any more leaves."""
        async with self._database.writing() as connection:
            await connection.execute(delete(workers).where(workers.c.worker_id == worker_id))

    async def dead_holders(self) -> set[str]:
        """Every worker that holds an order and is not alive."""
        alive = select(workers.c.worker_id)
        query = select(_column.worker_id).where(_column.worker_id.is_not(None)).distinct()
        async with self._database.reading() as connection:
            return set((await connection.execute(query.where(_column.worker_id.not_in(alive)))).scalars())

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
            await writing.append(order_id)

    async def bundle(self, order_id: str) -> Bundle | None:
        async with self._database.reading() as connection:
            query = select(bundles).where(bundles.c.agent_work_order_id == order_id)
            row = (await connection.execute(query)).first()
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
            return bool((await connection.execute(query)).scalar())
