"""How much an agent may say: in one line, in one turn, and in all turns of an order.

The same for every agent. A program in the sandbox can write faster than anything can be stored, so its
lines are read piece by piece, and a turn that goes beyond its limit is ended and not tried again: the next
try would flood as well.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from journeyman.errors import AgentFailed

LONGEST_SAID = 100_000
"""Characters of one piece of speech that are stored; of more the head and the tail."""
PER_HAPPENING = 500
"""Bytes that storing anything takes, however little is said."""
_CHUNK = 65_536


@dataclass(frozen=True)
class OutputLimits:
    line_bytes: int = 8_000_000
    turn_bytes: int = 16_000_000
    order_bytes_left: int | None = None
    """What earlier turns left of the order's share; None when that is not limited."""

    @property
    def stored_bytes(self) -> int:
        """What may be stored of one turn."""
        left = self.turn_bytes if self.order_bytes_left is None else max(0, self.order_bytes_left)
        return min(self.turn_bytes, left)

    def too_much(self) -> AgentFailed:
        if self.stored_bytes < self.turn_bytes:
            return AgentFailed(
                "the agents of this order have said more than an order may store",
                hint="Split the task, or raise JOURNEYMAN_AGENT_ORDER_BYTES.",
            )
        return AgentFailed(
            f"the agent said more than {self.turn_bytes:,} bytes in one turn, and was stopped",
            hint="Look at what it repeats; JOURNEYMAN_AGENT_TURN_BYTES allows more.",
        )

    def too_long_line(self) -> AgentFailed:
        return AgentFailed(
            f"the agent wrote a line of more than {self.line_bytes:,} bytes, and was stopped",
            hint="An agent that has to write longer ones needs a higher JOURNEYMAN_AGENT_LINE_BYTES.",
        )


class Lines:
    """The lines of what `read` gives, without their ends. A reader that was cancelled can go on reading.

    Raises AgentFailed at a line that is too long, before it is whole.
    """

    def __init__(self, read: Callable[[], Awaitable[bytes]], limits: OutputLimits) -> None:
        self._read = read
        self._limits = limits
        self._whole: deque[bytes] = deque()
        self._rest = bytearray()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        while not self._whole:
            chunk = await self._read()
            if not chunk and not self._rest:
                raise StopAsyncIteration
            self._take(chunk or b"\n")
        return self._whole.popleft()

    def _take(self, chunk: bytes) -> None:
        self._rest += chunk
        if b"\n" in chunk:
            *whole, last = bytes(self._rest).split(b"\n")
            self._whole += whole
            self._rest = bytearray(last)
        if len(self._rest) > self._limits.line_bytes:
            raise self._limits.too_long_line()


def lines_of(reader: asyncio.StreamReader, limits: OutputLimits) -> Lines:
    """The lines of a program's output."""
    return Lines(lambda: reader.read(_CHUNK), limits)
