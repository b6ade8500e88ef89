"""What is said between an agent and a model, whichever provider carries it.

Every wire format is read into these values and written from them, so that an agent, a script and a
ledger need to know no provider.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Finish = Literal["stop", "tool_calls", "length", "refusal"]
"""Why an answer ended. One that was cut off has none: it is a fault, not an answer."""


@dataclass(frozen=True)
class ToolOffer:
    """A tool that the model may call."""

    name: str
    description: str
    schema: dict[str, Any] = field(repr=False)
    """JSON schema of its arguments."""

    @cached_property
    def characters(self) -> int:
        """About as many as it takes to offer it."""
        return len(str(self.schema)) + len(self.description)


@dataclass(frozen=True)
class ToolCall:
    call_id: str
    tool: str
    arguments: str
    """JSON as the model wrote it, which may be broken."""


@dataclass(frozen=True)
class ToolResult:
    call_id: str
    tool: str
    output: str


@dataclass(frozen=True)
class UserMessage:
    text: str


@dataclass(frozen=True)
class ToolResults:
    """The answers to all calls of the message before."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True)
class Tokens:
    """What a provider counted for one call. `input` includes what was read from and written to its cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


HIGHEST_COUNT = 10_000_000
"""Tokens, in or out, that one call can be said to have taken: no model reads or writes nearly as many."""


def is_count(value: object) -> bool:
    """Whether what a provider says can be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_COUNT


def absurd(named: str, value: object) -> str:
    """What to say of a count that is none."""
    return f"the provider's count of tokens makes no sense ({named}: {value!r:.40}); the cost is unknown"


@dataclass(frozen=True)
class AssistantMessage:
    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    tokens: Tokens = field(default_factory=Tokens)
    carried: Any = field(default=None, repr=False, compare=False)
    """What only the provider understands and wants back unchanged, such as signed thoughts."""
    notice: str = field(default="", compare=False)
    """What was odd about the answer, for the person who waits for the work."""


Message = UserMessage | AssistantMessage | ToolResults
