"""What a provider's answer says about itself, read while it passes: tokens, and how it ended.

A reader looks at frames and keeps none: whatever it makes of them, the bytes go on to the agent as they
came. A count that is no count is not guessed at; the answer then counts as unmeasured.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from journeyman.gateway.door.wires import Wire
from journeyman.gateway.messages import Finish, Tokens, absurd, is_count

_LONGEST_FRAME = 16_000_000
"""Bytes of one frame, or of an answer that is not streamed, that are still read."""


@dataclass(frozen=True)
class Seen:
    """What is known of an answer so far."""

    tokens: Tokens | None = None
    """None until the provider has counted, and when what it counted makes no sense."""
    finish: Finish | None = None
    is_whole: bool = False
    """Whether the provider said that the answer is at its end."""
    fault: str = ""
    """What went wrong, when the provider said so in the middle of an answer."""
    notice: str = ""
    """What was odd about its counts."""


class Reader:
    """Reads one answer of a wire, streamed or whole."""

    def __init__(self, wire: Wire, *, is_stream: bool) -> None:
        self._read = _READING[wire]
        self._is_stream = is_stream
        self._rest = bytearray()
        self._skipping = False
        self.seen = Seen()

    def feed(self, chunk: bytes) -> None:
        if self._skipping:
            return
        self._rest += chunk
        if self._is_stream and b"\n" in chunk:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:"):
                    self._take(line[5:])
        if len(self._rest) > _LONGEST_FRAME:
            self._skipping = True
            self._rest.clear()

    def end(self) -> Seen:
        """What is known when no more bytes come."""
        if not self._is_stream:
            self._take(bytes(self._rest))
        elif self._rest.startswith(b"data:"):
            self._take(bytes(self._rest[5:]))
        self._rest.clear()
        return self.seen

    def _take(self, text: bytes) -> None:
        try:
            value = json.loads(text)
        except ValueError:  # `[DONE]`, or a frame that is broken
            return
        for frame in value if isinstance(value, list) else [value]:
            if isinstance(frame, dict):
                self.seen = _with_notice(self._read(self.seen, frame), frame)


def read_chat(seen: Seen, frame: dict[str, Any]) -> Seen:
    usage = frame.get("usage")
    if isinstance(usage, dict):
        cached = _inside(usage, "prompt_tokens_details").get("cached_tokens")
        seen = replace(seen, tokens=_tokens(usage, "prompt_tokens", "completion_tokens", cached))
    choices = frame.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = first.get("finish_reason") if isinstance(first, dict) else None
    if reason:
        words: dict[str, Finish] = {
            "tool_calls": "tool_calls",
            "length": "length",
            "content_filter": "refusal",
        }
        seen = replace(seen, finish=words.get(str(reason), "stop"), is_whole=True)
    return _with_fault(seen, frame)


def read_responses(seen: Seen, frame: dict[str, Any]) -> Seen:
    response = frame.get("response") if "response" in frame else frame
    if not isinstance(response, dict):
        return seen
    usage = response.get("usage")
    if isinstance(usage, dict):
        cached = _inside(usage, "input_tokens_details").get("cached_tokens")
        seen = replace(seen, tokens=_tokens(usage, "input_tokens", "output_tokens", cached))
    status = response.get("status")
    if status in ("completed", "incomplete") and response.get("object", "response") == "response":
        reason = _inside(response, "incomplete_details").get("reason")
        output = response.get("output")
        calls = [item for item in output if _is_call(item)] if isinstance(output, list) else []
        finish: Finish = "tool_calls" if calls else "stop"
        if status == "incomplete":
            finish = "refusal" if reason == "content_filter" else "length"
        seen = replace(seen, finish=finish, is_whole=True)
    return _with_fault(seen, response if status == "failed" or "error" not in frame else frame)


def read_messages(seen: Seen, frame: dict[str, Any]) -> Seen:
    message = frame.get("message") if isinstance(frame.get("message"), dict) else frame
    assert isinstance(message, dict)
    usage = message.get("usage")
    if isinstance(usage, dict):
        seen = replace(seen, tokens=_anthropic_tokens(seen.tokens or Tokens(), usage))
    reason = _inside(frame, "delta").get("stop_reason") or message.get("stop_reason")
    if reason:
        words: dict[str, Finish] = {"tool_use": "tool_calls", "max_tokens": "length", "refusal": "refusal"}
        seen = replace(seen, finish=words.get(str(reason), "stop"))
    if frame.get("type") == "message_stop" or (frame.get("type") == "message" and reason):
        seen = replace(seen, is_whole=True)
    return _with_fault(seen, frame)


def read_generate(seen: Seen, frame: dict[str, Any]) -> Seen:
    usage = frame.get("usageMetadata")
    if isinstance(usage, dict):
        read = [_count(usage.get(name, 0)) for name in ("promptTokenCount", "toolUsePromptTokenCount")]
        written = [_count(usage.get(name, 0)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        cached = _count(usage.get("cachedContentTokenCount", 0))
        counts = [*read, *written, cached]
        known = None not in counts and "promptTokenCount" in usage
        tokens = Tokens(sum(filter(None, read)), sum(filter(None, written)), cached or 0) if known else None
        seen = replace(seen, tokens=tokens)
    candidates = frame.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    reason = first.get("finishReason") if isinstance(first, dict) else None
    if _inside(frame, "promptFeedback").get("blockReason"):
        seen = replace(seen, finish="refusal", is_whole=True)
    if reason:
        words: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length"}
        seen = replace(seen, finish=words.get(str(reason), "refusal"), is_whole=True)
    return _with_fault(seen, frame)


_READING: dict[Wire, Callable[[Seen, dict[str, Any]], Seen]] = {
    "chat": read_chat,
    "responses": read_responses,
    "messages": read_messages,
    "generate": read_generate,
}


def _with_notice(seen: Seen, frame: dict[str, Any]) -> Seen:
    """Says which count made no sense, once an answer's counts were given up for it."""
    if seen.tokens is not None or seen.notice:
        return seen
    holders = (frame, _inside(frame, "response"), _inside(frame, "message"))
    for usage in (_inside(holder, name) for holder in holders for name in ("usage", "usageMetadata")):
        for name, count in usage.items():
            if "oken" in name and not isinstance(count, dict | list | None) and not is_count(count):
                return replace(seen, notice=absurd(name, count))
    return seen


