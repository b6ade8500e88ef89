"""Steps that wait for a person.

A round does not wait: it ends its attempt, with the order in `awaiting_approval`, and the decision begins
the next one. So a question holds no place that another order could use, however long the answer takes.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from journeyman.engine.control import go_on
from journeyman.engine.workshop import Workshop
from journeyman.errors import Conflict, NotAllowed
from journeyman.events.types import ApprovalDecided, ApprovalRequested
from journeyman.failpoints import failpoint
from journeyman.work_orders.approvals import Approval
from journeyman.work_orders.order import WorkOrder
from journeyman.workflows.schema import StepSpec


async def approved(workshop: Workshop, order: WorkOrder, spec: StepSpec) -> bool:
    """Whether a person let the step run on what the branch holds now; asks, when nobody was asked yet.

    Raises NotAllowed with the person's comment when they said no. Safe to repeat because a question that
    was asked already is not asked again.
    """
    order_id = order.agent_work_order_id
    commit_sha = await workshop.head(order)
    known = await workshop.orders.approval(order_id, order.round, spec.name, commit_sha)
    if known is None:
        question = Approval(
            agent_work_order_id=order_id,
            round=order.round,
            step=spec.name,
            commit_sha=commit_sha,
            requested_at=datetime.now(UTC),
        )
        asked = ApprovalRequested(step=spec.name, kind=spec.kind, commit_sha=commit_sha)
        await workshop.orders.save_approval(question, asked)
        return False
    if known.decision == "rejected":
        raise NotAllowed(
            f"a person rejected it{f': {known.comment}' if known.comment else ''}",
            hint="Take the comment in, then start another order.",
        )
    return known.decision == "approved"


async def decide(
    workshop: Workshop,
    order_id: str,
    step: str | None,
    decision: Literal["approved", "rejected"],
    comment: str,
) -> WorkOrder:
    """Write a person's decision down and let the order go on with it. None means the one step that waits."""
    order = await workshop.orders.get(order_id)
    known = [one for one in await workshop.orders.approvals(order_id) if one.round == order.round]
    open_ones = [one for one in known if one.decision == "waiting" and step in (None, one.step)]
    if not open_ones and any(step in (None, one.step) and one.decision == decision for one in known):
        # Said before. A crash may have come between the decision and its effect.
        is_waiting = order.status == "awaiting_approval"
        return await go_on(workshop, order_id, after="approval") if is_waiting else order
    if order.status != "awaiting_approval" or not open_ones:
        raise Conflict(
            f"no step{f' {step}' if step else ''} of this order waits for a decision; it is {order.status}",
            hint="`jm show` tells what the order is doing.",
        )
    if len({one.step for one in open_ones}) > 1:
        names = ", ".join(sorted({one.step for one in open_ones}))
        raise Conflict(f"several steps wait for a decision: {names}", hint="Name the step.")
    answer = replace(open_ones[-1], decision=decision, comment=comment, decided_at=datetime.now(UTC))
    told = ApprovalDecided(step=answer.step, decision=decision, comment=comment, commit_sha=answer.commit_sha)
    failpoint("approval_received")
    await workshop.orders.save_approval(answer, told)
    failpoint("approval_recorded")
    return await go_on(workshop, order_id, after="approval")
