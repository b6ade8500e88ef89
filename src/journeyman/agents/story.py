"""What happens in a turn of an agent program, told as it comes and summed up at its end."""

import asyncio
import time
from typing import Any

from journeyman.agents.base import ModelCalled, Noticed, OnHappening, ToolFinished, ToolStarted
from journeyman.agents.builtin.patience import ATTEMPTS
from journeyman.agents.builtin.reading import shown
from journeyman.agents.builtin.speech import Speech
from journeyman.agents.builtin.tools import clip
from journeyman.errors import JourneymanError
from journeyman.gateway.accounts import CallRecord
from journeyman.work_orders.order import Usage


class Story:
    def __init__(self, tell: OnHappening, *, max_calls: int) -> None:
        self._tell = tell
        self._speech = Speech(tell)
        self._max_calls = max_calls
        self._calls = 0
        self._begun: dict[str, tuple[str, float]] = {}
        self.usage = Usage(cost_usd=0.0)
        self.session_id: str | None = None
        """The session that the agent works in, once it has said so."""
        self.is_refused = False
        self.fault: JourneymanError | None = None
        """Why the turn is given up: the model does not answer, and trying again does not help."""
        self.is_over = asyncio.Event()
        """Set when the turn is given up or refused, and when it goes on after its last allowed call."""
        self._faults = 0
        self._notices: set[asyncio.Task[None]] = set()

    async def said(self, text: str) -> None:
        await self._speech.add(text)

    async def noticed(self, text: str) -> None:
        await self.pause()
        await self._tell(Noticed(text))

    async def tool_started(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        if call_id in self._begun:
            return
        await self.pause()
        self._begun[call_id] = (tool, time.perf_counter())
        await self._tell(ToolStarted(call_id, tool, shown(arguments)))
        if self._calls >= self._max_calls:
            self.is_over.set()

    async def tool_finished(
        self, call_id: str, *, ok: bool, output: str, exit_code: int | None = None
    ) -> None:
        tool, started = self._begun.pop(call_id, (None, 0.0))
        if tool is not None:
            seconds = time.perf_counter() - started
            await self._tell(ToolFinished(call_id, tool, ok, clip(output), seconds, exit_code))

    async def model_called(self, record: CallRecord) -> None:
        """Heard from the door, which alone counts."""
        self._calls += 1
        self._faults = 0
        self.usage = _sum(self.usage, record.usage)
        await self._tell(ModelCalled(record.model, record.usage, record.duration_seconds))
        if record.finish == "refusal":  # some agents would ask the same again
            self.refused()
        if self._calls > self._max_calls:
            self.is_over.set()

    def refused(self) -> None:
        self.is_refused = True
        self.is_over.set()

    def model_failed(self, error: JourneymanError) -> None:
        """Heard from the door. Agents try again for minutes or for ever; here three times are enough."""
        self._faults += 1
        if not error.retryable or self._faults >= ATTEMPTS:
            self.fault = error
            self.is_over.set()
            return
        notice = asyncio.create_task(self.noticed(f"{error.message}; attempt {self._faults} of {ATTEMPTS}"))
        self._notices.add(notice)
        notice.add_done_callback(self._notices.discard)

    async def pause(self) -> None:
        """Tell what was said so far."""
        await self._speech.flush()

    async def break_off(self) -> None:
        await self._speech.abandon()
        await asyncio.gather(*self._notices)


def _sum(spent: Usage, more: Usage) -> Usage:
    known = spent.cost_usd is not None and more.cost_usd is not None
    return Usage(
        spent.tokens_in + more.tokens_in,
        spent.tokens_out + more.tokens_out,
        spent.tokens_cache_read + more.tokens_cache_read,
        (spent.cost_usd or 0.0) + (more.cost_usd or 0.0) if known else None,
    )
