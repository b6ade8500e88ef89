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


@dataclass(frozen=True)
class AssistantMessage:
    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    tokens: Tokens = field(default_factory=Tokens)
    carried: Any = field(default=None, repr=False, compare=False)
    """What only the provider understands and wants back unchanged, such as signed thoughts."""


Message = UserMessage | AssistantMessage | ToolResults
