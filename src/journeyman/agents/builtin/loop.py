"""The loop of the built-in agent: call the model, run the tools it calls, send back their output.

The history is only appended to until it has to be compacted: that keeps a provider's prompt cache valid and
the time between a response and the next request short. The model's output is not trusted: every argument is
validated, and whatever is wrong is sent back as a tool result, so that the turn continues.
"""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from journeyman.agents.base import Assignment, EmitEvents, Outcome, StopReason
from journeyman.agents.builtin.compaction import compacted, is_nearly_full, split_history, summary_request
from journeyman.agents.builtin.repetition import END_AT, REMARK_AT, Repetition, remark
from journeyman.agents.builtin.tools import TOOLS, Tool, ToolOutput, ToolRunner
from journeyman.agents.deliverables import deliverable_in, plain_schema, validation_message
from journeyman.agents.event_buffer import EventBuffer
from journeyman.agents.limits import MAX_TEXT_CHARACTERS, clip
from journeyman.agents.retries import MAX_ATTEMPTS, model_retry_delay
from journeyman.errors import AgentFailed, ContextOverflow, JourneymanError
from journeyman.gateway.gateway import Completion, Gateway, ModelCall
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolOffer,
    ToolResult,
    ToolResults,
    UserMessage,
)
from journeyman.sandboxes.base import Sandbox
from journeyman.work_orders.order import Usage

_DELIVER = "deliver"
_MALFORMED = "malformed_arguments"
_EMPTY = "Your answer was empty. Go on with the task, or say that it is done."
_CUT = "Your answer was cut off at the output limit. Go on from where it ended, in smaller pieces."
_NOT_DELIVERED = f"You have not handed over the result. Call `{_DELIVER}` with it now."


@dataclass(frozen=True)
class _Call:
    """A tool call with its arguments read, or with what is wrong with it."""

    asked: ToolCall
    raw: dict[str, Any]
    arguments: BaseModel | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.asked.tool


