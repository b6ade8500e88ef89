"""Requests for chat completions: those that agents send to the door, and those that the gateway sends.

A conversation is sent again with every call and only grows, so what was written of it once is kept: after
fifty turns writing it anew would take longer than everything else between two calls.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolOffer,
    ToolResults,
    UserMessage,
)
from journeyman.gateway.wires.openai import OPENAI_RULES
from journeyman.gateway.wires.rules import (
    HOSTED,
    MANY,
    PRICE,
    STATE,
    Rule,
    by_type,
    cache_mark,
    document,
    fields,
    image_address,
    limit,
    list_of,
    never,
    only,
    passes,
    refused,
    text_or,
    tools_of,
)
from journeyman.gateway.wires.values import dicts_in, text_in, tool_offers, tool_result, without_reminders

_CONTENT = text_or(
    list_of(
        by_type(
            text=passes,
            refusal=passes,
            image_url=fields(
                type=passes, image_url=fields(url=image_address, detail=passes), cache_control=cache_mark
            ),
            input_audio=never(PRICE),
            file=fields(
                type=passes,
                file=fields(file_data=document, filename=passes, file_id=never(STATE)),
            ),
        )
    )
)
REQUEST_RULES: dict[str, Rule] = {
    **OPENAI_RULES,
    "messages": list_of(
        fields(
            role=passes,
            content=_CONTENT,
            name=passes,
            tool_calls=passes,
            tool_call_id=passes,
            function_call=passes,
            refusal=passes,
            reasoning=passes,
            reasoning_content=passes,
            reasoning_details=passes,
            annotations=passes,
            cache_control=cache_mark,
            audio=never(STATE),
        )
    ),
    "tools": tools_of("function", "custom"),
    "functions": passes,
    "function_call": passes,
    "max_tokens": limit,
    "max_completion_tokens": limit,
    "n": only(1, reason=MANY),
    "stop": passes,
    "seed": passes,
    "presence_penalty": passes,
    "frequency_penalty": passes,
    "repetition_penalty": passes,
    "top_k": passes,
    "min_p": passes,
    "logit_bias": passes,
    "logprobs": passes,
    "response_format": passes,
    "reasoning_effort": passes,
    "verbosity": passes,
    "modalities": only(["text"], reason=PRICE),
    "audio": never(PRICE),
    "prediction": never(PRICE),
    "web_search_options": never(HOSTED),
}


def output_limit(request: dict[str, Any]) -> int | None:
    """Two limits that contradict each other are refused."""
    one, other = request.get("max_completion_tokens"), request.get("max_tokens")
    if one is not None and other is not None and one != other:
        raise refused("max_tokens", ("max_completion_tokens says something else", "Send one of the two."))
    return one or other


def read_messages(body: dict[str, Any]) -> Iterable[Message]:
    for message in dicts_in(body.get("messages")):
        text = text_in(message.get("content"))
        match message.get("role"):
            case "user":
                yield UserMessage(without_reminders(text))
            case "assistant":
                yield AssistantMessage(text)
            case "tool":
                yield tool_result(message.get("tool_call_id"), text)


def read_tools(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in dicts_in(body.get("tools")):
        yield from tool_offers(tool.get("function"), "parameters")


class ConversationWriter:
    """Writes the requests of one conversation, each part of it once."""

    def __init__(self) -> None:
        self._offered: tuple[str, Sequence[ToolOffer]] | None = None
        self._opening = b""
        self._after_first: list[Message] = []
        self._json = bytearray()

    def request(
        self, model: str, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> bytes:
        if self._offered is None or self._offered[0] != instructions or self._offered[1] is not tools:
            self._opening = _opening(model, instructions, tools)
            self._offered = (instructions, tools)
        return b"".join((self._opening, self._written(messages), b"]}"))

    def _written(self, messages: Sequence[Message]) -> bytearray:
        later = messages[1:]
        known = self._after_first
        if not self._json or len(later) < len(known) or any(map(_differ, known, later)):
            known.clear()
            self._json = bytearray(_written(messages[0]))
        for message in later[len(known) :]:
            self._json += b"," + _written(message)
            known.append(message)
        return self._json


def _opening(model: str, instructions: str, tools: Sequence[ToolOffer]) -> bytes:
    """A request up to where its messages go on."""
    head: dict[str, object] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    if tools:
        head["tools"] = [_tool(tool) for tool in tools]
    system = [{"role": "system", "content": instructions}] if instructions else []
    written = _dump({**head, "messages": system}).removesuffix(b"]}")
    return written + b"," if system else written


def _differ(one: Message, other: Message) -> bool:
    return one is not other


def _written(message: Message) -> bytes:
    """One of our messages as those of the format, which has one for every result of a tool."""
    match message:
        case UserMessage(text):
            return _dump({"role": "user", "content": text})
        case ToolResults(results):
            return b",".join(
                _dump({"role": "tool", "tool_call_id": result.call_id, "content": result.output})
                for result in results
            )
        case AssistantMessage(text, calls):
            said: dict[str, object] = {"role": "assistant", "content": text or None}
            if calls:
                said["tool_calls"] = [write_call(call) for call in calls]
            return _dump(said)


def write_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _tool(tool: ToolOffer) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
