"""A scripted answer in each of the wire formats, streamed piece by piece or whole.

What the real clients insist on was found by running them: the order of frames and the fields below are
the least that all of them accept.
"""

import json
from typing import Any, Protocol

from journeyman.gateway.door.wires import Wire
from journeyman.gateway.messages import AssistantMessage, Finish, Tokens, ToolCall


class Writer(Protocol):
    content_type: str

    def begin(self) -> bytes: ...

    def text(self, piece: str) -> bytes: ...

    def end(self, message: AssistantMessage) -> bytes:
        """The calls, and that the answer is over."""
        ...

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        """The answer to a request that did not ask for a stream."""
        ...


def writer_for(wire: Wire, model: str, answer_id: str, *, as_events: bool = True) -> Writer:
    """`as_events` is what Google's clients ask for with `alt=sse`; the others know nothing else."""
    if wire == "chat":
        return _Chat(model, answer_id)
    if wire == "responses":
        return _Responses(model, answer_id)
    if wire == "messages":
        return _Messages(model, answer_id)
    return _Generate(model, answer_id, as_events=as_events)


def _frame(data: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


class _Events:
    content_type = "text/event-stream"

    def __init__(self, model: str, answer_id: str) -> None:
        self._model = model
        self._id = answer_id
        self._said = ""


class _Chat(_Events):
    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, piece: str) -> bytes:
        return self._chunk({"content": piece})

    def end(self, message: AssistantMessage) -> bytes:
        calls = b"".join(
            self._chunk({"tool_calls": [{"index": number, **_chat_call(call)}]})
            for number, call in enumerate(message.calls)
        )
        usage = {**self._base("chat.completion.chunk"), "choices": [], "usage": _chat_usage(message.tokens)}
        return calls + self._chunk({}, _CHAT_FINISH[message.finish]) + _frame(usage) + b"data: [DONE]\n\n"

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        if message.calls:
            said["tool_calls"] = [_chat_call(call) for call in message.calls]
        choice = {"index": 0, "message": said, "finish_reason": _CHAT_FINISH[message.finish]}
        usage = _chat_usage(message.tokens)
        return {**self._base("chat.completion"), "choices": [choice], "usage": usage}

    def _base(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self._id}", "object": kind, "created": 0, "model": self._model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _frame({**self._base("chat.completion.chunk"), "choices": [choice]})


_CHAT_FINISH: dict[Finish, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refusal": "content_filter",
}


def _chat_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _chat_usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    }


