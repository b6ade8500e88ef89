"""Which state may follow which, and how a round ends: pure, so that every door and worker agrees."""

from collections.abc import Iterable
from dataclasses import dataclass

from journeyman.errors import Category, Conflict
from journeyman.events.types import Phase
from journeyman.work_orders.order import Status, Verification

_MAY_BECOME: dict[Status, frozenset[Status]] = {
    "pending": frozenset({"running", "paused", "failed", "cancelled"}),
    "running": frozenset(
        {"running", "pending", "paused", "awaiting_approval", "completed", "failed", "cancelled"}
    ),
    "paused": frozenset({"pending", "cancelled", "failed"}),
    "awaiting_approval": frozenset({"pending", "cancelled", "failed"}),
    "completed": frozenset({"pending"}),
    "failed": frozenset({"pending"}),
    "cancelled": frozenset({"pending"}),
}

PHASE_OF_KIND: dict[str, Phase] = {
    "explore": "planning",
    "plan": "planning",
    "build": "implementing",
    "verify": "testing",
    "review": "testing",
}
"""The phase that a step of this kind belongs to; other kinds belong to the phase they find."""


_CHECKS_FAILED = "Look at the checks and the diff, then retry, or send a prompt that says what to change."


def advance(current: Status, to: Status) -> Status:
    """The new state, or a Conflict that says why not."""
    if to not in _MAY_BECOME[current]:
        raise Conflict(
            f"an order that is {current} cannot become {to}",
            hint="Look at the order's status first; it may have changed meanwhile.",
        )
    return to


@dataclass(frozen=True)
class StepEnd:
    """How a step ended, as far as the end of its round cares."""

    step: str
    kind: str
    status: str
    stops_round: bool = True
    """False for a step whose `on_failure` is `continue`."""
    verification: Verification | None = None
    error_message: str = ""
    error_category: Category = "internal"
    hint: str = ""


@dataclass(frozen=True)
class Conclusion:
    status: Status
    verification: Verification
    error_message: str | None = None
    error_category: Category | None = None
    hint: str | None = None
    """What to do about it."""


def outdated(verification: Verification) -> Verification:
    """What a verdict is worth once the branch has changed, or its checks run again."""
    return "none" if verification == "none" else "outdated"


def conclude(ends: Iterable[StepEnd]) -> Conclusion:
    """How a round ends. Success is what evidence shows: failed checks fail the round, whatever else."""
    ends = list(ends)
    verdicts = [end for end in ends if end.verification]
    verification: Verification = verdicts[-1].verification or "none" if verdicts else "none"
    broken = next((end for end in ends if end.status == "failed" and end.stops_round), None)
    if broken is not None:
        return Conclusion(
            "failed",
            verification,
            f"step {broken.step}: {broken.error_message}",
            broken.error_category,
            broken.hint,
        )
    if verification == "failed":
        why = verdicts[-1].error_message or "the checks did not pass"
        return Conclusion("failed", "failed", why, "verification", _CHECKS_FAILED)
    return Conclusion("completed", verification)
