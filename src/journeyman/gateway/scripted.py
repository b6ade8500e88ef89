"""The scripted model: a real provider without a network, for the demo and for tests.

It takes the same road through the gateway as any other model, faults included; `scripts.py` tells
the format.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import minijinja
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, ModelRateLimitError, ModelServerError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from journeyman.errors import AgentFailed
from journeyman.gateway.budget import CHARACTERS_PER_TOKEN, characters_in
from journeyman.gateway.scripts import Reply, Script, next_reply

_RETRY_AFTER_SECONDS = 0.05


@dataclass(frozen=True)
class _Call:
    name: str
    arguments: str
    call_id: str


class ScriptedModel(Model[Any]):
    """One call's view of a script; role and attempt are what a script can tell calls apart by."""

    def __init__(self, name: str, script: Script, *, role: str, attempt: int) -> None:
        super().__init__()
        self._name = name
        self._script = script
        self._role = role
        self._attempt = attempt

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def system(self) -> str:
        return "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        async with self.request_stream(messages, model_settings, model_request_parameters) as stream:
            async for _ in stream:
                pass
            return stream.get()

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        answers = sum(isinstance(message, ModelResponse) for message in messages)
        prompt = _first_prompt(messages)
        reply = next_reply(
            self._script, role=self._role, prompt=prompt, answers=answers, attempt=self._attempt
        )
        _raise_http_fault(reply, self._name)
        filled = {"prompt": prompt, "last_output": _last_output(messages)}
        yield _ScriptedStream(
            model_request_parameters=model_request_parameters,
            reply=reply,
            say=_fill(reply.say, filled),
            calls=_calls(reply, filled, answers),
            name=self._name,
            tokens_in=int(characters_in(messages) / CHARACTERS_PER_TOKEN),
        )


@dataclass
class _ScriptedStream(StreamedResponse):
    reply: Reply
    say: str
    calls: list[_Call]
    name: str
    tokens_in: int
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        fault = self.reply.fault
        self._usage = RequestUsage(input_tokens=self.tokens_in)
        words = self.say.split(" ") if self.say else []
        pause = self.reply.delay_seconds / max(len(words), 1)
        if not words and pause:
            await asyncio.sleep(pause)
        for number, word in enumerate(words):
            if pause:
                await asyncio.sleep(pause)
            if fault == "cut_stream" and number >= len(words) / 2:
                break
            spaced = word if number == 0 else f" {word}"
            for event in self._parts_manager.handle_text_delta(vendor_part_id="text", content=spaced):
                yield event
        if fault == "stall":
            await asyncio.Event().wait()
        if fault == "cut_stream":
            raise ModelConnectionError(self.name, "the stream was cut", phase="read")
        for call in self.calls:
            yield self._parts_manager.handle_tool_call_part(
                vendor_part_id=call.call_id,
                tool_name=call.name,
                args=call.arguments,
                tool_call_id=call.call_id,
            )
        written = len(self.say) + sum(len(call.arguments) for call in self.calls)
        self._usage = RequestUsage(
            input_tokens=self.tokens_in, output_tokens=int(written / CHARACTERS_PER_TOKEN)
        )
        self.finish_reason = "content_filter" if fault == "refusal" else "tool_call" if self.calls else "stop"

    async def close_stream(self) -> None:
        """Nothing is open."""

    @property
    def model_name(self) -> str:
        return self.name

    @property
    def provider_name(self) -> str:
        return "scripted"

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self._timestamp


def _raise_http_fault(reply: Reply, model: str) -> None:
    if reply.fault == "http_429":
        raise ModelHTTPError.for_category(
            ModelRateLimitError,
            status_code=429,
            model_name=model,
            body={"message": "scripted: too many requests"},
            retry_after=_RETRY_AFTER_SECONDS,
        )
    if reply.fault == "http_500":
        raise ModelHTTPError.for_category(
            ModelServerError, status_code=500, model_name=model, body={"message": "scripted: server error"}
        )


def _calls(reply: Reply, filled: dict[str, str], answers: int) -> list[_Call]:
    wanted = [(tool.name, json.dumps(_fill(tool.arguments, filled))) for tool in reply.tools]
    if reply.deliver is not None:
        wanted.append(("deliver", json.dumps(_fill(reply.deliver, filled))))
    if reply.fault == "malformed_tool_call":
        wanted.append(("shell", '{"command": '))
    if reply.fault == "unknown_tool":
        wanted.append(("no_such_tool", "{}"))
    return [
        _Call(name, arguments, f"call-{answers + 1}-{number}")
        for number, (name, arguments) in enumerate(wanted, start=1)
    ]


def _fill(value: Any, filled: dict[str, str]) -> Any:
    """The value with the templates in its strings filled in."""
    if isinstance(value, dict):
        return {key: _fill(inner, filled) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, filled) for inner in value]
    if not isinstance(value, str) or ("{{" not in value and "{%" not in value):
        return value
    try:
        return minijinja.Environment(keep_trailing_newline=True).render_str(value, **filled)
    except minijinja.TemplateError as error:
        raise AgentFailed(
            f"a template of the script cannot be filled in: {error}",
            hint="Only `prompt` and `last_output` can be used; wrap literal braces in {% raw %}.",
        ) from None


def _first_prompt(messages: Sequence[ModelMessage]) -> str:
    prompts = (part.content for part in _request_parts(messages) if isinstance(part, UserPromptPart))
    return next((prompt for prompt in prompts if isinstance(prompt, str)), "")


def _last_output(messages: Sequence[ModelMessage]) -> str:
    returned = [part.content for part in _request_parts(messages) if isinstance(part, ToolReturnPart)]
    return str(returned[-1]) if returned else ""


def _request_parts(messages: Sequence[ModelMessage]) -> Any:
    return (part for message in messages if isinstance(message, ModelRequest) for part in message.parts)