class _Responses(_Events):
    def begin(self) -> bytes:
        return self._event("response.created", response=self._response("in_progress", []))

    def text(self, piece: str) -> bytes:
        opening = b""
        if not self._said:
            item = {**self._message(""), "status": "in_progress", "content": []}
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            part = {"type": "output_text", "text": "", "annotations": []}
            opening = self._event("response.output_item.added", output_index=0, item=item)
            opening += self._event("response.content_part.added", **place, part=part)
        self._said += piece
        place = {"item_id": f"msg_{self._id}", "output_index": 0, "content_index": 0}
        return opening + self._event("response.output_text.delta", **place, delta=piece)

    def end(self, message: AssistantMessage) -> bytes:
        items = self._items(message)
        sent = b""
        for index, item in enumerate(items):
            if item["type"] == "message":
                place = {"item_id": item["id"], "output_index": index, "content_index": 0}
                sent += self._event("response.output_text.done", **place, text=self._said)
                sent += self._event("response.content_part.done", **place, part=item["content"][0])
            else:
                begun = {**item, "arguments": "", "status": "in_progress"}
                place = {"item_id": item["id"], "output_index": index}
                sent += self._event("response.output_item.added", output_index=index, item=begun)
                arguments = item["arguments"]
                sent += self._event("response.function_call_arguments.delta", **place, delta=arguments)
                sent += self._event("response.function_call_arguments.done", **place, arguments=arguments)
            sent += self._event("response.output_item.done", output_index=index, item=item)
        ending = self._ending(message, items)
        return sent + self._event(f"response.{ending['status']}", response=ending)

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        self._said = message.text
        return self._ending(message, self._items(message))

    def _items(self, message: AssistantMessage) -> list[dict[str, Any]]:
        said = [self._message(self._said)] if self._said else []
        return said + [
            {
                "type": "function_call",
                "id": f"fc_{call.call_id}",
                "call_id": call.call_id,
                "name": call.tool,
                "arguments": call.arguments,
                "status": "completed",
            }
            for call in message.calls
        ]

    def _message(self, text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        base = {"type": "message", "id": f"msg_{self._id}", "role": "assistant"}
        return {**base, "status": "completed", "content": content}

    def _ending(self, message: AssistantMessage, items: list[dict[str, Any]]) -> dict[str, Any]:
        tokens = message.tokens
        usage = {
            "input_tokens": tokens.input,
            "input_tokens_details": {"cached_tokens": tokens.cache_read},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens.input + tokens.output,
        }
        reasons = {"length": "max_output_tokens", "refusal": "content_filter"}
        reason = reasons.get(message.finish)
        ending = self._response("incomplete" if reason else "completed", items)
        return {**ending, "usage": usage, "incomplete_details": {"reason": reason} if reason else None}

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        base = {"id": f"resp_{self._id}", "object": "response", "created_at": 0, "model": self._model}
        return {**base, "status": status, "error": None, "output": output}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return _frame({"type": kind, **fields}, kind)


class _Messages(_Events):
    def begin(self) -> bytes:
        usage = _anthropic_usage(Tokens())
        message = {**self._message(), "content": [], "stop_reason": None, "usage": usage}
        return _frame({"type": "message_start", "message": message}, "message_start")

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
        delta = {"stop_reason": _ANTHROPIC_FINISH[message.finish], "stop_sequence": None}
        ending = {"type": "message_delta", "delta": delta, "usage": _anthropic_usage(message.tokens)}
        return sent + _frame(ending, "message_delta") + _frame({"type": "message_stop"}, "message_stop")

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
        calls = [
            {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": _arguments(call)}
            for call in message.calls
        ]
        ending = {
            "stop_reason": _ANTHROPIC_FINISH[message.finish],
            "usage": _anthropic_usage(message.tokens),
        }
        return {**self._message(), "content": said + calls, **ending}

    def _message(self) -> dict[str, Any]:
        base = {"id": f"msg_{self._id}", "type": "message", "role": "assistant", "model": self._model}
        return {**base, "stop_sequence": None}


_ANTHROPIC_FINISH: dict[Finish, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}


def _anthropic_usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.input - tokens.cache_read - tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
    }


def _block_start(index: int, block: dict[str, Any]) -> bytes:
    kind = "content_block_start"
    return _frame({"type": kind, "index": index, "content_block": block}, kind)


def _block_delta(index: int, delta: dict[str, Any]) -> bytes:
    return _frame({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")


def _block_stop(index: int) -> bytes:
    return _frame({"type": "content_block_stop", "index": index}, "content_block_stop")


class _Generate:
    def __init__(self, model: str, answer_id: str, *, as_events: bool) -> None:
        self.content_type = "text/event-stream" if as_events else "application/json"
        self._model = model
        self._id = answer_id
        self._as_events = as_events
        self._is_first = True

    def begin(self) -> bytes:
        return b"" if self._as_events else b"["

    def text(self, piece: str) -> bytes:
        return self._chunk(self._answer([{"text": piece}]))

    def end(self, message: AssistantMessage) -> bytes:
        ending = self._chunk(self._ending(message, _google_calls(message)))
        return ending if self._as_events else ending + b"]"

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
        return self._ending(message, said + _google_calls(message))

    def _ending(self, message: AssistantMessage, parts: list[dict[str, Any]]) -> dict[str, Any]:
        answer = self._answer(parts)
        reasons: dict[Finish, str] = {"length": "MAX_TOKENS", "refusal": "SAFETY"}
        answer["candidates"][0]["finishReason"] = reasons.get(message.finish, "STOP")
        tokens = message.tokens
        answer["usageMetadata"] = {
            "promptTokenCount": tokens.input,
            "cachedContentTokenCount": tokens.cache_read,
            "candidatesTokenCount": tokens.output,
            "totalTokenCount": tokens.input + tokens.output,
        }
        return answer

    def _answer(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": parts or [{"text": ""}]}, "index": 0}
        return {"candidates": [candidate], "modelVersion": self._model, "responseId": self._id}

    def _chunk(self, answer: dict[str, Any]) -> bytes:
        if self._as_events:
            return _frame(answer)
        comma, self._is_first = (b"" if self._is_first else b","), False
        return comma + json.dumps(answer).encode()


def _google_calls(message: AssistantMessage) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": call.call_id, "name": call.tool, "args": _arguments(call)}}
        for call in message.calls
    ]


def _arguments(call: ToolCall) -> Any:
    """As an object, for formats in which broken JSON cannot be said."""
    try:
        return json.loads(call.arguments)
    except ValueError:
        return {}
