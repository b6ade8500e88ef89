"""OpenAI's responses, which Codex speaks.

The order of frames and the fields that are written were found by running the client: they are the least that
it accepts.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from journeyman.gateway.messages import AssistantMessage, Finish, Message, ToolOffer, UserMessage
from journeyman.gateway.wires.base import AnswerState, Piece, WireFormat
from journeyman.gateway.wires.events import write_event
from journeyman.gateway.wires.openai import OPENAI_RULES, openai_error_body
from journeyman.gateway.wires.rules import (
    ADDRESS,
    STATE,
    Inline,
    Rule,
    by_type,
    document,
    fields,
    image_address,
    limit,
    list_of,
    never,
    passes,
    text_or,
    tools_of,
)
from journeyman.gateway.wires.values import (
    dict_at,
    dicts_in,
    text_in,
    tokens_in,
    tool_offers,
    tool_result,
    with_error,
)

_CONTENT = text_or(
    list_of(
        by_type(
            text=passes,
            input_text=passes,
            output_text=passes,
            reasoning_text=passes,
            summary_text=passes,
            refusal=passes,
            encrypted_content=passes,
            input_image=fields(type=passes, image_url=image_address, detail=passes, file_id=never(STATE)),
            input_file=fields(
                type=passes,
                file_data=document,
                filename=passes,
                file_url=never(ADDRESS),
                file_id=never(STATE),
            ),
        )
    )
)


def _item(value: Any, where: str, inline: Inline) -> Any:
    """An item of a conversation, with the files in what it says or what a tool gave."""
    return {
        name: _CONTENT(inner, f"{where}.{name}", inline)
        if name in ("content", "output") and isinstance(inner, list)
        else inner
        for name, inner in value.items()
    }


_ITEMS = (
    "message",
    "agent_message",
    "reasoning",
    "compaction",
    "compaction_trigger",
    "context_compaction",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "tool_search_call",
    "tool_search_output",
)
REQUEST_RULES: dict[str, Rule] = {
    **OPENAI_RULES,
    "input": text_or(
        list_of(by_type("message", **dict.fromkeys(_ITEMS, _item), item_reference=never(STATE)))
    ),
    "instructions": passes,
    "tools": tools_of("function", "custom", "local_shell"),
    "max_output_tokens": limit,
    "max_tool_calls": passes,
    "reasoning": passes,
    "text": passes,
    "truncation": passes,
    "include": passes,
    "client_metadata": passes,
    "previous_response_id": never(STATE),
    "conversation": never(STATE),
    "prompt": never(STATE),
}


_ASSISTANT_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")


def read_messages(body: dict[str, Any]) -> Iterable[Message]:
    given = body.get("input")
    if isinstance(given, str):
        yield UserMessage(given)
    for item in dicts_in(given):
        kind = item.get("type", "message")
        if kind in _ASSISTANT_ITEMS or (kind == "message" and item.get("role") == "assistant"):
            yield AssistantMessage(text_in(item.get("content")))
        elif kind == "message" and item.get("role") == "user":
            yield UserMessage(text_in(item.get("content")))
        elif str(kind).endswith("_output"):
            yield tool_result(item.get("call_id"), text_in(item.get("output")))


def read_tools(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in dicts_in(body.get("tools")):
        yield from tool_offers(tool, "parameters")


def read_frame(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    response = frame.get("response") if "response" in frame else frame
    if not isinstance(response, dict):
        return state
    usage = response.get("usage")
    if isinstance(usage, dict):
        cached = dict_at(usage, "input_tokens_details").get("cached_tokens")
        state = replace(state, tokens=tokens_in(usage, "input_tokens", "output_tokens", cached))
    status = response.get("status")
    if status in ("completed", "incomplete") and response.get("object", "response") == "response":
        reason = dict_at(response, "incomplete_details").get("reason")
        has_calls = any(str(item.get("type")).endswith("_call") for item in dicts_in(response.get("output")))
        finish: Finish = "tool_calls" if has_calls else "stop"
        if status == "incomplete":
            finish = "refusal" if reason == "content_filter" else "length"
        state = replace(state, finish=finish, is_complete=True)
    return with_error(state, response if status == "failed" or "error" not in frame else frame)


def pieces(frame: dict[str, Any]) -> Iterator[Piece]:
    """Only the last frame is read: it holds the whole answer once more."""
    ended = ("response.completed", "response.incomplete")
    response = frame.get("response") if frame.get("type") in ended else frame
    for number, item in enumerate((response or {}).get("output") or ()):
        if item.get("type") == "message":
            for part in item.get("content") or ():
                yield Piece(part.get("text") or "")
        elif item.get("type") in ("function_call", "custom_tool_call"):
            written = item.get("arguments") or json.dumps({"input": item.get("input")})
            yield Piece(written, number, item.get("name") or "")


class ResponsesWriter:
    content_type = "text/event-stream"

    def __init__(self, model: str, answer_id: str, *, as_events: bool = True) -> None:
        self._model = model
        self._id = answer_id
        self._said = ""

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
        return write_event({"type": kind, **fields}, kind)


FORMAT = WireFormat(
    title="OpenAI's responses",
    request_rules=REQUEST_RULES,
    output_limit=lambda request: request.get("max_output_tokens"),
    read_messages=read_messages,
    read_tools=read_tools,
    read_frame=read_frame,
    pieces=pieces,
    writer=ResponsesWriter,
    error_body=openai_error_body,
)
