"""Answers of chat completions: the one place that knows their frames, and how to write them.

Servers that speak this format differ in small ways: calls without an index or an id, a usage of null, an
error in the middle of a stream. All of them are read; only what cannot be read is an error.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from journeyman.gateway.messages import AssistantMessage, Finish, Tokens, ToolCall, absurd, is_count
from journeyman.gateway.wires.base import AnswerState, Piece
from journeyman.gateway.wires.chat.requests import write_call
from journeyman.gateway.wires.events import write_event
from journeyman.gateway.wires.values import dict_at, dicts_in, with_error

_STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "invalid_request_error": 400,
}
"""What an error inside a stream would have been, had it come as an answer of its own."""


@dataclass(frozen=True)
class CallPart:
    """Some of a tool call: what an answer says of one call may be spread over many frames."""

    index: object
    call_id: str
    tool: str
    arguments: str


class ChatFrame:
    """One frame of a stream, or an answer that was not streamed.

    What an answer cost and whether it is complete can be read from any frame. Its content raises ValueError,
    TypeError or AttributeError where it has another shape: what is left out of an answer would not be missed.
    """

    def __init__(self, frame: dict[str, Any]) -> None:
        self._frame = frame
        self.error = frame.get("error")
        usage = frame.get("usage")
        self.usage = usage if usage and isinstance(usage, dict) else None

    @property
    def reason(self) -> str | None:
        """Why the answer ended, in the frame that says it."""
        reasons = [choice.get("finish_reason") for choice in dicts_in(self._frame.get("choices"))]
        return next((str(reason) for reason in reversed(reasons) if reason), None)

    @property
    def text(self) -> str:
        return "".join(said.get("content") or "" for said in self._said())

    @property
    def refusal(self) -> str:
        return "".join(said.get("refusal") or "" for said in self._said())

    def calls(self) -> Iterator[CallPart]:
        for said in self._said():
            for part in said.get("tool_calls") or ():
                function = part.get("function") or {}
                arguments = function.get("arguments") or ""
                if not isinstance(arguments, str):
                    arguments = json.dumps(arguments)
                yield CallPart(part.get("index"), part.get("id") or "", function.get("name") or "", arguments)

    def _said(self) -> Iterator[dict[str, Any]]:
        for choice in self._frame.get("choices") or ():
            yield choice.get("delta") or choice.get("message") or {}


def finish_of(reason: str, *, has_calls: bool) -> Finish:
    finishes: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
    # A reason that we have no word for is still a reason.
    return finishes.get(reason, "tool_calls" if has_calls else "stop")


def read_tokens(usage: dict[str, Any], *, null_is_zero: bool) -> tuple[Tokens | None, str]:
    """What was counted, or None and the reason: one count that makes no sense makes all of them worthless."""
    details = dict_at(usage, "prompt_tokens_details")
    counts: dict[str, Any] = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens") or 0,
        "cache_write_tokens": details.get("cache_write_tokens") or 0,
    }
    for name, count in counts.items():
        if null_is_zero and not count:
            counts[name] = 0
        elif not is_count(count):
            return None, absurd(name, count)
    return Tokens(*counts.values()), ""


def read_frame(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    read = ChatFrame(frame)
    if read.usage is not None:
        state = replace(state, tokens=read_tokens(read.usage, null_is_zero=False)[0])
    reason = read.reason
    if reason:
        finish = finish_of(reason, has_calls=reason == "tool_calls")
        state = replace(state, finish=finish, is_complete=True)
    return with_error(state, frame)


def pieces(frame: dict[str, Any]) -> Iterator[Piece]:
    read = ChatFrame(frame)
    yield Piece(read.text)
    for number, part in enumerate(read.calls()):
        yield Piece(part.arguments, number if part.index is None else part.index, part.tool)


@dataclass
class _Call:
    call_id: str = ""
    tool: str = ""
    arguments: list[str] = field(default_factory=list)


class ChatAnswer:
    """One streamed answer as it comes in, put together frame by frame."""

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
        words = (error.get("code"), error.get("type")) if isinstance(error, dict) else ()
        for word in map(str, words):
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
        value = json.loads(data)
        frame = ChatFrame(value)
        if frame.error:
            self.error = value
            return ""
        if frame.usage is not None:
            tokens, self._notice = read_tokens(frame.usage, null_is_zero=True)
            self._tokens = tokens or Tokens()
        self._reason = frame.reason or self._reason
        refusal = frame.refusal
        self._refused = self._refused or bool(refusal)
        said = frame.text + refusal
        if said:
            self._text.append(said)
        for part in frame.calls():
            self._add(part)
        return said

    def message(self) -> AssistantMessage | None:
        """The whole answer; None when it was cut off before it said why it ended."""
        if self._reason is None or self._reason == "error":
            return None
        calls = tuple(
            ToolCall(call.call_id or f"call_{uuid4().hex}", call.tool, "".join(call.arguments) or "{}")
            for call in self._calls
        )
        finish = "refusal" if self._refused else finish_of(self._reason, has_calls=bool(calls))
        return AssistantMessage("".join(self._text), calls, finish, self._tokens, notice=self._notice)

    def _add(self, part: CallPart) -> None:
        call = self._by_index.get(part.index)
        if call is None or (part.call_id and call.call_id and part.call_id != call.call_id):
            # Some servers give every call of an answer the same index.
            call = self._by_index[part.index] = _Call()
            self._calls.append(call)
        call.call_id = call.call_id or part.call_id
        call.tool = call.tool or part.tool
        call.arguments.append(part.arguments)


class ChatWriter:
    content_type = "text/event-stream"

    def __init__(self, model: str, answer_id: str, *, as_events: bool = True) -> None:
        self._model = model
        self._id = answer_id

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, piece: str) -> bytes:
        return self._chunk({"content": piece})

    def end(self, message: AssistantMessage) -> bytes:
        calls = b"".join(
            self._chunk({"tool_calls": [{"index": number, **write_call(call)}]})
            for number, call in enumerate(message.calls)
        )
        usage = {**self._base("chat.completion.chunk"), "choices": [], "usage": _usage(message.tokens)}
        return calls + self._chunk({}, _REASONS[message.finish]) + write_event(usage) + b"data: [DONE]\n\n"

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        if message.calls:
            said["tool_calls"] = [write_call(call) for call in message.calls]
        choice = {"index": 0, "message": said, "finish_reason": _REASONS[message.finish]}
        usage = _usage(message.tokens)
        return {**self._base("chat.completion"), "choices": [choice], "usage": usage}

    def _base(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self._id}", "object": kind, "created": 0, "model": self._model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return write_event({**self._base("chat.completion.chunk"), "choices": [choice]})


_REASONS: dict[Finish, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refusal": "content_filter",
}


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    }
