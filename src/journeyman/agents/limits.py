"""How much output an agent may produce: in one line, in one turn, and in all turns of an order.

The same for every agent. A program in the sandbox can write faster than anything can be stored, so its
lines are read piece by piece, and a turn that exceeds its limit is ended and not retried: the retry would
flood as well.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from journeyman.errors import AgentFailed

MAX_TEXT_CHARACTERS = 100_000
"""Of one piece of the model's text; head and tail of a longer one are stored."""
MAX_OUTPUT_CHARACTERS = 30_000
"""Of one tool's output; head and tail are kept, for the cause is often at one end."""
EVENT_BYTES = 500
"""What storing an event takes besides its text."""
_MAX_ARGUMENT_CHARACTERS = 4000
_MAX_ARGUMENTS = 50
_CHUNK = 65_536


def clip(text: str, limit: int = MAX_OUTPUT_CHARACTERS) -> str:
    """The text, or its head and tail when it is longer than the limit."""
    text = text.replace("\0", "�")
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail:,} characters left out …]\n{text[-tail:]}"


def clip_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool call's arguments as an event shows them: a whole file would only make the event large."""
    first = list(arguments.items())[:_MAX_ARGUMENTS]
    return {clip(name, _MAX_ARGUMENT_CHARACTERS): _clip_value(value) for name, value in first}


def _clip_value(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value, _MAX_ARGUMENT_CHARACTERS)
    text = json.dumps(value, default=str) if isinstance(value, dict | list) else ""
    return value if len(text) <= _MAX_ARGUMENT_CHARACTERS else clip(text, _MAX_ARGUMENT_CHARACTERS)


@dataclass(frozen=True)
class OutputLimits:
    line_bytes: int = 8_000_000
    turn_bytes: int = 16_000_000
    order_bytes_left: int | None = None
    """What earlier turns left of the order's limit; None when that is not limited."""

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
    """The lines of what `read` gives, without their newlines. After a cancelled read, reading can continue.

    Raises AgentFailed at a line that is too long, before all of it is in memory.
    """

    def __init__(self, read: Callable[[], Awaitable[bytes]], limits: OutputLimits) -> None:
        self._read = read
        self._limits = limits
        self._complete: deque[bytes] = deque()
        self._partial = bytearray()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        while not self._complete:
            chunk = await self._read()
            if not chunk and not self._partial:
                raise StopAsyncIteration
            self._split(chunk or b"\n")
        return self._complete.popleft()

    def _split(self, chunk: bytes) -> None:
        self._partial += chunk
        if b"\n" in chunk:
            *complete, last = bytes(self._partial).split(b"\n")
            self._complete += complete
            self._partial = bytearray(last)
        if len(self._partial) > self._limits.line_bytes:
            raise self._limits.too_long_line()


def lines_of(reader: asyncio.StreamReader, limits: OutputLimits) -> Lines:
    """The lines of a program's output."""
    return Lines(lambda: reader.read(_CHUNK), limits)
