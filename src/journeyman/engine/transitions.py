"""What a person can do to an order under way: pause, resume, cancel, and try again.

A round that is stopped counts as cut off at the last finished step. Going on is another attempt at the
same round: our own records say which steps are completed, and those are not done again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from journeyman.engine.retries import pause_before_retry
from journeyman.engine.teardown import Teardown
from journeyman.errors import Category, Conflict
from journeyman.events import log
from journeyman.events.types import (
    AgentWorkOrderAwaitingApproval,
    AgentWorkOrderCancelled,
    AgentWorkOrderPaused,
    AgentWorkOrderResumed,
    AgentWorkOrderRetried,
    Event,
    PromptStarted,
    StepCompleted,
    StoredEvent,
)
from journeyman.work_orders.lifecycle import statuses_allowing
from journeyman.work_orders.order import Status, StepRecord, WorkOrder
from journeyman.work_orders.store import WorkOrders, check_unmoved
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.progress import Done
from journeyman.workflows.schema import Workflow

Stop = Literal["paused", "cancelled"]
Suspension = Stop | Literal["awaiting_approval"]
Standstill = Literal["pause", "failure", "approval", "end"]


@dataclass(frozen=True)
class Round:
    """A round of an order: what it was asked for, and the workflow that it carries out."""

    number: int
    prompt: str | None
    workflow: dict[str, Any]
    is_first: bool
    """Whether the workflow is the order's own."""


_MAY_SUSPEND: dict[Suspension, frozenset[Status]] = {
    "paused": frozenset(statuses_allowing("pause")),
    "cancelled": frozenset(statuses_allowing("cancel")),
    "awaiting_approval": frozenset({"running"}),
}
_PASSING: frozenset[Category] = frozenset({"transient", "rate_limited"})
"""What usually goes away: an order whose step met it to the last retry pauses, and goes on by itself."""
_NOT_ITS_FAULT: frozenset[Category] = _PASSING | {"budget", "quota", "environment", "approval"}
"""What stops an order without being its fault: it pauses, and goes on from there when a person lets it, or
when the other side said that it may."""
_STOPPED: dict[Standstill, tuple[Status, ...]] = {
    "pause": statuses_allowing("resume"),
    "failure": statuses_allowing("retry"),
    "approval": ("awaiting_approval",),
    "end": statuses_allowing("retry_from_step"),
}


def check_suspend(order: WorkOrder, stop: Suspension) -> bool:
    """Whether there is anything to do; a Conflict when the order's state does not allow it."""
    if order.status == stop:
        return False
    if order.status not in _MAY_SUSPEND[stop]:
        raise Conflict(
            f"the order is {order.status}, so it cannot be {stop}",
            hint="Look at the order first; it may have changed meanwhile.",
        )
    return True


def steps_to_redo(workflow: Workflow, records: Iterable[StepRecord]) -> frozenset[str]:
    """The steps that did not end well, checks that did not pass among them, and everything after them."""
    fine = {
        record.step
        for record in records
        if record.status in ("completed", "skipped") and (record.output or {}).get("verification") != "failed"
    }
    needs = {step.name: step.depends_on for step in workflow.steps}
    return frozenset(name for name in needs if not {name, *upstream_of(name, needs)} <= fine)


def what_pauses(ends: Iterable[Done]) -> Done | None:
    """The end of a step that the order cannot help and a person, or time, can."""
    return next(
        (end for end in ends if end.status == "failed" and end.error_category in _NOT_ITS_FAULT), None
    )


_SALVAGE_SECONDS = 2.0
"""Time to keep what is not committed while a person waits for the answer; it stays where it is otherwise."""


def pauses_in_a_row(events: Iterable[StoredEvent]) -> int:
    """How often an order paused for a fault that usually passes, since it last got anywhere."""
    count = 0
    for stored in events:
        match stored.event:
            case StepCompleted() | PromptStarted():
                count = 0
            case AgentWorkOrderPaused(error_category=category) if category in _PASSING:
                count += 1
    return count


def with_retry(end: Done, events: Iterable[StoredEvent]) -> Done:
    """The same end of an attempt at an order, with when it is tried again and a hint that is true then."""
    if end.error_category not in _PASSING:
        return end
    pause = pause_before_retry(pauses_in_a_row(events) + 1, end.retry_after)
    if pause is None:
        return replace(end, retry_after=None, hint="It stayed for long. Resume the order when it is over.")
    return replace(end, retry_after=pause)


