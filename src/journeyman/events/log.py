"""Append to the log and read it after a cursor.

`append` takes the caller's transaction, so that an event is written exactly when the change it
tells is; the reader is woken by the feed after the commit.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from journeyman.database import Database, Transaction, upserting
from journeyman.events.tables import event_counters, events
from journeyman.events.types import CHATTER, EVENT, Event, StoredEvent


async def append(connection: Transaction, order_id: str, new: Sequence[Event]) -> list[StoredEvent]:
    """Write events with the next numbers of their order, in the caller's transaction."""
    return await connection.run_sync(_append, order_id, new) if new else []


@cache
def _counting(dialect: str) -> Any:
    """Built once: this is the statement that every change in the house waits for."""
    return (
        upserting(dialect)(event_counters)
        .values(agent_work_order_id=bindparam("order_id"), last_sequence=bindparam("more"))
        .on_conflict_do_update(
            index_elements=["agent_work_order_id"],
            set_={"last_sequence": event_counters.c.last_sequence + bindparam("more")},
        )
        .returning(event_counters.c.last_sequence)
    )


_WRITE = insert(events)


def _append(connection: Connection, order_id: str, new: Sequence[Event]) -> list[StoredEvent]:
    count = _counting(connection.dialect.name)
    last = connection.execute(count, {"order_id": order_id, "more": len(new)}).scalar_one()
    now = datetime.now(UTC)
    stored = [
        StoredEvent.model_construct(
            agent_work_order_id=order_id, sequence=last - len(new) + place, timestamp=now, event=event
        )
        for place, event in enumerate(new, start=1)
    ]
    connection.execute(
        _WRITE,
        [
            {
                "agent_work_order_id": order_id,
                "sequence": one.sequence,
                "timestamp": one.timestamp,
                "type": one.event.type,
                "data": one.event.model_dump(mode="json", exclude={"type"}),
            }
            for one in stored
        ],
    )
    return stored


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
        rows = (await connection.execute(query)).mappings().all()
    return [_stored(row) for row in rows]


async def page(
    database: Database, order_id: str, *, limit: int, offset: int
) -> tuple[list[StoredEvent], int]:
    """Events without chatter by place, and how many there are: what the logs show."""
    wanted = (events.c.agent_work_order_id == order_id, events.c.type.not_in(CHATTER))
    async with database.reading() as connection:
        total = (
            await connection.execute(select(func.count()).select_from(events).where(*wanted))
        ).scalar_one()
        query = select(events).where(*wanted).order_by(events.c.sequence).limit(limit).offset(offset)
        rows = (await connection.execute(query)).mappings().all()
    return [_stored(row) for row in rows], total


def _stored(row: Any) -> StoredEvent:
    return StoredEvent(
        agent_work_order_id=row["agent_work_order_id"],
        sequence=row["sequence"],
        timestamp=row["timestamp"],
        event=EVENT.validate_python({"type": row["type"], **row["data"]}),
    )
