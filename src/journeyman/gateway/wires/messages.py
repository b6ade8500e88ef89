"""Anthropic's messages, which Claude Code speaks.

The order of frames and the fields that are written were found by running the client: they are the least that
it accepts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from journeyman.gateway.messages import AssistantMessage, Finish, Message, Tokens, ToolOffer, UserMessage
from journeyman.gateway.wires.base import AnswerState, Piece, WireFormat, error_kind
from journeyman.gateway.wires.events import write_event
from journeyman.gateway.wires.rules import (
    ADDRESS,
    HOSTED,
    PRICE,
    STATE,
    Inline,
    Rule,
    by_type,
    cache_mark,
    document,
    fields,
    image,
    limit,
    list_of,
    never,
    only,
    passes,
    refused,
    text_or,
    tools_of,
)
from journeyman.gateway.wires.values import (
    arguments_of,
    count_in,
    dict_at,
    dicts_in,
    text_in,
    tool_offers,
    tool_result,
    with_error,
    without_reminders,
)


def _blocks(value: Any, where: str, inline: Inline) -> Any:
    return _CONTENT(value, where, inline)


def _source(data: Rule) -> Rule:
    return by_type(
        base64=fields(type=passes, media_type=passes, data=data),
        text=fields(type=passes, media_type=passes, data=passes),
        content=fields(type=passes, content=_blocks),
        url=never(ADDRESS),
        file=never(STATE),
    )


def _marked(**rules: Rule) -> Rule:
    return fields(type=passes, cache_control=cache_mark, **rules)


_CONTENT = text_or(
    list_of(
        by_type(
            text=_marked(text=passes, citations=passes),
            thinking=passes,
            redacted_thinking=passes,
            image=_marked(source=_source(image)),
            document=_marked(source=_source(document), title=passes, context=passes, citations=passes),
            search_result=_marked(source=passes, title=passes, content=_blocks, citations=passes),
            tool_use=_marked(id=passes, name=passes, input=passes, caller=passes),
            tool_result=_marked(tool_use_id=passes, content=_blocks, is_error=passes),
            tool_reference=_marked(tool_name=passes),
            compaction=_marked(content=passes),
            container_upload=never(STATE),
        )
    )
)


def _clearing(value: Any, where: str, inline: Inline) -> Any:
    """Older parts may be left out at the provider; a summary there would be another call."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not str(kind).startswith("clear_"):
        raise refused(f"{where} of the type {kind!r}", HOSTED)
    return value


REQUEST_RULES: dict[str, Rule] = {
    "model": passes,
    "messages": list_of(fields(role=passes, content=_CONTENT)),
    "system": _CONTENT,
    "max_tokens": limit,
    "stream": passes,
    "stop_sequences": passes,
    "temperature": passes,
    "top_p": passes,
    "top_k": passes,
    "tools": tools_of("custom", "bash_", "text_editor_", "memory_"),
    "tool_choice": passes,
    "thinking": fields(type=passes, budget_tokens=limit, display=passes),
    "output_config": fields(effort=passes, format=passes, task_budget=passes),
    "output_format": passes,
    "metadata": passes,
    "cache_control": cache_mark,
    "context_management": fields(edits=list_of(_clearing)),
    "service_tier": only("auto", "standard_only", reason=PRICE),
    "speed": only("standard", reason=PRICE),
    "inference_geo": only("global", reason=PRICE),
    "container": never(STATE),
    "mcp_servers": never(HOSTED),
}


def output_limit(request: dict[str, Any]) -> int | None:
    most, thoughts = request.get("max_tokens"), request.get("thinking", {}).get("budget_tokens")
    if most is not None and thoughts is not None and thoughts > most:
        raise refused(
            "thinking.budget_tokens", ("it is more than max_tokens", "Thoughts are part of the answer.")
        )
    return most


def read_messages(body: dict[str, Any]) -> Iterable[Message]:
    for message in dicts_in(body.get("messages")):
        content = message.get("content")
        results = [block for block in dicts_in(content) if block.get("type") == "tool_result"]
        if message.get("role") == "assistant":
            yield AssistantMessage(text_in(content))
        elif results:
            for block in results:
                yield tool_result(block.get("tool_use_id"), text_in(block.get("content")))
        else:
            yield UserMessage(without_reminders(text_in(content)))


