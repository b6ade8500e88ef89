"""What happens in a turn of an agent program, told as it comes and summed up at its end."""

import asyncio
import time
from typing import Any

from journeyman.agents.base import ModelCalled, Noticed, OnHappening, ToolFinished, ToolStarted
from journeyman.agents.builtin.patience import ATTEMPTS
from journeyman.agents.builtin.reading import shown
from journeyman.agents.builtin.tools import clip
from journeyman.agents.event_buffer import EventBuffer
from journeyman.agents.limits import OutputLimits
from journeyman.errors import JourneymanError
from journeyman.gateway.accounts import CallRecord
from journeyman.work_orders.order import Usage

_MOST_BEGUN = 1000
_LONGEST_NAME = 200


class Story:
    def __init__(self, tell: OnHappening, *, max_calls: int, limits: OutputLimits | None = None) -> None:
        self._telling = EventBuffer(tell, limits)
        self._one_at_a_time = asyncio.Lock()
        self._max_calls = max_calls
        self._calls = 0
        self._faults = 0
        """Calls in a row that the model did not answer."""
        self._begun: dict[str, tuple[str, float]] = {}
        self._notices: set[str] = set()
        """Oddities of the provider that were told: once in a turn is enough."""
        self.usage = Usage(cost_usd=0.0)
        self.session_id: str | None = None
        """The session that the agent works in, once it has said so."""
        self.is_refused = False
        self.fault: JourneymanError | None = None
        """Why the turn is given up: the model does not answer, and trying again does not help."""
        self.is_over = asyncio.Event()
        """Set when the turn is given up or refused, and when it goes on after its last allowed call."""

    async def said(self, text: str) -> None:
        await self._telling.say(text)
        self._check_excess()

    def noticed(self, text: str) -> None:
        self._telling.add(Noticed(text))

    def give_up(self, error: JourneymanError) -> None:
        """End the turn as failed of this; the first reason stays."""
        self.fault = self.fault or error
        self.is_over.set()

    def _check_excess(self) -> None:
        if (excess := self._telling.excess) is not None:
            self.give_up(excess)

    def tool_started(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        call_id, tool = call_id[:_LONGEST_NAME], tool[:_LONGEST_NAME]
        if call_id in self._begun:
            return
        if len(self._begun) >= _MOST_BEGUN:  # an agent that never says how a tool ended
            self._begun.pop(next(iter(self._begun)))
        self._begun[call_id] = (tool, time.perf_counter())
        self._telling.add(ToolStarted(call_id, tool, shown(arguments)))
        self._check_excess()
        if self._calls >= self._max_calls:
            self.is_over.set()

    def tool_finished(self, call_id: str, *, ok: bool, output: str, exit_code: int | None = None) -> None:
        call_id = call_id[:_LONGEST_NAME]
        tool, started = self._begun.pop(call_id, (None, 0.0))
        if tool is not None:
            seconds = time.perf_counter() - started
            self._telling.add(ToolFinished(call_id, tool, ok, clip(output), seconds, exit_code))
            self._check_excess()

    async def model_called(self, record: CallRecord) -> None:
        """Heard from the door, which alone counts, before the agent has the end of the answer."""
        self._calls += 1
        self._faults = 0
        self.usage = _sum(self.usage, record.usage)
        if record.notice and record.notice not in self._notices:
            self._notices.add(record.notice)
            self.noticed(record.notice)
        self._telling.add(ModelCalled(record.model, record.usage, record.duration_seconds))
        await self.told()
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
        if error.retryable and self._faults < ATTEMPTS:
            self.noticed(f"{error.message}; attempt {self._faults} of {ATTEMPTS}")
            return
        self.give_up(error)

    async def told(self) -> None:
        """Everything so far was told."""
        async with self._one_at_a_time:
            await self._telling.flush()


def _sum(spent: Usage, more: Usage) -> Usage:
    known = spent.cost_usd is not None and more.cost_usd is not None
    return Usage(
        spent.tokens_in + more.tokens_in,
        spent.tokens_out + more.tokens_out,
        spent.tokens_cache_read + more.tokens_cache_read,
        (spent.cost_usd or 0.0) + (more.cost_usd or 0.0) if known else None,
    )
