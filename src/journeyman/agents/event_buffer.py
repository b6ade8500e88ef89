"""Buffers the events of a turn: they are stored in order, and several in one transaction.

Every call of `emit` is a transaction. Text of the model is buffered for a tenth of a second, which a reader
cannot tell from the stream itself, and neighbouring pieces become one event. Everything else is buffered for
longer, so that the result of a tool is stored while the model is already being called, or together with a
quick answer. Where an event has to be stored before something begins, call `flush`.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from journeyman.agents.base import AgentEvent, EmitEvents, model_call_completed
from journeyman.agents.limits import (
    EVENT_BYTES,
    MAX_TEXT_CHARACTERS,
    OutputLimits,
    clip,
    clip_arguments,
)
from journeyman.errors import AgentFailed
from journeyman.events.types import (
    AgentNotice,
    AgentText,
    ToolCallCompleted,
    ToolCallStarted,
)
from journeyman.work_orders.order import Usage

_TEXT_DELAY_SECONDS = 0.1
_EVENT_DELAY_SECONDS = 0.3
_MAX_BUFFERED_CHARACTERS = 1000
_LAST_TEXT_CHARACTERS = 4000


class EventBuffer:
    """Bounded by the turn's output limits. Has to be flushed at the end: no event and no task may be left."""

    def __init__(self, emit: EmitEvents, step: str, limits: OutputLimits | None = None) -> None:
        self._emit = emit
        self._step = step
        self._limits = limits or OutputLimits()
        self._stored_bytes = 0
        self._pending: list[AgentEvent | str] = []
        """Events, and pieces of text that are not an event yet."""
        self._pending_characters = 0
        self._timer: asyncio.TimerHandle | None = None
        self._emitting: asyncio.Task[None] | None = None

    @property
    def excess(self) -> AgentFailed | None:
        """Why nothing more is stored: the turn has used up its output limit."""
        return self._limits.too_much() if self._stored_bytes > self._limits.stored_bytes else None

    async def text(self, text: str) -> None:
        if self.excess is not None:
            return
        text = clip(text, MAX_TEXT_CHARACTERS)
        self._stored_bytes += len(text)
        if self.excess is not None:
            text = f"{clip(text, _LAST_TEXT_CHARACTERS)}\n[… cut off here …]"
        self._pending_characters += len(text)
        self._pending.append(text)
        self._schedule(_TEXT_DELAY_SECONDS)
        if self._pending_characters >= _MAX_BUFFERED_CHARACTERS:
            await self.flush()

    def notice(self, text: str, wait_seconds: float | None = None) -> None:
        """`wait_seconds` is how long a retried call waits from now."""
        self._add(AgentNotice(step=self._step, text=text, wait_seconds=wait_seconds), len(text))

    def tool_started(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        shown = clip_arguments(arguments)
        event = ToolCallStarted(step=self._step, call_id=call_id, tool=tool, arguments=shown)
        self._add(event, len(str(shown)))

    def tool_completed(
        self,
        call_id: str,
        tool: str,
        *,
        ok: bool,
        output: str,
        duration_seconds: float,
        exit_code: int | None = None,
    ) -> None:
        """`output` is clipped already: the built-in agent shows the model the same text."""
        event = ToolCallCompleted(
            step=self._step,
            call_id=call_id,
            tool=tool,
            ok=ok,
            exit_code=exit_code,
            duration_seconds=round(duration_seconds, 3),
            output=output,
        )
        self._add(event, len(output))

    def model_called(self, model: str, usage: Usage, duration_seconds: float) -> None:
        """Stored even above the output limit: what was spent has to be counted."""
        self._pending.append(model_call_completed(self._step, model, usage, duration_seconds))
        self._schedule(_EVENT_DELAY_SECONDS)

    async def flush(self) -> None:
        """Store what is pending, after whatever is being stored already. Raises what `emit` raised."""
        self._stop_timer()
        if self._emitting is not None:
            emitting, self._emitting = self._emitting, None
            await emitting
        await self._emit_pending()

    def _add(self, event: AgentEvent, characters: int) -> None:
        if self.excess is None:
            self._stored_bytes += EVENT_BYTES + characters
            self._pending.append(event)
            self._schedule(_EVENT_DELAY_SECONDS)

    def _on_timer(self) -> None:
        self._timer = None
        if self._emitting is None or (self._emitting.done() and self._emitting.exception() is None):
            self._emitting = asyncio.create_task(self._emit_pending())
        elif not self._emitting.done():
            self._schedule(_TEXT_DELAY_SECONDS)
        # A failed task is left for `flush`, which raises its error.

    def _schedule(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is None or self._timer.when() > loop.time() + seconds:
            self._stop_timer()
            self._timer = loop.call_later(seconds, self._on_timer)

    async def _emit_pending(self) -> None:
        events = list(_coalesced(self._pending, self._step))
        self._pending.clear()
        self._pending_characters = 0
        self._stored_bytes += EVENT_BYTES * sum(isinstance(event, AgentText) for event in events)
        if events:
            await self._emit(*events)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _coalesced(pending: Iterable[AgentEvent | str], step: str) -> Iterator[AgentEvent]:
    """The events, with neighbouring pieces of text in one."""
    pieces: list[str] = []
    for item in pending:
        if isinstance(item, str):
            pieces.append(item)
            continue
        if pieces:
            yield AgentText(step=step, text="".join(pieces))
            pieces = []
        yield item
    if pieces:
        yield AgentText(step=step, text="".join(pieces))
