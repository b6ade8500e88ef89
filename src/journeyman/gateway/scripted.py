"""The scripted model: a real provider without a network, for the demo and for tests.

It goes through the gateway as any other model does, faults included; `scripts.py` describes the format.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import minijinja

from journeyman.access.redaction import Redactor
from journeyman.errors import AgentFailed
from journeyman.gateway.budget import CHARACTERS_PER_TOKEN, characters_in
from journeyman.gateway.faults import broken_call_error, status_error
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

_STATUSES = {"http_429": 429, "http_500": 500}
_RETRY_AFTER_SECONDS = 0.05


class ScriptedModel:
    """One call's view of a script; a script can choose its reply by role and attempt."""

    def __init__(self, name: str, script: Script, redactor: Redactor, *, role: str, attempt: int) -> None:
        self._name = name
        self._script = script
        self._redactor = redactor
        self._role = role
        self._attempt = attempt

    async def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        answers = sum(isinstance(message, AssistantMessage) for message in messages)
        prompt = next((message.text for message in messages if isinstance(message, UserMessage)), "")
        reply = next_reply(
            self._script, role=self._role, prompt=prompt, answers=answers, attempt=self._attempt
        )
        if reply.fault in _STATUSES:
            body = {"message": f"scripted: {reply.fault}"}
            headers = {"retry-after": str(_RETRY_AFTER_SECONDS)} if reply.fault == "http_429" else {}
            raise status_error(_STATUSES[reply.fault], headers, body, self._name, self._redactor)
        filled = {"prompt": prompt, "last_output": _last_output(messages)}
        text = _fill(reply.say, filled)
        calls = _calls(reply, filled, answers)
        words = _words(reply, text)
        for word in words or [""]:
            if reply.delay_seconds:
                await asyncio.sleep(reply.delay_seconds / max(len(words), 1))
            yield word
        if reply.fault == "stall":
            await asyncio.Event().wait()
        if reply.fault == "cut_stream":
            raise broken_call_error("the stream was cut", self._name, self._redactor)
        finish: Finish = "refusal" if reply.fault == "refusal" else "tool_calls" if calls else "stop"
        yield AssistantMessage(text, calls, finish, _count(messages, text, calls))


def _words(reply: Reply, text: str) -> list[str]:
    """The text word by word; half of it when the stream is cut."""
    words = text.split(" ") if text else []
    if reply.fault == "cut_stream":
        words = words[: (len(words) + 1) // 2]
    return [word if place == 0 else f" {word}" for place, word in enumerate(words)]


def _count(messages: Sequence[Message], text: str, calls: Sequence[ToolCall]) -> Tokens:
    written = len(text) + sum(len(call.arguments) for call in calls)
    return Tokens(int(characters_in(messages) / CHARACTERS_PER_TOKEN), int(written / CHARACTERS_PER_TOKEN))


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


def _last_output(messages: Sequence[Message]) -> str:
    returned = [message for message in messages if isinstance(message, ToolResults)]
    return returned[-1].results[-1].output if returned else ""
