"""Wake readers when an order has new events.

The feed carries no event, only the news that there are some: readers fetch from the log after
their own cursor, so a missed wake-up costs a moment and never an event.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

from journeyman.database import Database
from journeyman.events.log import last_sequences, read
from journeyman.events.types import StoredEvent

_LOOK_ANYWAY_SECONDS = 1.0
_LOOK_OUT_SECONDS = 0.2
"""Events of another process arrive without a wake-up: one look for all readers together finds them."""


class Feed:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._closed = False
        self._looking: asyncio.Task[None] | None = None

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
        self._look_out()
        try:
            while not self._closed:
                news.clear()
                batch = await read(self._database, order_id, after=after, without_chatter=without_chatter)
                for stored in batch:
                    after = stored.sequence
                    yield stored
                if not batch:
                    self._look_out()
                    await _wait(news, _LOOK_ANYWAY_SECONDS)
        finally:
            self._waiting[order_id].discard(news)
            if not self._waiting[order_id]:
                del self._waiting[order_id]

    def _look_out(self) -> None:
        # On SQLite there is no other process.
        if not self._database.is_sqlite and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._keep_looking())
            # A fault of the database ends it; the readers meet the same fault and say so.
            self._looking.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _keep_looking(self) -> None:
        seen: dict[str, int] = {}
        while self._waiting and not self._closed:
            last = await last_sequences(self._database, list(self._waiting))
            for order_id in last.keys() & seen.keys():
                if last[order_id] != seen[order_id]:
                    self.notify(order_id)
            seen = last
            await asyncio.sleep(_LOOK_OUT_SECONDS)


async def _wait(news: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(news.wait(), seconds)
    except TimeoutError:
        return
