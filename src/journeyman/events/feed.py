"""Wake readers when an order has new events.

The feed carries no event, only a wake-up: readers fetch from the log after their own cursor, so a missed
wake-up costs a moment and never an event. Readers at the same cursor share one query: what is in the log
never changes. Writers may run in another thread, on another event loop than the readers.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from journeyman.database import Database
from journeyman.events.log import last_sequences, read
from journeyman.events.types import StoredEvent

_QUERY_ANYWAY_SECONDS = 1.0
_POLL_SECONDS = 0.2
"""Events of another process arrive without a wake-up: one poll for all readers together finds them."""
_CACHED_QUERIES = 4
_CACHED_EVENTS = 50
"""Of an order, in memory: what readers of its newest events share. A longer batch, of an old part of the log,
is not cached."""


@dataclass(frozen=True)
class _Batch:
    found: list[StoredEvent]
    changes: int
    at: float


@dataclass
class _Readers:
    """The readers of one order."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    news: set[asyncio.Event] = field(default_factory=set)
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)
    changes: int = 0
    """How often they were woken."""
    batches: dict[tuple[int, bool], _Batch] = field(default_factory=dict)
    """By cursor, and whether without chatter."""

    def wake(self) -> None:
        self.changes += 1
        for waiter in self.news:
            waiter.set()

    def cached(self, place: tuple[int, bool]) -> list[StoredEvent] | None:
        """What another reader found there; finding nothing holds until the next wake-up, or for a moment."""
        batch = self.batches.get(place)
        if batch is None:
            return None
        is_new = batch.changes == self.changes and time.monotonic() - batch.at < _QUERY_ANYWAY_SECONDS / 2
        return batch.found if batch.found or is_new else None

    def remember(self, place: tuple[int, bool], batch: _Batch) -> None:
        if len(batch.found) <= _CACHED_EVENTS:
            self.batches.pop(place, None)
            self.batches[place] = batch
        if len(self.batches) > _CACHED_QUERIES:
            del self.batches[next(iter(self.batches))]


class Feed:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, _Readers] = {}
        self._closed = False
        self._polling: asyncio.Task[None] | None = None

    def notify(self, order_id: str) -> None:
        """Wake the readers of an order that has new events; from any thread."""
        readers = self._waiting.get(order_id)
        if readers is not None:
            readers.loop.call_soon_threadsafe(readers.wake)

    def close(self) -> None:
        """End every open stream: a server that stops must not wait for its readers."""
        self._closed = True
        for readers in list(self._waiting.values()):
            readers.loop.call_soon_threadsafe(readers.wake)

    async def follow(
        self, order_id: str, *, after: int = 0, without_chatter: bool = False
    ) -> AsyncIterator[StoredEvent]:
        """Every event after a cursor, those to come included, each once and in order."""
        news = asyncio.Event()
        readers = self._waiting.get(order_id)
        if readers is None:
            readers = self._waiting[order_id] = _Readers()
        readers.news.add(news)
        self._start_polling()
        try:
            while not self._closed:
                news.clear()
                batch = await self._fetch(readers, order_id, after, without_chatter)
                for stored in batch:
                    after = stored.sequence
                    yield stored
                if not batch:
                    self._start_polling()
                    await _wait(news, _QUERY_ANYWAY_SECONDS)
        finally:
            readers.news.discard(news)
            if not readers.news:
                del self._waiting[order_id]

    async def _fetch(
        self, readers: _Readers, order_id: str, after: int, without_chatter: bool
    ) -> list[StoredEvent]:
        place = (after, without_chatter)
        async with readers.fetching:
            found = readers.cached(place)
            if found is None:
                changes, now = readers.changes, time.monotonic()
                found = await read(self._database, order_id, after=after, without_chatter=without_chatter)
                readers.remember(place, _Batch(found, changes, now))
            return found

    def _start_polling(self) -> None:
        # On SQLite there is no other process.
        if not self._database.is_sqlite and (self._polling is None or self._polling.done()):
            self._polling = asyncio.create_task(self._poll())
            # An error of the database ends it; the readers get the same error and report it.
            self._polling.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _poll(self) -> None:
        seen: dict[str, int] = {}
        while self._waiting and not self._closed:
            last = await last_sequences(self._database, list(self._waiting))
            for order_id in last.keys() & seen.keys():
                if last[order_id] != seen[order_id]:
                    self.notify(order_id)
            seen = last
            await asyncio.sleep(_POLL_SECONDS)


async def _wait(news: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(news.wait(), seconds)
    except TimeoutError:
        return
