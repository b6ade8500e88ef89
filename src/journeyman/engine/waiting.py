"""Steps that wait for a person.

A round does not wait: it ends its attempt, with the order in `awaiting_approval`, and the decision begins
the next one. So a question holds no place that another order could use, however long the answer takes.
"""

from dataclasses import replace
from datetime import UTC, datetime

from journeyman.engine.again import from_step_on
from journeyman.engine.control import go_on
from journeyman.engine.workshop import Workshop
from journeyman.errors import Conflict, InvalidInput, NotAllowed
from journeyman.events.types import ApprovalDecided, ApprovalRequested
from journeyman.failpoints import failpoint
from journeyman.work_orders.approvals import Answer, Approval
from journeyman.work_orders.order import WorkOrder
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.schema import StepSpec, Workflow


async def approved(workshop: Workshop, order: WorkOrder, spec: StepSpec) -> bool:
    """Whether a person let the step run on what the branch holds now; asks, when nobody was asked yet.

    Raises NotAllowed with the person's comment when they said no. Safe to repeat because a question that
    was asked already is not asked again.
    """
    order_id = order.agent_work_order_id
    commit_sha = await workshop.head(order)
    known = await workshop.orders.approval(order_id, order.round, spec.name, commit_sha)
    if known is None or known.decision == "rework":
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
            hint="Send a prompt that says what should change, or retry from a step.",
        )
    return known.decision == "approved"


async def decide(
    workshop: Workshop,
    order_id: str,
    step: str | None,
    decision: Answer,
    comment: str,
) -> WorkOrder:
    """Write a person's decision down and let the order go on with it. None means the one step that waits."""
    order = await workshop.orders.get(order_id)
    known = [one for one in await workshop.orders.approvals(order_id) if one.round == order.round]
    open_ones = [one for one in known if one.decision == "waiting" and step in (None, one.step)]
    if not open_ones and any(step in (None, one.step) and one.decision == decision for one in known):
        # Said before. A crash may have come between the decision and its effect.
        [*_, said] = [one for one in known if step in (None, one.step) and one.decision == decision]
        return await _take_effect(workshop, order, said) if order.status == "awaiting_approval" else order
    if order.status != "awaiting_approval" or not open_ones:
        raise Conflict(
            f"no step{f' {step}' if step else ''} of this order waits for a decision; it is {order.status}",
            hint="The order's page, or `jm show`, tells what it is doing.",
        )
    if len({one.step for one in open_ones}) > 1:
        names = ", ".join(sorted({one.step for one in open_ones}))
        raise Conflict(f"several steps wait for a decision: {names}", hint="Name the step.")
    answer = replace(open_ones[-1], decision=decision, comment=comment, decided_at=datetime.now(UTC))
    if decision == "rework":
        _made_by(order, answer.step)
        if not comment.strip():
            raise InvalidInput("rework needs a comment", hint="Say what should be done otherwise.")
    told = ApprovalDecided(step=answer.step, decision=decision, comment=comment, commit_sha=answer.commit_sha)
    failpoint("approval_received")
    await workshop.orders.save_approval(answer, told)
    failpoint("approval_recorded")
    return await _take_effect(workshop, order, answer)


async def _take_effect(workshop: Workshop, order: WorkOrder, answer: Approval) -> WorkOrder:
    if answer.decision != "rework":
        return await go_on(workshop, order.agent_work_order_id, after="approval")
    maker = _made_by(order, answer.step)
    redo = from_step_on(Workflow.model_validate(order.workflow), maker)
    # The work goes on from what there is: only the commits so far no longer count as having done it.
    return await go_on(
        workshop,
        order.agent_work_order_id,
        after="approval",
        redo=redo,
        redo_after_sha=answer.commit_sha,
        start_commit_sha=None,
    )


def _made_by(order: WorkOrder, step: str) -> str:
    """The last step before this one in which an agent made what is now judged."""
    workflow = Workflow.model_validate(order.workflow)
    needs = {one.name: one.depends_on for one in workflow.steps}
    before = upstream_of(step, needs)
    made = [one for one in workflow.steps if one.name in before and one.kind in ("plan", "build")]
    if not made:
        raise Conflict(
            f"nothing that an agent made comes before {step}, so there is nothing to rework",
            hint="Reject it instead.",
        )
    # The one that the others come before; of several side by side any, for all of them are judged.
    return max(made, key=lambda one: len(upstream_of(one.name, needs))).name