def _with_fault(seen: Seen, frame: dict[str, Any]) -> Seen:
    error = frame.get("error")
    if not error:
        return seen
    message = error.get("message") if isinstance(error, dict) else error
    return replace(seen, fault=str(message or "no message"))


def _tokens(usage: dict[str, Any], read: str, written: str, cached: Any) -> Tokens | None:
    counts = _count(usage.get(read)), _count(usage.get(written)), _count(cached or 0)
    if counts[0] is None or counts[1] is None or counts[2] is None:
        return None
    return Tokens(counts[0], counts[1], counts[2])


def _anthropic_tokens(before: Tokens, usage: dict[str, Any]) -> Tokens | None:
    """Anthropic counts its cache's reads and writes beside the input, and tells its counts in pieces."""
    was = {
        "input_tokens": before.input - before.cache_read - before.cache_write,
        "output_tokens": before.output,
        "cache_read_input_tokens": before.cache_read,
        "cache_creation_input_tokens": before.cache_write,
    }
    now = [_count(old if usage.get(name) is None else usage[name]) for name, old in was.items()]
    if now[0] is None or now[1] is None or now[2] is None or now[3] is None:
        return None
    return Tokens(now[0] + now[2] + now[3], now[1], now[2], now[3])


def _count(value: Any) -> int | None:
    return value if is_count(value) else None


def _inside(frame: dict[str, Any], name: str) -> dict[str, Any]:
    inner = frame.get(name)
    return inner if isinstance(inner, dict) else {}


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and str(item.get("type")).endswith("_call")