def read_tools(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in dicts_in(body.get("tools")):
        yield from tool_offers(tool, "input_schema" if "input_schema" in tool else "parameters")


def read_frame(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    message = frame.get("message")
    if not isinstance(message, dict):
        message = frame
    usage = message.get("usage")
    if isinstance(usage, dict):
        state = replace(state, tokens=_tokens(state.tokens or Tokens(), usage))
    reason = dict_at(frame, "delta").get("stop_reason") or message.get("stop_reason")
    if reason:
        words: dict[str, Finish] = {"tool_use": "tool_calls", "max_tokens": "length", "refusal": "refusal"}
        state = replace(state, finish=words.get(str(reason), "stop"))
    if frame.get("type") == "message_stop" or (frame.get("type") == "message" and reason):
        state = replace(state, is_complete=True)
    return with_error(state, frame)


def _tokens(before: Tokens, usage: dict[str, Any]) -> Tokens | None:
    """Reads and writes of the cache are counted beside the input, and the counts come in pieces."""
    was = {
        "input_tokens": before.input - before.cache_read - before.cache_write,
        "output_tokens": before.output,
        "cache_read_input_tokens": before.cache_read,
        "cache_creation_input_tokens": before.cache_write,
    }
    now = [count_in(old if usage.get(name) is None else usage[name]) for name, old in was.items()]
    if now[0] is None or now[1] is None or now[2] is None or now[3] is None:
        return None
    return Tokens(now[0] + now[2] + now[3], now[1], now[2], now[3])


def pieces(frame: dict[str, Any]) -> Iterator[Piece]:
    for number, block in enumerate(frame.get("content") or ()):
        if block.get("type") == "text":
            yield Piece(block.get("text") or "")
        elif block.get("type") == "tool_use":
            yield Piece(json.dumps(block.get("input") or {}), number, block.get("name") or "")
    block, delta = frame.get("content_block") or {}, frame.get("delta") or {}
    if block.get("type") == "tool_use":
        yield Piece("", frame.get("index"), block.get("name") or "")
    if delta.get("type") == "text_delta":
        yield Piece(delta.get("text") or "")
    elif delta.get("type") == "input_json_delta":
        yield Piece(delta.get("partial_json") or "", frame.get("index"))


class MessagesWriter:
    content_type = "text/event-stream"

    def __init__(self, model: str, answer_id: str, *, as_events: bool = True) -> None:
        self._model = model
        self._id = answer_id
        self._said = ""

    def begin(self) -> bytes:
        usage = _usage(Tokens())
        message = {**self._message(), "content": [], "stop_reason": None, "usage": usage}
        return write_event({"type": "message_start", "message": message}, "message_start")

    def text(self, piece: str) -> bytes:
        opening = b"" if self._said else _block_start(0, {"type": "text", "text": ""})
        self._said += piece
        return opening + _block_delta(0, {"type": "text_delta", "text": piece})

    def end(self, message: AssistantMessage) -> bytes:
        sent = _block_stop(0) if self._said else b""
        for index, call in enumerate(message.calls, start=1 if self._said else 0):
            sent += _block_start(
                index, {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": {}}
            )
            sent += _block_delta(index, {"type": "input_json_delta", "partial_json": call.arguments})
            sent += _block_stop(index)
        delta = {"stop_reason": _REASONS[message.finish], "stop_sequence": None}
        ending = {"type": "message_delta", "delta": delta, "usage": _usage(message.tokens)}
        return (
            sent
            + write_event(ending, "message_delta")
            + write_event({"type": "message_stop"}, "message_stop")
        )

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
        calls = [
            {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": arguments_of(call)}
            for call in message.calls
        ]
        ending = {
            "stop_reason": _REASONS[message.finish],
            "usage": _usage(message.tokens),
        }
        return {**self._message(), "content": said + calls, **ending}

    def _message(self) -> dict[str, Any]:
        base = {"id": f"msg_{self._id}", "type": "message", "role": "assistant", "model": self._model}
        return {**base, "stop_sequence": None}


_REASONS: dict[Finish, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}


def _usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.input - tokens.cache_read - tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
    }


def _block_start(index: int, block: dict[str, Any]) -> bytes:
    kind = "content_block_start"
    return write_event({"type": kind, "index": index, "content_block": block}, kind)


def _block_delta(index: int, delta: dict[str, Any]) -> bytes:
    return write_event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")


def _block_stop(index: int) -> bytes:
    return write_event({"type": "content_block_stop", "index": index}, "content_block_stop")


def _error_body(status: int, message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": error_kind(status), "message": message}}


FORMAT = WireFormat(
    title="Anthropic's messages",
    request_rules=REQUEST_RULES,
    output_limit=output_limit,
    read_messages=read_messages,
    read_tools=read_tools,
    read_frame=read_frame,
    pieces=pieces,
    writer=MessagesWriter,
    error_body=_error_body,
)
