"""Finds what has stalled: workers without a heartbeat, and orders without progress.

It trusts no status and no clock of another machine. What it looks at are numbers that grow while all is
well, and how long, by its own steady clock, it has seen each of them stand still.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Key = TypeVar("Key", bound=Hashable)

RESCUES = 3
"""How often an order without progress is begun again before it is given up."""


class StallTimer(Generic[Key]):
    """Since when each number has not changed, as seen from here."""

    def __init__(self) -> None:
        self._seen: dict[Key, tuple[int, float]] = {}

    def watch(self, numbers: Mapping[Key, int], now: float) -> dict[Key, float]:
        """How many seconds each has stood still. What is seen for the first time has just moved."""
        self._seen = {
            key: seen if (seen := self._seen.get(key)) is not None and seen[0] == number else (number, now)
            for key, number in numbers.items()
        }
        return {key: now - since for key, (_, since) in self._seen.items()}


@dataclass(frozen=True)
class StallLimits:
    """How long something may stand still before it counts as lost."""

    unattended_seconds: float = 10.0
    """An order that this worker has taken up, and nothing here works on."""
    stalled_seconds: float = 7200.0
    """A round in which nothing happens: longer than any single thing may take."""


Remedy = Literal["begin again", "give up"]


def remedy(
    *, is_attended: bool, still_seconds: float, rescues: int, limits: StallLimits
) -> tuple[Remedy, str] | None:
    """What to do about an order that has stood still so long, and why; None while there is hope."""
    if is_attended and still_seconds > limits.stalled_seconds:
        why = f"nothing happened for {still_seconds / 60:.0f} minutes"
    elif not is_attended and still_seconds > limits.unattended_seconds:
        why = "its round broke off without an end"
    else:
        return None
    return ("begin again" if rescues < RESCUES else "give up"), why
