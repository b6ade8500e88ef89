"""What a person can do to an order under way: pause, resume, cancel, and try again.

A round that is stopped counts as cut off at the last finished step. Going on is another attempt at the
same round: our own records say which steps are completed, and those are not done again.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

from journeyman.engine.workshop import Workshop
from journeyman.errors import Conflict
from journeyman.events.types import (
    AgentWorkOrderAwaitingApproval,
    AgentWorkOrderCancelled,
    AgentWorkOrderPaused,
    AgentWorkOrderResumed,
    AgentWorkOrderRetried,
    Event,
)
from journeyman.work_orders.order import Status, StepRecord, WorkOrder
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.schema import Workflow

Stop = Literal["paused", "cancelled"]
Rest = Stop | Literal["awaiting_approval"]
Standstill = Literal["pause", "failure", "approval"]

_MAY_REST: dict[Rest, frozenset[Status]] = {
    "paused": frozenset({"pending", "running"}),
    "cancelled": frozenset({"pending", "running", "paused", "awaiting_approval"}),
    "awaiting_approval": frozenset({"running"}),
}
_TOLD: dict[Rest, Event] = {
    "paused": AgentWorkOrderPaused(),
    "cancelled": AgentWorkOrderCancelled(),
    "awaiting_approval": AgentWorkOrderAwaitingApproval(),
}
_RESTED: dict[Standstill, tuple[Status, ...]] = {
    "pause": ("paused",),
    "failure": ("failed", "cancelled"),
    "approval": ("awaiting_approval",),
}


def check_rest(order: WorkOrder, stop: Rest) -> bool:
    """Whether there is anything to do; a Conflict when the order's state does not allow it."""
    if order.status == stop:
        return False
    if order.status not in _MAY_REST[stop]:
        raise Conflict(
            f"the order is {order.status}, so it cannot be {stop}",
            hint="`jm show` tells what the order is doing, or how it ended.",
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


async def rest(workshop: Workshop, order_id: str, stop: Rest) -> WorkOrder:
    """Put an order whose round is not running any more to rest.

    Safe to repeat because an order that rests already is left as it is. What was not committed is kept as
    a snapshot; an order that is only paused or waits keeps its workspace too.
    """
    order = await workshop.orders.get(order_id)
    if not check_rest(order, stop):
        return order
    await workshop.set_down(order, keep_workspace=stop != "cancelled")
    cut_off = [one.step for one in await workshop.orders.steps(order_id) if one.status == "running"]
    await workshop.orders.reopen_steps(order_id, order.round, cut_off)
    ended = {"execution_completed_at": datetime.now(UTC)} if stop == "cancelled" else {}
    if stop == "cancelled":
        for prompt in await workshop.orders.prompts(order_id):
            if prompt.status == "queued":
                await workshop.orders.cancel_prompt(order_id, prompt.number)
    return await workshop.orders.change(order_id, _TOLD[stop], status=stop, **ended)


async def go_on(workshop: Workshop, order_id: str, *, after: Standstill) -> WorkOrder:
    """Let an order wait in line again, to go on where it was stopped."""
    order = await workshop.orders.get(order_id)
    stopped = _RESTED[after]
    if order.status not in stopped:
        other = "Use retry for one that failed." if after == "pause" else "Use resume for one that is paused."
        raise Conflict(f"the order is {order.status}, not {' or '.join(stopped)}", hint=other)
    told: Event = AgentWorkOrderRetried() if after == "failure" else AgentWorkOrderResumed()
    workflow = Workflow.model_validate(order.workflow)
    records = [record for record in await workshop.orders.steps(order_id) if record.round == order.round]
    await workshop.orders.reopen_steps(order_id, order.round, steps_to_redo(workflow, records))
    return await workshop.orders.change(
        order_id,
        told,
        status="pending",
        attempt=order.attempt + 1,
        error_message=None,
        error_category=None,
        execution_completed_at=None,
    )
