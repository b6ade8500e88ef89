"""The state machine of a work order: which status follows which, what each allows, how a round ends.

Pure functions, so that the API, the page and every worker apply the same rules.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from journeyman.errors import Category, Conflict
from journeyman.events.types import AgentWorkOrderPaused, Event, Phase
from journeyman.work_orders.order import (
    FINISHED,
    PREPARE,
    UNFINISHED,
    Evidence,
    PullRequestState,
    Status,
    Verification,
    WorkOrder,
)

Action = Literal[
    "pause",
    "resume",
    "cancel",
    "retry",
    "retry_from_step",
    "approve",
    "prompt",
    "fork",
    "change_model",
    "mark_ready",
    "merge",
]
"""What a person may do to an order. `approve` is any decision on a step that waits for one."""
PullRequestAction = Literal["mark_ready", "merge"]

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
_STATUSES: tuple[Status, ...] = get_args(Status)
_ALLOWED_IN: dict[Action, frozenset[Status]] = {
    "pause": frozenset(status for status in _STATUSES if "paused" in _MAY_BECOME[status]),
    "resume": frozenset({"paused"}),
    "cancel": frozenset(status for status in _STATUSES if "cancelled" in _MAY_BECOME[status]),
    "retry": frozenset({"failed", "cancelled"}),
    "retry_from_step": FINISHED,
    "approve": UNFINISHED,
    "prompt": frozenset(_STATUSES),
    "fork": frozenset(_STATUSES),
    "change_model": frozenset(_STATUSES) - {"running"},
}
"""The statuses in which each action is allowed; what else it needs, such as a step that was begun, is checked
where it is done."""

PHASE_OF_KIND: dict[str, Phase] = {
    "explore": "planning",
    "plan": "planning",
    "build": "implementing",
    "verify": "testing",
    "review": "testing",
}
"""The phase that a step of this kind belongs to; other kinds belong to the phase they find."""


_SHOWN_BY: dict[Verification, bool] = {"passed": True, "failed": False}
"""What evidence has to say for a verdict."""
_CHECKS_FAILED = "Look at the checks and the diff, then retry, or send a prompt that says what to change."


def advance(current: Status, to: Status) -> Status:
    """The new state, or a Conflict that says why not."""
    if to not in _MAY_BECOME[current]:
        raise Conflict(
            f"an order that is {current} cannot become {to}",
            hint="Look at the order's status first; it may have changed meanwhile.",
        )
    return to


def statuses_allowing(action: Action) -> tuple[Status, ...]:
    """The statuses in which an order allows an action, in the order of an order's life."""
    return tuple(status for status in _STATUSES if status in _ALLOWED_IN[action])


def allowed_actions(order: WorkOrder) -> list[Action]:
    """What may be done to an order as it is now.

    Doing again what is done already, such as pausing a paused order, changes nothing and is no error, though
    it is not in the list.
    """
    by_status: list[Action] = [action for action in _ALLOWED_IN if order.status in _ALLOWED_IN[action]]
    if order.github_pull_request_number is None:
        return by_status
    # An order that was stored before its pull request's state was has one that is out of draft.
    state = order.pull_request_state or "open"
    return by_status + list(pull_request_actions(state, is_local=order.repository_url.startswith("file://")))


def pull_request_actions(state: PullRequestState, *, is_local: bool) -> list[PullRequestAction]:
    """What may be done to a pull request; only one that this server keeps is merged here."""
    if state == "draft":
        return ["mark_ready"]
    return ["merge"] if state == "open" and is_local else []


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


def verification_of_head(
    claimed: Verification, evidence: Evidence | None, changed_since: Iterable[str]
) -> Verification:
    """What a verdict is worth for the head of the order's branch.

    It counts only with evidence that shows it. `changed_since` are the paths in which the head differs from
    the commit that was checked: nothing but the order's own records may, or the verdict is outdated.
    """
    if claimed not in _SHOWN_BY:
        return claimed
    if evidence is None or evidence.passed is not _SHOWN_BY[claimed]:
        return "none"
    unchecked = (path for path in changed_since if not is_own_record(evidence.agent_work_order_id, path))
    return claimed if next(unchecked, None) is None else outdated(claimed)


def is_own_record(order_id: str, path: str) -> bool:
    """Whether a file is a record that the platform keeps of an order on its branch."""
    return path.startswith(f".journeyman/{order_id}/")


def conclude(ends: Iterable[StepEnd]) -> Conclusion:
    """How a round ends. Success is what evidence shows: failed checks fail the round, whatever else."""
    ends = list(ends)
    verdicts = [end for end in ends if end.verification]
    verification: Verification = verdicts[-1].verification or "none" if verdicts else "none"
    broken = next((end for end in ends if end.status == "failed" and end.stops_round), None)
    if broken is not None:
        where = "" if broken.step == PREPARE else f"step {broken.step}: "
        return Conclusion(
            "failed",
            verification,
            f"{where}{broken.error_message}",
            broken.error_category,
            broken.hint,
        )
    if verification == "failed":
        why = verdicts[-1].error_message or "the checks did not pass"
        return Conclusion("failed", "failed", why, "verification", _CHECKS_FAILED)
    return Conclusion("completed", verification)


def was_asked(question: str, events: Iterable[Event]) -> bool:
    """Whether the order paused with this question before.

    Each is asked once: a person who resumes the order as it is wants it to go on.
    """
    return any(isinstance(event, AgentWorkOrderPaused) and event.reason == question for event in events)
