"""What a request asks for, read from any of the wire formats into our own words.

Agents keep a whole session in one conversation, so a script's place in it is counted from the last
prompt: what came before belongs to earlier turns of work.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from journeyman.gateway.door.wires import Wire
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    ToolOffer,
    ToolResult,
    ToolResults,
    UserMessage,
)

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
"""What Claude Code adds to the words of its user."""
_ASSISTANT_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")


@dataclass(frozen=True)
class Asked:
    messages: tuple[Message, ...]
    """From the last prompt on."""
    offers: tuple[ToolOffer, ...]


def read_request(wire: Wire, body: dict[str, Any]) -> Asked:
    """Fields of a wrong type are read as if they were not there: a script needs none of them."""
    messages = [message for message in _MESSAGES[wire](body) if not _is_empty(message)]
    return Asked(_since_last_prompt(messages), tuple(_OFFERS[wire](body)))


def _is_empty(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.text.strip()


def _since_last_prompt(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The prompt as one message, then answers and results in turn."""
    merged = [_merged(list(group)) for _, group in groupby(messages, type)]
    prompts = [place for place, message in enumerate(merged) if isinstance(message, UserMessage)]
    return tuple(merged[prompts[-1] :] if prompts else merged)


def _merged(group: list[Any]) -> Message:
    first: Message = group[0]
    if isinstance(first, UserMessage):
        return UserMessage("\n\n".join(message.text for message in group))
    if isinstance(first, ToolResults):
        return ToolResults(tuple(result for message in group for result in message.results))
    return AssistantMessage("".join(message.text for message in group))


def _chat(body: dict[str, Any]) -> Iterable[Message]:
    for message in _dicts(body.get("messages")):
        text = _text(message.get("content"))
        match message.get("role"):
            case "user":
                yield UserMessage(_REMINDER.sub("", text))
            case "assistant":
                yield AssistantMessage(text)
            case "tool":
                yield _result(message.get("tool_call_id"), text)


def _responses(body: dict[str, Any]) -> Iterable[Message]:
    given = body.get("input")
    if isinstance(given, str):
        yield UserMessage(given)
    for item in _dicts(given):
        kind = item.get("type", "message")
        if kind in _ASSISTANT_ITEMS or (kind == "message" and item.get("role") == "assistant"):
            yield AssistantMessage(_text(item.get("content")))
        elif kind == "message" and item.get("role") == "user":
            yield UserMessage(_text(item.get("content")))
        elif str(kind).endswith("_output"):
            yield _result(item.get("call_id"), _text(item.get("output")))


def _messages(body: dict[str, Any]) -> Iterable[Message]:
    for message in _dicts(body.get("messages")):
        content = message.get("content")
        results = [block for block in _dicts(content) if block.get("type") == "tool_result"]
        if message.get("role") == "assistant":
            yield AssistantMessage(_text(content))
        elif results:
            for block in results:
                yield _result(block.get("tool_use_id"), _text(block.get("content")))
        else:
            yield UserMessage(_REMINDER.sub("", _text(content)))


def _generate(body: dict[str, Any]) -> Iterable[Message]:
    for content in _dicts(body.get("contents")):
        parts = list(_dicts(content.get("parts")))
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content.get("role") == "model":
            yield AssistantMessage(_text(parts))
        elif results:
            for result in _dicts(results):
                yield _result(result.get("id"), _text(result.get("response")))
        else:
            yield UserMessage(_text(parts))


_MESSAGES: dict[Wire, Callable[[dict[str, Any]], Iterable[Message]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "generate": _generate,
}


def _chat_offers(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in _dicts(body.get("tools")):
        yield from _offer(tool.get("function"), "parameters")


def _plain_offers(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in _dicts(body.get("tools")):
        yield from _offer(tool, "input_schema" if "input_schema" in tool else "parameters")


def _generate_offers(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in _dicts(body.get("tools")):
        for declared in _dicts(tool.get("functionDeclarations")):
            schema = "parametersJsonSchema" if "parametersJsonSchema" in declared else "parameters"
            yield from _offer(declared, schema)


_OFFERS: dict[Wire, Callable[[dict[str, Any]], Iterable[ToolOffer]]] = {
    "chat": _chat_offers,
    "responses": _plain_offers,
    "messages": _plain_offers,
    "generate": _generate_offers,
}


def _offer(tool: Any, schema: str) -> Iterable[ToolOffer]:
    # A tool without a name of its own is one that the provider would run itself.
    if isinstance(tool, dict) and isinstance(tool.get("name"), str):
        parameters = tool.get(schema)
        yield ToolOffer(tool["name"], "", parameters if isinstance(parameters, dict) else {})


def _result(call_id: Any, output: str) -> ToolResults:
    return ToolResults((ToolResult(str(call_id or ""), "", output),))


def _dicts(value: Any) -> Iterable[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _text(value: Any) -> str:
    """The text in a content: a string, a list of blocks or parts, or an object that holds one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(item) for item in value)))
    if isinstance(value, dict):
        for name in ("text", "content", "output", "error"):
            if found := _text(value.get(name)):
                return found
    return ""
