"""Who spends: every call of a model is made for an account, which is notified when it is over.

An account holds no money. An order's budget is a field of the order, so that it can be changed while a
turn runs.
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
    """What was odd about it, for the person who waits for the work."""


OnCall = Callable[[CallRecord], Awaitable[None]]
OnFault = Callable[[JourneymanError], None]


async def ignore_call(record: CallRecord) -> None:
    """For accounts whose calls are not followed."""


def ignore_fault(error: JourneymanError) -> None:
    """For accounts whose faults are not followed."""


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
    on_call: OnCall = field(default=ignore_call, repr=False, compare=False)
    """Called after every answered call, before the next one is made."""
    on_fault: OnFault = field(default=ignore_fault, repr=False, compare=False)
    """Called for every call through the door that was not answered: its agent may try again by itself."""
