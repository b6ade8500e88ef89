"""A script played as answers, in our own words: what the door writes in each wire format."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import minijinja

from journeyman.access.redaction import Redactor
from journeyman.errors import AgentFailed, RateLimited, Transient
from journeyman.gateway.messages import (
    AssistantMessage,
    Finish,
    Message,
    Tokens,
    ToolCall,
    ToolOffer,
    ToolResults,
    UserMessage,
)
from journeyman.gateway.scripts import Reply, Script, next_reply

CHARACTERS_PER_TOKEN = 3.6


class ScriptedModel:
    def __init__(self, name: str, script: Script, redactor: Redactor, *, role: str, attempt: int) -> None:
        self._name, self._script, self._role, self._attempt = name, script, role, attempt

    async def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        answers = sum(isinstance(message, AssistantMessage) for message in messages)
        prompt = next((message.text for message in messages if isinstance(message, UserMessage)), "")
        reply = next_reply(
            self._script, role=self._role, prompt=prompt, answers=answers, attempt=self._attempt
        )
        if reply.fault == "http_429":
            raise RateLimited("scripted: http_429", retry_after=0.05)
        if reply.fault == "http_500":
            raise Transient("scripted: http_500")
        filled = {"prompt": prompt, "last_output": _last_output(messages)}
        text = _fill(reply.say, filled)
        calls = _calls(reply, filled, answers)
        async for word in _spoken(reply, text):
            yield word
        if reply.fault == "stall":
            await asyncio.Event().wait()
        if reply.fault == "cut_stream":
            raise Transient("the stream was cut")
        finish: Finish = "refusal" if reply.fault == "refusal" else "tool_calls" if calls else "stop"
        written = len(text) + sum(len(call.arguments) for call in calls)
        yield AssistantMessage(
            text, calls, finish, Tokens(_length(messages), int(written / CHARACTERS_PER_TOKEN))
        )


def _length(messages: Sequence[Message]) -> int:
    n = 0
    for m in messages:
        match m:
            case UserMessage(text):
                n += len(text)
            case AssistantMessage(text, calls):
                n += len(text) + sum(len(c.arguments) for c in calls)
            case ToolResults(results):
                n += sum(len(r.output) for r in results)
    return int(n / CHARACTERS_PER_TOKEN)


async def _spoken(reply: Reply, text: str) -> AsyncGenerator[str, None]:
    words = text.split(" ") if text else []
    pause = reply.delay_seconds / max(len(words), 1)
    if not words and pause:
        await asyncio.sleep(pause)
    if reply.fault == "cut_stream":
        words = words[: (len(words) + 1) // 2]
    for number, word in enumerate(words):
        if pause:
            await asyncio.sleep(pause)
        yield word if number == 0 else f" {word}"


def _calls(reply: Reply, filled: dict[str, str], answers: int) -> tuple[ToolCall, ...]:
    wanted = [(tool.name, json.dumps(_fill(tool.arguments, filled))) for tool in reply.tools]
    if reply.deliver is not None:
        wanted.append(("deliver", json.dumps(_fill(reply.deliver, filled))))
    if reply.fault == "malformed_tool_call":
        wanted.append(("shell", '{"command": '))
    if reply.fault == "unknown_tool":
        wanted.append(("no_such_tool", "{}"))
    return tuple(
        ToolCall(f"call-{answers + 1}-{number}", name, arguments)
        for number, (name, arguments) in enumerate(wanted, start=1)
    )


def _fill(value: Any, filled: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _fill(inner, filled) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, filled) for inner in value]
    if not isinstance(value, str) or ("{{" not in value and "{%" not in value):
        return value
    try:
        return minijinja.Environment(keep_trailing_newline=True).render_str(value, **filled)
    except minijinja.TemplateError as error:
        raise AgentFailed(f"a template of the script cannot be filled in: {error}") from None


def _last_output(messages: Sequence[Message]) -> str:
    outputs = [r.output for m in messages if isinstance(m, ToolResults) for r in m.results]
    return outputs[-1] if outputs else ""
