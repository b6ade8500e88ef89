"""Which waiting orders may start now: pure, so that the rule can be read and tested.

The queue is the table of orders itself: those that are pending wait. An order that could not start now
is looked at again whenever a round ends.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Waiting:
    order_id: str
    priority: int
    created_at: datetime


def next_to_start(waiting: Sequence[Waiting], running: Collection[str], *, limit: int) -> list[str]:
    """The orders to start, in order: the highest priority first, then the one that has waited longest."""
    free = limit - len(running)
    line = sorted(waiting, key=lambda one: (-one.priority, one.created_at, one.order_id))
    return [one.order_id for one in line if one.order_id not in running][: max(0, free)]
