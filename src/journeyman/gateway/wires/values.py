"""Values inside the JSON of requests and answers that others wrote.

Nothing here raises: what has another type than its format documents is read as if it were not there.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from journeyman.gateway.messages import Tokens, ToolCall, ToolOffer, ToolResult, ToolResults, is_count
from journeyman.gateway.wires.base import AnswerState

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def dicts_in(value: Any) -> Iterable[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def dict_at(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def text_in(value: Any) -> str:
    """The text in a content: a string, a list of blocks or parts, or an object that holds one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, (text_in(item) for item in value)))
    if isinstance(value, dict):
        for name in ("text", "content", "output", "error"):
            if found := text_in(value.get(name)):
                return found
    return ""


def count_in(value: Any) -> int | None:
    return value if is_count(value) else None


def tokens_in(usage: dict[str, Any], read: str, written: str, cached: Any) -> Tokens | None:
    counts = count_in(usage.get(read)), count_in(usage.get(written)), count_in(cached or 0)
    if counts[0] is None or counts[1] is None or counts[2] is None:
        return None
    return Tokens(counts[0], counts[1], counts[2])


def with_error(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    error = frame.get("error")
    if not error:
        return state
    message = error.get("message") if isinstance(error, dict) else error
    return replace(state, error=str(message or "no message"))


def tool_result(call_id: Any, output: str) -> ToolResults:
    return ToolResults((ToolResult(str(call_id or ""), "", output),))


def tool_offers(tool: Any, schema: str) -> Iterable[ToolOffer]:
    # A tool without a name of its own is one that the provider would run itself.
    if isinstance(tool, dict) and isinstance(tool.get("name"), str):
        parameters = tool.get(schema)
        yield ToolOffer(tool["name"], "", parameters if isinstance(parameters, dict) else {})


def without_reminders(text: str) -> str:
    """The words of the user, without what Claude Code adds to them."""
    return _REMINDER.sub("", text)


def arguments_of(call: ToolCall) -> Any:
    """As an object, for formats in which broken JSON cannot be said."""
    try:
        return json.loads(call.arguments)
    except ValueError:
        return {}
