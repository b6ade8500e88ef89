"""What a person can do to an order under way: pause, resume, cancel, and try again.

A round that is stopped counts as cut off at the last finished step. Going on is another attempt at the
same round: our own records say which steps are completed, and those are not done again.
"""

from collections.abc import Iterable
from typing import Literal

from journeyman.engine.workshop import Workshop
from journeyman.errors import Conflict
from journeyman.events.types import (
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

_MAY_STOP: dict[Stop, frozenset[Status]] = {
    "paused": frozenset({"pending", "running"}),
    "cancelled": frozenset({"pending", "running", "paused"}),
}


def check_stop(order: WorkOrder, stop: Stop) -> bool:
    """Whether there is anything to do; a Conflict when the order's state does not allow it."""
    if order.status == stop:
        return False
    if order.status not in _MAY_STOP[stop]:
        raise Conflict(
            f"the order is {order.status}, so it cannot be {stop}",
            hint="Only an order that waits or is under way can be; `jm show` tells how this one ended.",
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


async def rest(workshop: Workshop, order_id: str, stop: Stop) -> WorkOrder:
    """Put an order whose round is not running any more to rest.

    Safe to repeat because an order that rests already is left as it is. What was not committed is kept as
    a snapshot; a paused order keeps its workspace too.
    """
    order = await workshop.orders.get(order_id)
    if not check_stop(order, stop):
        return order
    await workshop.set_down(order, keep_workspace=stop == "paused")
    told: Event = AgentWorkOrderPaused() if stop == "paused" else AgentWorkOrderCancelled()
    return await workshop.orders.change(order_id, told, status=stop)


async def go_on(workshop: Workshop, order_id: str, *, after: Literal["pause", "failure"]) -> WorkOrder:
    """Let an order wait in line again, to go on where it was stopped."""
    order = await workshop.orders.get(order_id)
    stopped: tuple[Status, ...] = ("paused",) if after == "pause" else ("failed", "cancelled")
    if order.status not in stopped:
        other = "Use retry for one that failed." if after == "pause" else "Use resume for one that is paused."
        raise Conflict(f"the order is {order.status}, not {' or '.join(stopped)}", hint=other)
    told: Event = AgentWorkOrderResumed() if after == "pause" else AgentWorkOrderRetried()
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
