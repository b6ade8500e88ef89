"""Who spends: every call of a model is made for somebody, and is told to them when it is over.

An account says nothing of money. What an order may spend stands with the order, where it can be
changed while a turn runs.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from journeyman.errors import JourneymanError
from journeyman.gateway.messages import Finish
from journeyman.work_orders.order import Usage


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """A call that is over."""

    model: str
    usage: Usage
    duration_seconds: float
    finish: Finish | None = None
    notice: str = ""
    """What was odd about it, for whoever waits for the work."""


OnCall = Callable[[CallRecord], Awaitable[None]]
OnFault = Callable[[JourneymanError], None]


async def nobody_asks(record: CallRecord) -> None:
    """For calls that nobody wants to hear of."""


def nobody_minds(error: JourneymanError) -> None:
    """For faults that nobody wants to hear of."""


@dataclass(frozen=True, kw_only=True)
class Account:
    order_id: str
    round: int
    step: str
    role: str
    agent: str
    model: str
    """`provider/model`: what is called, whatever an agent asks for."""
    holds_order: bool = True
    """Whether who pays holds the order: calls of it that another process began are lost then."""
    on_call: OnCall = field(default=nobody_asks, repr=False, compare=False)
    """Told of every answered call, before the next one is made."""
    on_fault: OnFault = field(default=nobody_minds, repr=False, compare=False)
    """Told of every call through the door that was not answered: its agent may try again by itself."""
