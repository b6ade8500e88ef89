"""The wire formats by name, and what each of them has to know.

An agent brings a client that speaks one format, and a provider understands one or two; the door never
translates between them. A format reads requests and answers without keeping them, and writes the answers of
the scripted model. `formats.py` finds a format by its name.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from journeyman.gateway.messages import AssistantMessage, Finish, Message, Tokens, ToolOffer
from journeyman.gateway.wires.rules import Rule

Wire = Literal["chat", "responses", "messages", "generate"]
"""OpenAI's chat completions and responses, Anthropic's messages, Google's generateContent."""

SPOKEN: dict[str, tuple[Wire, ...]] = {
    "openai": ("chat", "responses"),
    "anthropic": ("messages",),
    "google": ("generate",),
    "scripted": ("chat", "responses", "messages", "generate"),
}
"""What each provider understands."""


@dataclass(frozen=True)
class AnswerState:
    """What is known of an answer so far."""

    tokens: Tokens | None = None
    """None until the provider has counted, and when what it counted makes no sense."""
    finish: Finish | None = None
    is_complete: bool = False
    """Whether the provider said that the answer is at its end: a stream that closes before it is broken."""
    error: str = ""
    """What went wrong, when the provider said so in the middle of an answer."""
    notice: str = ""
    """What was odd about its counts."""


@dataclass(frozen=True)
class Piece:
    """A part of an answer: text, or a part of a tool call."""

    added: str
    """More of the text, or of the call's arguments."""
    call: object = None
    """What tells one call of an answer from another; None for text."""
    tool: str = ""
    """The name of the tool, in the part that says it."""


class AnswerWriter(Protocol):
    """Writes one answer, as a stream of frames or whole."""

    content_type: str

    def begin(self) -> bytes: ...

    def text(self, piece: str) -> bytes: ...

    def end(self, message: AssistantMessage) -> bytes:
        """The calls, and that the answer is over."""
        ...

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        """The answer to a request that did not ask for a stream."""
        ...


class WriterOf(Protocol):
    def __call__(self, model: str, answer_id: str, *, as_events: bool) -> AnswerWriter:
        """`as_events` is what Google's clients ask for with `alt=sse`; the others know nothing else."""
        ...


@dataclass(frozen=True, kw_only=True)
class WireFormat:
    title: str
    """What people call the format."""
    request_rules: Mapping[str, Rule]
    """What a request may hold."""
    output_limit: Callable[[dict[str, Any]], int | None]
    """The limit that a request sets on its answer, thoughts included."""
    read_messages: Callable[[dict[str, Any]], Iterable[Message]]
    read_tools: Callable[[dict[str, Any]], Iterable[ToolOffer]]
    read_frame: Callable[[AnswerState, dict[str, Any]], AnswerState]
    """What is known of an answer after one more frame of it."""
    pieces: Callable[[dict[str, Any]], Iterable[Piece]]
    """What one frame adds to the answer's text and calls."""
    writer: WriterOf
    error_body: Callable[[int, str, str], dict[str, Any]]
    """The body of an error, from its status, message and code, as the format's own provider writes it."""


def error_kind(status: int) -> str:
    """The word that OpenAI and Anthropic have for an error of this status."""
    return _ERROR_KINDS.get(status, "api_error")


_ERROR_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
