"""Records a turn of an agent program: emits its events and adds up its usage.

Also decides when the turn is over: too many model calls, a refusal, a fault that stays, too much output.
"""

import asyncio
import time
from typing import Any

from journeyman.agents.base import Assignment, EmitEvents
from journeyman.agents.event_buffer import EventBuffer
from journeyman.agents.limits import clip
from journeyman.agents.retries import MAX_ATTEMPTS
from journeyman.errors import JourneymanError
from journeyman.gateway.accounts import CallRecord
from journeyman.work_orders.order import Usage

_MAX_OPEN_CALLS = 1000
_MAX_NAME_CHARACTERS = 200


class TurnRecorder:
    def __init__(self, assignment: Assignment, emit: EmitEvents) -> None:
        self._events = EventBuffer(emit, assignment.account.step, assignment.limits)
        self._flush_lock = asyncio.Lock()
        self._max_calls = assignment.max_turns
        self._calls = 0
        self._faults = 0
        """Model calls in a row that failed."""
        self._open_calls: dict[str, tuple[str, float]] = {}
        """Tool calls that have not ended: tool and start time, by the id of the call."""
        self._notices: set[str] = set()
        """Notices of the provider that were emitted: once in a turn is enough."""
        self.usage = Usage(cost_usd=0.0)
        self.session_id: str | None = None
        """The session that the agent works in, once it has said so."""
        self.is_refused = False
        self.fault: JourneymanError | None = None
        """Why the turn is given up: the model fails and a retry does not help, or the output is too long."""
        self.is_over = asyncio.Event()
        """Set when the turn is given up or refused, and when it continues after its last allowed call."""

    async def text(self, text: str) -> None:
        await self._events.text(text)
        self._check_excess()

    def notice(self, text: str) -> None:
        self._events.notice(text)

    def give_up(self, error: JourneymanError) -> None:
        """Fail the turn with this error; the first one stays."""
        self.fault = self.fault or error
        self.is_over.set()

    def _check_excess(self) -> None:
        if (excess := self._events.excess) is not None:
            self.give_up(excess)

    def tool_started(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        """Call it as often as the program reports the call; only the first time counts."""
        call_id, tool = call_id[:_MAX_NAME_CHARACTERS], tool[:_MAX_NAME_CHARACTERS]
        if call_id in self._open_calls:
            return
        if len(self._open_calls) >= _MAX_OPEN_CALLS:  # an agent that never reports the end of a call
            self._open_calls.pop(next(iter(self._open_calls)))
        self._open_calls[call_id] = (tool, time.perf_counter())
        self._events.tool_started(call_id, tool, arguments)
        self._check_excess()
        if self._calls >= self._max_calls:
            self.is_over.set()

    def tool_completed(self, call_id: str, *, ok: bool, output: str, exit_code: int | None = None) -> None:
        call_id = call_id[:_MAX_NAME_CHARACTERS]
        tool, started = self._open_calls.pop(call_id, (None, 0.0))
        if tool is not None:
            seconds = time.perf_counter() - started
            self._events.tool_completed(
                call_id, tool, ok=ok, output=clip(output), duration_seconds=seconds, exit_code=exit_code
            )
            self._check_excess()

    async def model_called(self, record: CallRecord) -> None:
        """Called by the gateway, which alone counts, before the agent has the end of the response."""
        self._calls += 1
        self._faults = 0
        self.usage += record.usage
        if record.notice and record.notice not in self._notices:
            self._notices.add(record.notice)
            self.notice(record.notice)
        self._events.model_called(record.model, record.usage, record.duration_seconds)
        await self.flush()
        if record.finish == "refusal":  # some agents would send the same request again
            self.refused()
        if self._calls > self._max_calls:
            self.is_over.set()

    def refused(self) -> None:
        self.is_refused = True
        self.is_over.set()

    def model_failed(self, error: JourneymanError) -> None:
        """Called by the gateway. Agents retry for minutes or for ever; here three attempts are enough."""
        self._faults += 1
        if error.retryable and self._faults < MAX_ATTEMPTS:
            self.notice(f"{error.message}; attempt {self._faults} of {MAX_ATTEMPTS}")
            return
        self.give_up(error)

    async def flush(self) -> None:
        """Store every event so far. Calls of the model may end at the same time, hence the lock."""
        async with self._flush_lock:
            await self._events.flush()
