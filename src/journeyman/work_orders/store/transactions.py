"""Transactions in which a change and its events are written together, fenced by the order's holder.

Fencing: a worker that claims an order becomes its holder, one text of worker, round, attempt and claim, in
the row of `event_counters` that also numbers the order's events. Every write of a worker appends at least
zero events, so it passes that row and names its holder. Once the order was given to another worker, or to
another attempt, the names differ, the write raises Superseded and its whole transaction is rolled back:
a worker that was frozen or cut off cannot overwrite what its successor does, whatever its clock says.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy import Executable, bindparam, update

from journeyman import telemetry
from journeyman.access.redaction import Redactor
from journeyman.database import Database, Prepared, Rows, Transaction, Values
from journeyman.events import log
from journeyman.events.feed import Feed
from journeyman.events.tables import event_counters
from journeyman.events.types import CHATTER, EVENT, Event, StoredEvent

_RELEASE = Prepared(
    update(event_counters)
    .where(event_counters.c.agent_work_order_id == bindparam("of_order"))
    .values(holder=None)
)
_MOVES_THE_LINE = frozenset(
    {
        "agent_work_order_created",
        "agent_work_order_resumed",
        "agent_work_order_retried",
        "agent_work_order_requeued",
        "agent_work_order_completed",
        "agent_work_order_failed",
        "agent_work_order_cancelled",
        "agent_work_order_paused",
        "agent_work_order_awaiting_approval",
        "prompt_accepted",
        "prompt_started",
    }
)
"""The events after which an order waits that did not before, or a place is free."""


@dataclass(frozen=True)
class Writing:
    """One transaction: its changes and the events about them are all written, or none of them.

    Change an order before you append its events. Every writer takes the row of the order first and its
    event counter second, so that two writers of the same order cannot deadlock.
    """

    connection: Transaction
    redactor: Redactor
    holder: str | None
    stored: list[StoredEvent] = field(default_factory=list)

    async def execute(self, statement: Executable | Prepared, values: Values | None = None) -> Rows:
        return await self.connection.execute(statement, values)

    async def append(self, order_id: str, *events: Event) -> None:
        """Write events of an order. Raises Superseded when a worker writes that no longer holds it."""
        clean = [_without_secrets(event, self.redactor) for event in events]
        self.stored.extend(await log.append(self.connection, order_id, clean, holder=self.holder))

    async def release(self, order_id: str) -> None:
        """Let no worker hold the order."""
        await self.connection.execute(_RELEASE, {"of_order": order_id})


@dataclass(frozen=True)
class Transactions:
    """Opens transactions on orders; with a holder, each write counts only while it holds the order."""

    database: Database
    feed: Feed
    redactor: Redactor
    holder: str | None = None

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        return self.database.reading()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Writing]:
        """A transaction whose events are logged, and their readers woken, once it is committed."""
        async with self.database.writing() as connection:
            writing = Writing(connection, self.redactor, self.holder)
            yield writing
            if any(one.event.type in _MOVES_THE_LINE for one in writing.stored):
                await self.database.notify(connection)
        _log(writing.stored)
        if writing.stored:
            self.feed.notify(writing.stored[0].agent_work_order_id)


def _log(stored: Sequence[StoredEvent]) -> None:
    for one in stored:
        if one.event.type not in CHATTER:
            telemetry.log_for_order(
                one.agent_work_order_id,
                one.event.type,
                sequence=one.sequence,
                **one.event.model_dump(mode="json", exclude={"type"}),
            )


def _without_secrets(event: Event, redactor: Redactor) -> Event:
    text = event.model_dump_json()
    clean = redactor.redact(text)
    return event if clean == text else EVENT.validate_json(clean)
