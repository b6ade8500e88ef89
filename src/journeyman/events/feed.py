"""Wake readers when an order has new events.

The feed carries no event, only the news that there are some: readers fetch from the log after
their own cursor, so a missed wake-up costs a moment and never an event. Those who stand at the same place
share one look into the log: what is written there never changes. Whoever writes may do so in another thread,
on another event loop than the readers'.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from journeyman.database import Database
from journeyman.events.log import last_sequences, read
from journeyman.events.types import StoredEvent

_LOOK_ANYWAY_SECONDS = 1.0
_LOOK_OUT_SECONDS = 0.2
"""Events of another process arrive without a wake-up: one look for all readers together finds them."""
_SHARED_LOOKS = 4
_SHARED_EVENTS = 50
"""Of an order, in memory: what readers of its newest events share. Whoever reads an old story reads alone."""


@dataclass(frozen=True)
class _Look:
    found: list[StoredEvent]
    changes: int
    at: float


@dataclass
class _Readers:
    """Everybody who follows one order."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    news: set[asyncio.Event] = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    changes: int = 0
    """How often there were news."""
    looks: dict[tuple[int, bool], _Look] = field(default_factory=dict)
    """What was found after a cursor, with chatter or without."""

    def wake(self) -> None:
        self.changes += 1
        for waiter in self.news:
            waiter.set()

    def seen(self, place: tuple[int, bool]) -> list[StoredEvent] | None:
        """What somebody else found there; that there was nothing holds until there are news, or a moment."""
        look = self.looks.get(place)
        if look is None:
            return None
        is_new = look.changes == self.changes and time.monotonic() - look.at < _LOOK_ANYWAY_SECONDS / 2
        return look.found if look.found or is_new else None

    def remember(self, place: tuple[int, bool], look: _Look) -> None:
        if len(look.found) <= _SHARED_EVENTS:
            self.looks.pop(place, None)
            self.looks[place] = look
        if len(self.looks) > _SHARED_LOOKS:
            del self.looks[next(iter(self.looks))]


class Feed:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, _Readers] = {}
        self._closed = False
        self._looking: asyncio.Task[None] | None = None

    def notify(self, order_id: str) -> None:
        """There are new events; may be said in any thread."""
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
        self._look_out()
        try:
            while not self._closed:
                news.clear()
                batch = await self._look(readers, order_id, after, without_chatter)
                for stored in batch:
                    after = stored.sequence
                    yield stored
                if not batch:
                    self._look_out()
                    await _wait(news, _LOOK_ANYWAY_SECONDS)
        finally:
            readers.news.discard(news)
            if not readers.news:
                del self._waiting[order_id]

    async def _look(
        self, readers: _Readers, order_id: str, after: int, without_chatter: bool
    ) -> list[StoredEvent]:
        place = (after, without_chatter)
        async with readers.turn:
            found = readers.seen(place)
            if found is None:
                changes, now = readers.changes, time.monotonic()
                found = await read(self._database, order_id, after=after, without_chatter=without_chatter)
                readers.remember(place, _Look(found, changes, now))
            return found

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
