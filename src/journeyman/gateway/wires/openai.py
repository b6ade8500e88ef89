"""What OpenAI's two formats, chat completions and responses, have in common."""

from typing import Any

from journeyman.gateway.wires.base import error_kind
from journeyman.gateway.wires.rules import PRICE, STATE, Rule, only, passes

OPENAI_RULES: dict[str, Rule] = {
    "model": passes,
    "stream": passes,
    "stream_options": passes,
    "tool_choice": passes,
    "parallel_tool_calls": passes,
    "temperature": passes,
    "top_p": passes,
    "top_logprobs": passes,
    "user": passes,
    "metadata": passes,
    "safety_identifier": passes,
    "prompt_cache_key": passes,
    "prompt_cache_retention": passes,
    "store": only(False, reason=STATE),
    "background": only(False, reason=STATE),
    "service_tier": only("auto", "default", reason=PRICE),
}


def openai_error_body(status: int, message: str, code: str) -> dict[str, Any]:
    kind = error_kind(status)
    return {"error": {"message": message, "type": kind, "param": None, "code": code or kind}}
