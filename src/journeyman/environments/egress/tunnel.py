"""Bytes from one connection to another, in both directions, no faster than the slower side takes them."""

import asyncio
from typing import cast

_IDLE_SECONDS = 900.0
"""Silence on both sides after which a tunnel is closed."""


class Preface(asyncio.Protocol):
    """Collects the first bytes of a connection until it is known who should read the rest."""

    def __init__(self, limit: int) -> None:
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.is_lost = False
        self._limit = limit
        self._changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        if len(self.received) > self._limit and self.transport is not None:
            self.transport.pause_reading()
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._changed.set()

    def eof_received(self) -> None:
        self.is_lost = True
        self._changed.set()

    @property
    def is_full(self) -> bool:
        return len(self.received) > self._limit

    async def more(self) -> None:
        """Wait until something comes. Raises ConnectionResetError when nothing will."""
        await self._changed.wait()
        self._changed.clear()
        if self.is_lost:
            raise ConnectionResetError

    def hand_over(self, transport: asyncio.Transport, reader: asyncio.Protocol) -> None:
        """Let another protocol read the connection from its beginning."""
        transport.set_protocol(reader)
        reader.connection_made(transport)
        if self.received:
            reader.data_received(bytes(self.received))
        if self.is_lost:
            reader.eof_received()
            transport.close()
        else:
            transport.resume_reading()


class TunnelEnd(asyncio.Protocol):
    """One of two; each writes what it receives to the other."""

    def __init__(self) -> None:
        self.other: TunnelEnd | None = None
        self.transport: asyncio.Transport | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._last_active = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._last_active = asyncio.get_running_loop().time()
        self._watch()

    def data_received(self, data: bytes) -> None:
        self._last_active = asyncio.get_running_loop().time()
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def eof_received(self) -> bool:
        """Pass on that nothing more comes from this side; the other may still be sending."""
        if (
            self.other is not None
            and self.other.transport is not None
            and self.other.transport.can_write_eof()
        ):
            self.other.transport.write_eof()
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        ends = [self._last_active, *([self.other._last_active] if self.other else [])]
        left = max(ends) + _IDLE_SECONDS - loop.time()
        if left <= 0 and self.transport is not None:
            self.transport.abort()
            return
        self._idle = loop.call_later(max(left, 1.0), self._watch)


def join(one: TunnelEnd, other: TunnelEnd) -> None:
    one.other, other.other = other, one
