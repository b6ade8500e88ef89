"""Append to the log and read it after a cursor.

`append` takes the caller's transaction, so that an event is committed exactly when its change is; the feed
wakes readers after the commit.

Sequence numbers of an order are dense: 1, 2, 3 … with no gap. Each append first adds to the order's counter,
which locks that row until the transaction ends. So numbers are committed in their order, a rollback gives
them back, and a reader that has seen number 7 can never miss a 6 that is committed later.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Text, bindparam, cast, delete, func, insert, select

from journeyman.database import Database, Prepared, Transaction, upserting
from journeyman.errors import Superseded
from journeyman.events.tables import event_counters, events
from journeyman.events.types import CHATTER, EVENT, Event, StoredEvent


async def append(
    connection: Transaction, order_id: str, new: Sequence[Event], *, holder: str | None = None
) -> list[StoredEvent]:
    """Write events with the next numbers of their order, in the caller's transaction.

    With a holder, the statement that counts is also the fence: it finds no row when another holder is
    written there, and Superseded is raised. That is so with no event at all, too.
    """
    if not new and not holder:
        return []
    count = _counting(connection.dialect, holder is not None)
    values = {"order_id": order_id, "more": len(new)} | ({"held_by": holder} if holder else {})
    counted = await connection.execute(count, values)
    if not counted:
        raise Superseded(f"{order_id} is no longer held by {holder}", hint="Another worker goes on with it.")
    if not new:
        return []
    before, now = counted[0]["last_sequence"] - len(new), datetime.now(UTC)
    stored = [
        StoredEvent.model_construct(
            agent_work_order_id=order_id, sequence=before + place, timestamp=now, event=event
        )
        for place, event in enumerate(new, start=1)
    ]
    await connection.execute(_WRITE, [_row(one) for one in stored])
    return stored


@cache
def _counting(dialect: str, for_holder: bool) -> Prepared:
    """Every change of an order runs this statement: it numbers the events and checks the holder."""
    return Prepared(
        upserting(dialect)(event_counters)
        .values(agent_work_order_id=bindparam("order_id"), last_sequence=bindparam("more"))
        .on_conflict_do_update(
            index_elements=["agent_work_order_id"],
            set_={"last_sequence": event_counters.c.last_sequence + bindparam("more")},
            where=event_counters.c.holder == bindparam("held_by") if for_holder else None,
        )
        .returning(event_counters.c.last_sequence)
    )


_WRITE = Prepared(insert(events))


def _row(stored: StoredEvent) -> dict[str, Any]:
    return {
        "agent_work_order_id": stored.agent_work_order_id,
        "sequence": stored.sequence,
        "timestamp": stored.timestamp,
        "type": stored.event.type,
        "data": stored.event.model_dump(mode="json", exclude={"type"}),
    }


async def read(
    database: Database,
    order_id: str,
    *,
    after: int = 0,
    limit: int = 500,
    without_chatter: bool = False,
) -> list[StoredEvent]:
    """The events after a sequence number, oldest first."""
    query = (
        select(events)
        .where(events.c.agent_work_order_id == order_id, events.c.sequence > after)
        .order_by(events.c.sequence)
        .limit(limit)
    )
    if without_chatter:
        query = query.where(events.c.type.not_in(CHATTER))
    async with database.reading() as connection:
        rows = await connection.execute(query)
    return [_stored(row) for row in rows]


async def read_all(database: Database, order_id: str) -> list[StoredEvent]:
    """Every event of an order but what agents and tools said, oldest first."""
    found: list[StoredEvent] = []
    while batch := await read(
        database, order_id, after=found[-1].sequence if found else 0, without_chatter=True
    ):
        found.extend(batch)
    return found


async def first_of(database: Database, order_id: str, type: str) -> StoredEvent | None:
    """The first event of a type, where an order has one."""
    query = (
        select(events)
        .where(events.c.agent_work_order_id == order_id, events.c.type == type)
        .order_by(events.c.sequence)
        .limit(1)
    )
    async with database.reading() as connection:
        row = (await connection.execute(query)).first()
    return _stored(row) if row else None


async def last_of(database: Database, order_id: str, type: str) -> StoredEvent | None:
    """The newest event of a type, where an order has one."""
    query = (
        select(events)
        .where(events.c.agent_work_order_id == order_id, events.c.type == type)
        .order_by(events.c.sequence.desc())
        .limit(1)
    )
    async with database.reading() as connection:
        row = (await connection.execute(query)).first()
    return _stored(row) if row else None


async def last_sequences(database: Database, order_ids: Collection[str]) -> dict[str, int]:
    """How far the log of each of these orders has come."""
    query = select(event_counters.c.agent_work_order_id, event_counters.c.last_sequence).where(
        event_counters.c.agent_work_order_id.in_(order_ids)
    )
    async with database.reading() as connection:
        rows = await connection.execute(query)
    return {row["agent_work_order_id"]: row["last_sequence"] for row in rows}


async def page(
    database: Database, order_id: str, *, limit: int, offset: int
) -> tuple[list[StoredEvent], int]:
    """A page of the events without chatter, and how many there are: what the logs show."""
    wanted = (events.c.agent_work_order_id == order_id, events.c.type.not_in(CHATTER))
    async with database.reading() as connection:
        total = (await connection.execute(select(func.count()).select_from(events).where(*wanted))).scalar()
        query = select(events).where(*wanted).order_by(events.c.sequence).limit(limit).offset(offset)
        rows = await connection.execute(query)
    return [_stored(row) for row in rows], total


async def with_chatter(database: Database, order_ids: Sequence[str]) -> set[str]:
    """Those of the orders that have chatter stored."""
    query = (
        select(events.c.agent_work_order_id)
        .where(events.c.agent_work_order_id.in_(order_ids), events.c.type.in_(CHATTER))
        .distinct()
    )
    async with database.reading() as connection:
        return set((await connection.execute(query)).scalars())


async def chatter_bytes(database: Database, order_id: str) -> int:
    """About how many bytes of an order's chatter are stored."""
    size = func.coalesce(func.sum(func.length(cast(events.c.data, Text))), 0)
    query = select(size).where(events.c.agent_work_order_id == order_id, events.c.type.in_(CHATTER))
    async with database.reading() as connection:
        return int((await connection.execute(query)).scalar())


async def forget_chatter(database: Database, order_id: str) -> None:
    """Remove what agents and tools said; the numbers of what stays do not change."""
    chatter = (events.c.agent_work_order_id == order_id, events.c.type.in_(CHATTER))
    async with database.writing() as connection:
        await connection.execute(delete(events).where(*chatter))


def _stored(row: Any) -> StoredEvent:
    return StoredEvent(
        agent_work_order_id=row["agent_work_order_id"],
        sequence=row["sequence"],
        timestamp=row["timestamp"],
        event=EVENT.validate_python({"type": row["type"], **row["data"]}),
    )
