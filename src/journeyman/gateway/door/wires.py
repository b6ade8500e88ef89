"""The wire formats that the door speaks: which request belongs to which, and how each says no.

An agent's client only understands an error in its own provider's shape; anything else it takes for a
broken connection and tries again.
"""

from typing import Any, Literal

Wire = Literal["chat", "responses", "messages", "generate"]
"""OpenAI's chat completions and responses, Anthropic's messages, Google's generateContent."""

SPOKEN: dict[str, tuple[Wire, ...]] = {
    "openai": ("chat", "responses"),
    "anthropic": ("messages",),
    "google": ("generate",),
    "scripted": ("chat", "responses", "messages", "generate"),
}
"""What each provider understands."""

WORDS: dict[Wire, str] = {
    "chat": "OpenAI's chat completions",
    "responses": "OpenAI's responses",
    "messages": "Anthropic's messages",
    "generate": "Google's generateContent",
}

_KINDS: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    402: ("billing_error", "FAILED_PRECONDITION"),
    403: ("permission_error", "PERMISSION_DENIED"),
    404: ("not_found_error", "NOT_FOUND"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    504: ("timeout_error", "DEADLINE_EXCEEDED"),
    529: ("overloaded_error", "UNAVAILABLE"),
}


def refusal(wire: Wire, status: int, message: str, *, code: str = "") -> dict[str, Any]:
    """The body of an error as the wire's own provider would write it."""
    kind, google_status = _KINDS.get(status, ("api_error", "INTERNAL"))
    if wire == "generate":
        return {"error": {"code": status, "message": message, "status": google_status}}
    if wire == "messages":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code or kind}}
