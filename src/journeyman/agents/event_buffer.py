"""What happens in a turn, on its way to whoever listens: in order, and several at a time.

Every telling is a transaction. What the model says is gathered for a tenth of a second, which a reader cannot
tell from the stream itself. All else is gathered for longer: what a tool answered is written while the model
is being asked already, or together with a quick answer. What must be known before something begins is told
with `flush`.
"""

import asyncio

from journeyman.agents.base import (
    Happening,
    ModelCalled,
    Noticed,
    OnHappening,
    Said,
    ToolFinished,
    ToolStarted,
)
from journeyman.agents.builtin.tools import clip
from journeyman.agents.limits import LONGEST_SAID, PER_HAPPENING, OutputLimits
from journeyman.errors import AgentFailed

_SPEECH_SECONDS = 0.1
_GATHER_SECONDS = 0.3
_GATHER_CHARACTERS = 1000
_LAST_WORDS = 4000


class EventBuffer:
    """End with `flush`: nothing may be left untold, and no task behind."""

    def __init__(self, tell: OnHappening, limits: OutputLimits | None = None) -> None:
        self._tell = tell
        self._limits = limits or OutputLimits()
        self._told_bytes = 0
        self._pending: list[Happening] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    @property
    def excess(self) -> AgentFailed | None:
        """Why no more is told: the turn has said all that it may."""
        return self._limits.too_much() if self._told_bytes > self._limits.stored_bytes else None

    def add(self, *happenings: Happening) -> None:
        if self.excess is not None:  # what was spent is told all the same
            happenings = tuple(each for each in happenings if isinstance(each, ModelCalled))
        self._told_bytes += sum(map(_bytes_of, happenings))
        self._pending += happenings
        self._tell_within(_GATHER_SECONDS)

    async def say(self, text: str) -> None:
        if self.excess is not None:
            return
        text = clip(text, LONGEST_SAID)
        self._told_bytes += len(text)
        if self.excess is not None:
            text = f"{clip(text, _LAST_WORDS)}\n[… cut off here …]"
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
        self._told_bytes += PER_HAPPENING * sum(isinstance(each, Said) for each in gathered)
        if gathered:
            await self._tell(*gathered)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _bytes_of(happening: Happening) -> int:
    """About what storing it takes."""
    match happening:
        case Noticed(text):
            return PER_HAPPENING + len(text)
        case ToolStarted(arguments=arguments):
            return PER_HAPPENING + len(str(arguments))
        case ToolFinished(output=output):
            return PER_HAPPENING + len(output)
        case _:
            return 0  # a call of the model, which has limits of its own


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
