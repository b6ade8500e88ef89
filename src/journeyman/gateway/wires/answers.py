"""What a provider's answer says about itself, read while it passes: tokens, and how it ended.

A reader looks at frames and keeps none: whatever it makes of them, the bytes go on to the agent as they
came. A count that is no count is not guessed at; the answer then counts as unmeasured.
"""

import json
from dataclasses import replace
from typing import Any

from journeyman.gateway.messages import absurd, is_count
from journeyman.gateway.wires.base import AnswerState, Wire
from journeyman.gateway.wires.events import EventSplitter
from journeyman.gateway.wires.formats import FORMATS
from journeyman.gateway.wires.values import dict_at

_LONGEST_FRAME = 16_000_000
"""Bytes of one frame, or of an answer that is not streamed, that are still read."""


class AnswerReader:
    """Reads one answer of a wire format, streamed or whole."""

    def __init__(self, wire: Wire, *, is_stream: bool) -> None:
        self._read_frame = FORMATS[wire].read_frame
        self._events = EventSplitter() if is_stream else None
        self._whole = bytearray()
        self._skipping = False
        self.state = AnswerState()

    def feed(self, chunk: bytes) -> None:
        if self._skipping:
            return
        if self._events is None:
            self._whole += chunk
            self._skipping = len(self._whole) > _LONGEST_FRAME
            return
        for data in self._events.feed(chunk):
            self._take(data)
        self._skipping = self._events.rest_bytes > _LONGEST_FRAME

    def end(self) -> AnswerState:
        """What is known when no more bytes come."""
        if not self._skipping:
            for data in [bytes(self._whole)] if self._events is None else self._events.end():
                self._take(data)
        self._whole.clear()
        return self.state

    def _take(self, text: bytes) -> None:
        try:
            value = json.loads(text)
        except ValueError:  # `[DONE]`, or a frame that is broken
            return
        for frame in value if isinstance(value, list) else [value]:
            if isinstance(frame, dict):
                self.state = _with_notice(self._read_frame(self.state, frame), frame)


def _with_notice(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    """Says which count made no sense, once an answer's counts were given up for it."""
    if state.tokens is not None or state.notice:
        return state
    holders = (frame, dict_at(frame, "response"), dict_at(frame, "message"))
    for usage in (dict_at(holder, name) for holder in holders for name in ("usage", "usageMetadata")):
        for name, count in usage.items():
            if "oken" in name and not isinstance(count, dict | list | None) and not is_count(count):
                return replace(state, notice=absurd(name, count))
    return state
