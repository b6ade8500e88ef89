"""A stream of chat completions put together again, without a network.

Servers that speak this format differ in small ways: calls without an index or an id, a usage of null, an
error in the middle of a stream. All of them are read; only what cannot be read is an error.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from journeyman.gateway.messages import AssistantMessage, Finish, Tokens, ToolCall, absurd, is_count

_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "invalid_request_error": 400,
}
"""What an error inside a stream would have been, had it come as an answer of its own."""


class Frames:
    """Cuts what arrives into the data of its server-sent events."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def of(self, chunk: bytes) -> Iterator[bytes]:
        lines, found, rest = chunk.rpartition(b"\n")
        if not found:  # joined when it has an end: a line without one would be copied again and again
            self._rest.append(chunk)
            return
        whole = b"".join((*self._rest, lines))
        self._rest = [rest]
        for line in whole.split(b"\n"):
            if line.startswith(b"data:"):
                yield line[5:].strip()


@dataclass
class _Call:
    call_id: str = ""
    tool: str = ""
    arguments: list[str] = field(default_factory=list)


class ChatAnswer:
    """One answer as it comes in, frame by frame."""

    def __init__(self) -> None:
        self.is_done = False
        self.error: dict[str, Any] | None = None
        """What the server says went wrong in the middle of its answer."""
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[object, _Call] = {}
        self._refused = False
        self._reason: str | None = None
        self._tokens = Tokens()
        self._notice = ""

    @property
    def error_status(self) -> int:
        error = (self.error or {}).get("error")
        told = (error.get("code"), error.get("type")) if isinstance(error, dict) else ()
        for word in map(str, told):
            if word.isdecimal() and 400 <= int(word) < 600:
                return int(word)
            if word in _STATUSES:
                return _STATUSES[word]
        return 500

    def take(self, data: bytes) -> str:
        """Take in one frame; returns the text in it."""
        if not data or self.is_done:
            return ""
        if data == b"[DONE]":
            self.is_done = True
            return ""
        frame = json.loads(data)
        if frame.get("error"):
            self.error = frame
            return ""
        if usage := frame.get("usage"):
            self._tokens, self._notice = _tokens(usage)
        said = ""
        for choice in frame.get("choices") or ():
            said += self._choice(choice)
        return said

    def message(self) -> AssistantMessage | None:
        """The whole answer; None when it was cut off before it said why it ended."""
        if self._reason is None or self._reason == "error":
            return None
        calls = tuple(
            ToolCall(call.call_id or f"call_{uuid4().hex}", call.tool, "".join(call.arguments) or "{}")
            for call in self._calls
        )
        # A reason that we have no word for is still a reason.
        finish = _FINISHES.get(self._reason, "tool_calls" if calls else "stop")
        finish = "refusal" if self._refused else finish
        return AssistantMessage("".join(self._text), calls, finish, self._tokens, notice=self._notice)

    def _choice(self, choice: dict[str, Any]) -> str:
        self._reason = choice.get("finish_reason") or self._reason
        delta = choice.get("delta") or {}
        refusal = delta.get("refusal") or ""
        self._refused = self._refused or bool(refusal)
        said = (delta.get("content") or "") + refusal
        if said:
            self._text.append(said)
        for part in delta.get("tool_calls") or ():
            self._call(part)
        return said

    def _call(self, part: dict[str, Any]) -> None:
        call_id = part.get("id") or ""
        index = part.get("index")
        call = self._by_index.get(index)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            # Some servers give every call of an answer the same index.
            call = self._by_index[index] = _Call()
            self._calls.append(call)
        function = part.get("function") or {}
        call.call_id = call.call_id or call_id
        call.tool = call.tool or function.get("name") or ""
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        call.arguments.append(arguments)


def _tokens(usage: dict[str, Any]) -> tuple[Tokens, str]:
    """What was counted. A count that is none makes all of them worth nothing, and is told."""
    details = usage.get("prompt_tokens_details") or {}
    counts = {
        "prompt_tokens": usage.get("prompt_tokens") or 0,
        "completion_tokens": usage.get("completion_tokens") or 0,
        "cached_tokens": details.get("cached_tokens") or 0,
        "cache_write_tokens": details.get("cache_write_tokens") or 0,
    }
    for name, count in counts.items():
        if not is_count(count):
            return Tokens(), absurd(name, count)
    return Tokens(*counts.values()), ""
