"""One call at the door, and its answer.

A real provider and the scripted model answer in the same shape, bytes of the wire's own format, so that
everything behind them (reading, counting, cutting off) is done once.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from journeyman.gateway.accounts import Account
from journeyman.gateway.door.requests import AllowedRequest
from journeyman.gateway.wires.base import Wire

Operation = Literal["answer", "count"]


@dataclass(frozen=True, kw_only=True)
class Call:
    account: Account
    wire: Wire
    operation: Operation
    """`count` asks how many tokens a request has, and costs nothing."""
    is_stream: bool
    asked: AllowedRequest = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    as_events: bool = True
    """Whether a stream is one of events; Google's can also be one long list."""

    @property
    def body(self) -> dict[str, Any]:
        return self.asked.body


@dataclass(frozen=True)
class OpenAnswer:
    """An answer that has begun."""

    status: int
    headers: Mapping[str, str]
    body: AsyncGenerator[bytes, None]


class Answerer(Protocol):
    def answer(self, call: Call) -> AbstractAsyncContextManager[OpenAnswer]:
        """Raises one of our errors when nothing came back; a refusal that came back is an answer."""
        ...
