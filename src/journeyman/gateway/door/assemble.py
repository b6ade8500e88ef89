"""A provider's answer assembled from its frames, for recordings."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from journeyman.gateway.messages import AssistantMessage, ToolCall
from journeyman.gateway.wires.base import Wire
from journeyman.gateway.wires.events import EventSplitter
from journeyman.gateway.wires.formats import FORMATS


def assemble(wire: Wire, content: bytes, *, is_stream: bool) -> AssistantMessage:
    """The text and the calls of an answer. Frames that cannot be read add nothing."""
    text: list[str] = []
    calls: dict[object, list[str]] = {}
    for frame in _frames(content, is_stream=is_stream):
        with suppress(TypeError, AttributeError, ValueError):
            for piece in FORMATS[wire].pieces(frame):
                if piece.call is None:
                    text.append(piece.added)
                    continue
                call = calls.setdefault(piece.call, [piece.tool, ""])
                call[0] = call[0] or piece.tool
                call[1] += piece.added
    made = tuple(
        ToolCall(f"call-{number}", tool, arguments or "{}")
        for number, (tool, arguments) in enumerate(calls.values(), start=1)
    )
    return AssistantMessage("".join(text), made, "tool_calls" if made else "stop")


def _frames(content: bytes, *, is_stream: bool) -> Iterator[dict[str, Any]]:
    events = EventSplitter()
    for data in (*events.feed(content), *events.end()) if is_stream else [content]:
        try:
            value = json.loads(data)
        except ValueError:
            continue
        for frame in value if isinstance(value, list) else [value]:
            if isinstance(frame, dict):
                yield frame