async def suspend(
    orders: WorkOrders,
    teardown: Teardown,
    order_id: str,
    stop: Suspension,
    *,
    because: Done | None = None,
    if_still: WorkOrder | None = None,
) -> WorkOrder:
    """Suspend an order whose round is not running any more.

    Safe to repeat because an order that is suspended already is left as it is. What was not committed is kept
    as a snapshot; an order that is only paused or waits keeps its workspace too. With `if_still`, an order
    that no worker held when it was seen, it is refused as Superseded when one does by now, or it has moved
    on.
    """
    order = await orders.get(order_id)
    if if_still is not None:
        check_unmoved(order, if_still)  # before anything of it ends, and again where it is written
    if not check_suspend(order, stop):
        return order
    await teardown.tear_down(
        order,
        keep_workspace=stop != "cancelled",
        is_held=if_still is None,
        within=None if because else _SALVAGE_SECONDS,
    )
    cut_off = [one.step for one in await orders.steps.of_order(order_id) if one.status == "running"]
    await orders.steps.reopen(order_id, order.round, cut_off)
    changes: dict[str, Any] = {}
    if because is not None:
        because = with_retry(because, await log.read_all(orders.database, order_id))
        changes = {
            "error_message": because.error_message,
            "error_category": because.error_category,
            "error_hint": because.hint,
        }
    if because is not None and because.retry_after is not None and stop == "paused":
        changes["resume_at"] = datetime.now(UTC) + timedelta(seconds=because.retry_after)
    if stop == "cancelled":
        changes["execution_completed_at"] = datetime.now(UTC)
        for prompt in await orders.prompts.of_order(order_id):
            if prompt.status == "queued":
                await orders.prompts.cancel(order_id, prompt.number)
    event = _suspended(stop, because, changes.get("resume_at"))
    if if_still is not None:
        return await orders.change_if_unclaimed(if_still, event, status=stop, **changes)
    return await orders.change(order_id, event, status=stop, **changes)


async def stay_paused(orders: WorkOrders, order: WorkOrder) -> WorkOrder:
    """Keep an order paused until a person resumes it, whatever it was paused for."""
    paused = AgentWorkOrderPaused(
        reason=order.error_message or "", error_category=order.error_category, hint=order.error_hint or ""
    )
    return await orders.change_if_unclaimed(order, paused, resume_at=None)


def _suspended(stop: Suspension, because: Done | None, resume_at: datetime | None) -> Event:
    if stop == "cancelled":
        return (
            AgentWorkOrderCancelled(reason=because.error_message, hint=because.hint)
            if because
            else AgentWorkOrderCancelled()
        )
    if stop == "awaiting_approval":
        return AgentWorkOrderAwaitingApproval()
    if because is None:
        return AgentWorkOrderPaused()
    return AgentWorkOrderPaused(
        reason=because.error_message,
        error_category=because.error_category,
        hint=because.hint,
        resume_at=resume_at,
    )


async def requeue(
    orders: WorkOrders,
    order_id: str,
    *,
    after: Standstill,
    redo: frozenset[str] = frozenset(),
    back_to: Round | None = None,
    **changes: Any,
) -> WorkOrder:
    """Queue an order again, to go on where it was stopped.

    `redo` are more steps to do again, `back_to` is an earlier round to go on with instead of the current.
    """
    order = await orders.get(order_id)
    stopped = _STOPPED[after]
    if order.status not in stopped:
        other = "Use retry for one that failed." if after == "pause" else "Use resume for one that is paused."
        raise Conflict(f"the order is {order.status}, not {' or '.join(stopped)}", hint=other)
    event: Event = AgentWorkOrderRetried() if after in ("failure", "end") else AgentWorkOrderResumed()
    round = order.round
    workflow = Workflow.model_validate(order.current_workflow)
    if back_to is not None:
        round, workflow = back_to.number, Workflow.model_validate(back_to.workflow)
        changes |= {
            "round": round,
            "round_prompt": back_to.prompt,
            "round_workflow": None if back_to.is_first else back_to.workflow,
        }
    records = [record for record in await orders.steps.of_order(order_id) if record.round == round]
    # Whether a step is skipped is asked anew in each attempt.
    skipped = {record.step for record in records if record.status == "skipped"}
    await orders.steps.reopen(order_id, round, steps_to_redo(workflow, records) | redo | skipped)
    return await orders.change(
        order_id,
        event,
        **changes,
        status="pending",
        attempt=order.attempt + 1,
        error_message=None,
        error_category=None,
        error_hint=None,
        execution_completed_at=None,
        resume_at=None,
    )
