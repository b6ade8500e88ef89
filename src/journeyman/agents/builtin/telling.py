"""What happens in a turn, on its way to whoever listens: in order, and several at a time.

Every telling is a transaction. What the model says is gathered for a tenth of a second, which a reader cannot
tell from the stream itself. All else is gathered for longer: what a tool answered is written while the model
is being asked already, or together with a quick answer. What must be known before something begins is told
with `flush`.
"""

import asyncio

from journeyman.agents.base import Happening, OnHappening, Said

_SPEECH_SECONDS = 0.1
_GATHER_SECONDS = 0.3
_GATHER_CHARACTERS = 1000


class Telling:
    """End with `flush`: nothing may be left untold, and no task behind."""

    def __init__(self, tell: OnHappening) -> None:
        self._tell = tell
        self._pending: list[Happening] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def add(self, *happenings: Happening) -> None:
        self._pending += happenings
        self._tell_within(_GATHER_SECONDS)

    async def say(self, text: str) -> None:
        self._size += len(text)
        self._pending.append(Said(text))
        self._tell_within(_SPEECH_SECONDS)
        if self._size >= _GATHER_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Tell what is pending, after whatever is being told already. Raises what a listener raised."""
        self._stop_timer()
        if self._sending is not None:
            sending, self._sending = self._sending, None
            await sending
        await self._send()

    def _due(self) -> None:
        self._timer = None
        if self._sending is None or (self._sending.done() and self._sending.exception() is None):
            self._sending = asyncio.create_task(self._send())
        elif not self._sending.done():
            self._tell_within(_SPEECH_SECONDS)

    def _tell_within(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is None or self._timer.when() > loop.time() + seconds:
            self._stop_timer()
            self._timer = loop.call_later(seconds, self._due)

    async def _send(self) -> None:
        gathered = _joined(self._pending)
        self._pending.clear()
        self._size = 0
        if gathered:
            await self._tell(*gathered)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _joined(happenings: list[Happening]) -> list[Happening]:
    """The same, with neighbouring pieces of speech put together."""
    joined: list[Happening] = []
    words: list[str] = []
    for happening in happenings:
        if isinstance(happening, Said):
            words.append(happening.text)
            continue
        if words:
            joined.append(Said("".join(words)))
            words = []
        joined.append(happening)
    return [*joined, Said("".join(words))] if words else joined
