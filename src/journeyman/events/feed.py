"""Wake readers when an order has new events.

The feed carries no event, only the news that there are some: readers fetch from the log after
their own cursor, so a missed wake-up costs a moment and never an event.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

from journeyman.database import Database
from journeyman.events.log import read
from journeyman.events.types import StoredEvent

_LOOK_ANYWAY_SECONDS = 1.0
"""Events of another process arrive without a wake-up from this one."""


class Feed:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._closed = False

    def notify(self, order_id: str) -> None:
        for waiter in self._waiting.get(order_id, ()):
            waiter.set()

    def close(self) -> None:
        """End every open stream: a server that stops must not wait for its readers."""
        self._closed = True
        for order_id in list(self._waiting):
            self.notify(order_id)

    async def follow(
        self, order_id: str, *, after: int = 0, without_chatter: bool = False
    ) -> AsyncIterator[StoredEvent]:
        """Every event after a cursor, those to come included, each once and in order."""
        news = asyncio.Event()
        self._waiting[order_id].add(news)
        try:
            while not self._closed:
                news.clear()
                batch = await read(self._database, order_id, after=after, without_chatter=without_chatter)
                for stored in batch:
                    after = stored.sequence
                    yield stored
                if not batch:
                    await _wait(news, _LOOK_ANYWAY_SECONDS)
        finally:
            self._waiting[order_id].discard(news)
            if not self._waiting[order_id]:
                del self._waiting[order_id]


async def _wait(news: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(news.wait(), seconds)
    except TimeoutError:
        return
