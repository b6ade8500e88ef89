"""A provider's answer put together again from its frames, for whoever wants to keep it."""

import json
from collections.abc import Iterator
from typing import Any

from journeyman.gateway.door.wires import Wire
from journeyman.gateway.messages import AssistantMessage, ToolCall


def gathered(wire: Wire, content: bytes, *, is_stream: bool) -> AssistantMessage:
    """What was said and called. Frames that cannot be read say nothing."""
    text: list[str] = []
    calls: dict[Any, list[str]] = {}
    for frame in _frames(content, is_stream=is_stream):
        for place, name, piece in _PIECES[wire](frame):
            if place is None:
                text.append(piece)
            else:
                call = calls.setdefault(place, [name, ""])
                call[0] = call[0] or name
                call[1] += piece
    made = tuple(
        ToolCall(f"call-{number}", name, written or "{}")
        for number, (name, written) in enumerate(calls.values(), start=1)
    )
    return AssistantMessage("".join(text), made, "tool_calls" if made else "stop")


Piece = tuple[Any, str, str]
"""The place of a call, or None for text; the tool's name, where it is said; what is added."""


def _frames(content: bytes, *, is_stream: bool) -> Iterator[dict[str, Any]]:
    lines = content.split(b"\n") if is_stream else [b"data:" + content]
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        try:
            value = json.loads(line[5:])
        except ValueError:
            continue
        for frame in value if isinstance(value, list) else [value]:
            if isinstance(frame, dict):
                yield frame


def _chat(frame: dict[str, Any]) -> Iterator[Piece]:
    for choice in frame.get("choices") or ():
        said = choice.get("delta") or choice.get("message") or {}
        if said.get("content"):
            yield None, "", said["content"]
        for number, call in enumerate(said.get("tool_calls") or ()):
            function = call.get("function") or {}
            yield call.get("index", number), function.get("name") or "", function.get("arguments") or ""


def _responses(frame: dict[str, Any]) -> Iterator[Piece]:
    ended = ("response.completed", "response.incomplete")
    response = frame.get("response") if frame.get("type") in ended else frame
    for number, item in enumerate((response or {}).get("output") or ()):
        if item.get("type") == "message":
            for part in item.get("content") or ():
                yield None, "", part.get("text") or ""
        elif item.get("type") in ("function_call", "custom_tool_call"):
            written = item.get("arguments") or json.dumps({"input": item.get("input")})
            yield number, item.get("name") or "", written


def _messages(frame: dict[str, Any]) -> Iterator[Piece]:
    for number, block in enumerate(frame.get("content") or ()):
        if block.get("type") == "text":
            yield None, "", block.get("text") or ""
        elif block.get("type") == "tool_use":
            yield number, block.get("name") or "", json.dumps(block.get("input") or {})
    block, delta = frame.get("content_block") or {}, frame.get("delta") or {}
    if block.get("type") == "tool_use":
        yield frame.get("index"), block.get("name") or "", ""
    if delta.get("type") == "text_delta":
        yield None, "", delta.get("text") or ""
    elif delta.get("type") == "input_json_delta":
        yield frame.get("index"), "", delta.get("partial_json") or ""


def _generate(frame: dict[str, Any]) -> Iterator[Piece]:
    for candidate in frame.get("candidates") or ():
        for part in (candidate.get("content") or {}).get("parts") or ():
            call = part.get("functionCall")
            if call:
                # Google sends a call whole, and may send several of the same tool.
                yield object(), call.get("name") or "", json.dumps(call.get("args") or {})
            elif part.get("text") and not part.get("thought"):
                yield None, "", part["text"]


_PIECES = {"chat": _chat, "responses": _responses, "messages": _messages, "generate": _generate}
