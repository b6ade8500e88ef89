"""What a model says, gathered into pieces worth storing.

Models stream a few characters at a time and every piece becomes an event; a tenth of a second or a
kilobyte is gathered first, which a reader cannot tell from the stream itself.
"""

import asyncio

from journeyman.agents.base import OnHappening, Said

_GATHER_SECONDS = 0.1
_GATHER_CHARACTERS = 1000


class Speech:
    """End with `flush`, or with `abandon` when the turn is broken off."""

    def __init__(self, tell: OnHappening) -> None:
        self._tell = tell
        self._pending: list[str] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    async def add(self, text: str) -> None:
        self._pending.append(text)
        self._size += len(text)
        if self._size >= _GATHER_CHARACTERS:
            await self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._due)

    async def flush(self) -> None:
        """Tell what is pending, after whatever is being told already."""
        self._stop_timer()
        if self._sending is not None:
            await self._sending
            self._sending = None
        await self._send()

    async def abandon(self) -> None:
        """Leave no task behind."""
        self._stop_timer()
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
            self._sending = None

    def _due(self) -> None:
        self._timer = None
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        self._size = 0
        if text:
            await self._tell(Said(text))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
