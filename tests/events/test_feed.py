"""Readers of the feed see every event once, in order, wherever they begin."""

import asyncio

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.events.feed import Feed
from journeyman.events.types import AgentText, AgentWorkOrderCompleted, StepSkipped, StoredEvent
from journeyman.work_orders.store import WorkOrders


def text(n: int) -> AgentText:
    return AgentText(step="build", text=str(n))


async def read(feed: Feed, *, after: int = 0, without_chatter: bool = False) -> list[StoredEvent]:
    """What a reader sees up to the order's end."""
    seen = []
    async for stored in feed.follow("wo-1", after=after, without_chatter=without_chatter):
        seen.append(stored)
        if stored.event.type == "agent_work_order_completed":
            break
    return seen


async def test_a_reader_gets_what_was_and_what_comes(database: Database) -> None:
    feed = Feed(database)
    orders = WorkOrders(database, feed, Redactor([]))
    await orders.emit("wo-1", text(1), text(2))

    reader = asyncio.create_task(read(feed))
    for n in range(3, 30):
        await orders.emit("wo-1", text(n))
    await orders.emit("wo-1", AgentWorkOrderCompleted(verification="passed"))
    assert [stored.sequence for stored in await asyncio.wait_for(reader, 10)] == list(range(1, 31))


async def test_a_reader_goes_on_after_its_cursor(database: Database) -> None:
    feed = Feed(database)
    orders = WorkOrders(database, feed, Redactor([]))
    await orders.emit("wo-1", text(1), text(2), AgentWorkOrderCompleted(verification="none"))
    assert [stored.sequence for stored in await read(feed, after=1)] == [2, 3]


async def test_status_readers_do_not_get_what_agents_and_tools_say(database: Database) -> None:
    feed = Feed(database)
    orders = WorkOrders(database, feed, Redactor([]))
    skipped = StepSkipped(step="x", kind="shell", reason="no")
    await orders.emit("wo-1", text(1), skipped, AgentWorkOrderCompleted(verification="none"))
    seen = await read(feed, without_chatter=True)
    assert [stored.event.type for stored in seen] == ["step_skipped", "agent_work_order_completed"]


async def test_closing_the_feed_ends_every_open_stream(database: Database) -> None:
    feed = Feed(database)

    reader = asyncio.create_task(read(feed))
    await asyncio.sleep(0)
    feed.close()
    assert await asyncio.wait_for(reader, 10) == []
