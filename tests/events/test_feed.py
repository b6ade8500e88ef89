"""Readers of the feed see every event once, in order, wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from journeyman.access.redaction import Redactor
from journeyman.database import Database, Transaction
from journeyman.database import database_url as async_url
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


async def test_events_may_be_written_on_another_loop_than_the_readers(
    database: Database, database_url: str, home: Path
) -> None:
    asyncio.get_running_loop().set_debug(True)  # what is not safe between threads is then refused
    feed = Feed(database)
    orders = WorkOrders(database, feed, Redactor([]))
    await orders.emit("wo-1", text(1))
    first = asyncio.Event()

    async def follow() -> list[int]:
        numbers = []
        async for stored in feed.follow("wo-1"):
            numbers.append(stored.sequence)
            first.set()
            if stored.event.type == "agent_work_order_completed":
                break
        return numbers

    async def write_there() -> None:
        there = Database(async_url(database_url, home))
        elsewhere = WorkOrders(there, feed, Redactor([]))
        for n in range(20):
            await elsewhere.emit("wo-1", text(n))
        await elsewhere.emit("wo-1", AgentWorkOrderCompleted(verification="passed"))
        await there.close()

    reader = asyncio.create_task(follow())
    await first.wait()
    await asyncio.to_thread(asyncio.run, write_there())
    assert await asyncio.wait_for(reader, 10) == list(range(1, 23))


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


class CountingDatabase(Database):
    looks = 0

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        self.looks += 1
        async with super().reading() as transaction:
            yield transaction


async def test_many_readers_see_everything_once_and_look_into_the_log_together(
    database: Database, database_url: str, home: Path
) -> None:
    counting = CountingDatabase(async_url(database_url, home))
    feed = Feed(counting)
    orders = WorkOrders(database, feed, Redactor([]))
    readers = [asyncio.create_task(read(feed)) for _ in range(40)]
    late = []
    for n in range(30):
        await orders.emit("wo-1", text(n))
        await asyncio.sleep(0)
        if n % 10 == 5:
            late.append(asyncio.create_task(read(feed, after=n)))
    await orders.emit("wo-1", AgentWorkOrderCompleted(verification="passed"))
    for seen in await asyncio.wait_for(asyncio.gather(*readers), 20):
        assert [stored.sequence for stored in seen] == list(range(1, 32))
    for after, reader in zip((5, 15, 25), late, strict=True):
        assert [stored.sequence for stored in await reader] == list(range(after + 1, 32))
    assert counting.looks < 40 * 5, "alone each of them would have looked up to sixty times"
    await counting.close()


async def test_closing_the_feed_ends_every_open_stream(database: Database) -> None:
    feed = Feed(database)

    reader = asyncio.create_task(read(feed))
    await asyncio.sleep(0)
    feed.close()
    assert await asyncio.wait_for(reader, 10) == []