class AgentLoop:
    """One turn of the built-in agent."""

    def __init__(
        self,
        assignment: Assignment,
        sandbox: Sandbox,
        emit: EmitEvents,
        gateway: Gateway,
        *,
        longest_command_seconds: float,
        retry_base_seconds: float,
    ) -> None:
        self._assignment = assignment
        self._events = EventBuffer(emit, assignment.account.step, assignment.limits)
        self._gateway = gateway
        self._tool_runner = ToolRunner(sandbox, longest_command_seconds=longest_command_seconds)
        self._retry_base_seconds = retry_base_seconds
        may_write = assignment.role.may_write
        self._tools = {name: tool for name, tool in TOOLS.items() if may_write or not tool.writes}
        self._offers = _offers(assignment, self._tools)
        self._history: list[Message] = [UserMessage(assignment.prompt)]
        self._window = gateway.context_window(assignment.model)
        self._repetition = Repetition()
        self._usage = Usage(cost_usd=0.0)
        self._text = ""
        self._reminded: set[str] = set()
        """Reminders and notices of this turn: each is given once."""

    def outcome(self, reason: StopReason, deliverable: BaseModel | None = None) -> Outcome:
        text = clip(self._text, MAX_TEXT_CHARACTERS)
        return Outcome(stop_reason=reason, text=text, deliverable=deliverable, usage=self._usage)

    async def run(self) -> Outcome:
        try:
            return await self._work()
        finally:
            await self._events.flush()

    async def _work(self) -> Outcome:
        for _ in range(self._assignment.max_turns):
            answer = await self._next_answer()
            ended = await self._take(answer.message)
            if ended is not None:
                return ended
        return self.outcome("turn_limit")

    async def _next_answer(self) -> Completion:
        """The model's answer. Compacts the conversation when it nearly fills the context, or overflows."""
        if is_nearly_full(self._history, self._window):
            await self._compact()
        try:
            return await self._ask(self._history, self._offers)
        except ContextOverflow:
            if not await self._compact():
                raise
        return await self._ask(self._history, self._offers)

    async def _compact(self) -> bool:
        """Replace the older part of the conversation by a summary; False when there is none."""
        older, newest = split_history(self._history)
        if not older:
            return False
        request = summary_request(self._history[0], older, self._window)
        answer = await self._ask([request], (), stream_text=False)
        summary = answer.message.text.strip() or "(There is no summary. Look at the files.)"
        self._history = compacted(self._assignment.prompt, summary, newest)
        self._events.notice(
            f"the conversation was too long for the model; a summary replaced {len(older)} messages"
        )
        return True

    async def _take(self, message: AssistantMessage) -> Outcome | None:
        """Act on a message of the model; an Outcome when the turn is over."""
        text = message.text.strip()
        calls = [self._read(call) for call in message.calls]
        self._text = text or self._text
        if message.finish == "refusal":
            return self.outcome("refused")
        self._history.append(_as_sent_back(message, calls))
        if calls:
            return await self._run_calls(calls)
        if message.finish == "length":
            return self._remind(_CUT, "finished")
        if not text:
            return self._remind(_EMPTY, "no_answer")
        wanted = self._assignment.deliverable
        if wanted is None:
            return self.outcome("finished")
        delivered = deliverable_in(text, wanted)
        return self.outcome("finished", delivered) if delivered else self._remind(_NOT_DELIVERED, "finished")

    def _remind(self, reminder: str, otherwise: StopReason) -> Outcome | None:
        """Send the model a reminder once in a turn; the second time the turn ends."""
        if reminder in self._reminded:
            return self.outcome(otherwise)
        self._reminded.add(reminder)
        self._history.append(UserMessage(reminder))
        return None

    async def _run_calls(self, calls: list[_Call]) -> Outcome | None:
        for call in calls:
            if call.name == _DELIVER and call.arguments is not None:
                return self.outcome("finished", call.arguments)
        for call in calls:
            if not self._is_delivery(call):
                self._events.tool_started(call.asked.call_id, call.name, call.raw)
        await self._events.flush()  # a tool may run for minutes: that it started is stored before
        tasks = [asyncio.create_task(self._run_call(call)) for call in calls]
        try:
            outputs = await asyncio.gather(*tasks)
        finally:
            # After a fault or a cancellation no tool may be left running. A second cancel would interrupt
            # the cleanup of the first.
            for task in tasks:
                if not task.cancelling():
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        results = [
            ToolResult(call.asked.call_id, call.name, output.output)
            for call, output in zip(calls, outputs, strict=True)
        ]
        self._check_excess()
        times = self._repetition.times([call.asked for call in calls], results)
        if times >= REMARK_AT:
            results[-1] = replace(results[-1], output=results[-1].output + remark(times))
            self._events.notice(f"the agent did the same thing with the same result {times} times")
        self._history.append(ToolResults(tuple(results)))
        return self.outcome("repetition") if times >= END_AT else None

    async def _run_call(self, call: _Call) -> ToolOutput:
        if self._is_delivery(call):
            self._events.notice(f"the agent's result was not accepted: {call.problem}")
            return ToolOutput(False, call.problem)
        started = time.perf_counter()
        if call.arguments is None:
            output = ToolOutput(False, call.problem)
        else:
            output = await self._tool_runner.run(self._tools[call.name], call.arguments)
        output = replace(output, output=clip(output.output))
        self._events.tool_completed(
            call.asked.call_id,
            call.name,
            ok=output.ok,
            output=output.output,
            duration_seconds=time.perf_counter() - started,
            exit_code=output.exit_code,
        )
        return output

    def _check_excess(self) -> None:
        if (excess := self._events.excess) is not None:
            raise excess

    def _is_delivery(self, call: _Call) -> bool:
        return call.name == _DELIVER and self._assignment.deliverable is not None

    def _read(self, asked: ToolCall) -> _Call:
        try:
            raw = json.loads(asked.arguments)
        except ValueError as error:
            broken = {_MALFORMED: clip(asked.arguments, 2000)}
            return _Call(asked, broken, problem=f"the arguments are not valid JSON: {error}")
        if not isinstance(raw, dict):
            return _Call(asked, {_MALFORMED: raw}, problem="the arguments must be a JSON object")
        model = self._arguments_of(asked.tool)
        if model is None:
            offered = ", ".join(offer.name for offer in self._offers)
            return _Call(asked, raw, problem=f"there is no tool {asked.tool!r}; there are {offered}")
        try:
            return _Call(asked, raw, model.model_validate(raw))
        except ValidationError as error:
            return _Call(asked, raw, problem=validation_message(error))

    def _arguments_of(self, tool: str) -> type[BaseModel] | None:
        if tool == _DELIVER:
            return self._assignment.deliverable
        return self._tools[tool].arguments if tool in self._tools else None

    async def _ask(
        self, messages: Sequence[Message], offers: Sequence[ToolOffer], *, stream_text: bool = True
    ) -> Completion:
        """One response of the model; faults that usually pass are retried."""
        call = ModelCall(
            model=self._assignment.model,
            messages=messages,
            instructions=self._assignment.role.instructions,
            tools=offers,
            role=self._assignment.role.name,
            account=self._assignment.account,
        )
        while True:
            try:
                answer = await self._call(call, stream_text)
            except JourneymanError as error:
                wait = model_retry_delay(
                    error, call.attempt, base_seconds=self._retry_base_seconds, jitter=random.random()
                )
                if wait is None:
                    raise
                call = replace(call, attempt=call.attempt + 1)
                coming = f"trying again in {wait:.1f} s (attempt {call.attempt} of {MAX_ATTEMPTS})"
                self._events.notice(f"{error.message}; {coming}", round(wait, 1))
                await asyncio.sleep(wait)
                continue
            self._usage += answer.usage
            notice = answer.message.notice
            if notice and notice not in self._reminded:
                self._reminded.add(notice)
                self._events.notice(notice)
            self._events.model_called(call.model, answer.usage, answer.duration_seconds)
            return answer

    async def _call(self, call: ModelCall, stream_text: bool) -> Completion:
        async with aclosing(self._gateway.stream(call)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    return piece
                if stream_text:
                    await self._events.text(piece)
                    self._check_excess()
        raise AgentFailed(f"{call.model} ended without an answer", hint="This is a fault of the gateway.")


def _offers(assignment: Assignment, tools: dict[str, Tool]) -> list[ToolOffer]:
    offered = [
        ToolOffer(tool.name, tool.arguments.__doc__ or "", plain_schema(tool.arguments))
        for tool in tools.values()
    ]
    if assignment.deliverable is not None:
        schema = plain_schema(assignment.deliverable)
        offered.append(ToolOffer(_DELIVER, "Hand over the result and end your turn.", schema))
    return offered


def _as_sent_back(message: AssistantMessage, calls: list[_Call]) -> AssistantMessage:
    """The message as it goes into the history: providers refuse an empty one, and invalid JSON in it."""
    if not message.text and not calls:
        return replace(message, text="(empty answer)")
    valid = tuple(
        replace(call.asked, arguments=json.dumps(call.raw)) if _MALFORMED in call.raw else call.asked
        for call in calls
    )
    return replace(message, calls=valid)
