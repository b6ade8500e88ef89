"""Steps that wait for a person.

A round does not wait for the answer: what does not depend on the step goes on, then the attempt ends, with
the order in `awaiting_approval`, and the decision begins the next one. So a question holds no place that
another order could use, however long the answer takes. A decision is taken whenever the question is open.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from journeyman.engine.redo import from_step_on
from journeyman.engine.transitions import requeue
from journeyman.errors import Conflict, InvalidInput, NotAllowed
from journeyman.events.types import ApprovalDecided, ApprovalRequested
from journeyman.failpoints import failpoint
from journeyman.git.mirror import Mirror
from journeyman.git.workspace import Workspace
from journeyman.work_orders.approvals import Approval, ApprovalDecision
from journeyman.work_orders.lifecycle import allowed_actions
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.schema import StepSpec, Workflow

_LOOK_SECONDS = 1.0


class Siblings:
    """The steps of a round that move at the same time: a question stays open while one of them is at work."""

    def __init__(self, names: Iterable[str]) -> None:
        self._at_work = set(names)
        self._ended = asyncio.Event()

    def at_work(self, name: str) -> None:
        self._at_work.add(name)
        self._ended.clear()

    def rests(self, name: str) -> None:
        """The step has ended, or waits for a person."""
        self._at_work.discard(name)
        if not self._at_work:
            self._ended.set()

    async def wait(self) -> bool:
        """Wait for a moment, or until no step is at work any more; says whether one is."""
        try:
            await asyncio.wait_for(self._ended.wait(), _LOOK_SECONDS)
        except TimeoutError:
            return True
        return False


async def approved(orders: WorkOrders, workspace: Workspace, order: WorkOrder, spec: StepSpec) -> bool:
    """Whether a person let the step run on what the branch holds now; asks, when it was not asked yet.

    Raises NotAllowed with the person's comment when they said no. Safe to repeat because a question that
    was asked already is not asked again.
    """
    order_id = order.agent_work_order_id
    head = await workspace.head()
    known = newest_questions(await orders.approvals.of_order(order_id), order.round).get(spec.name)
    if (
        known is None
        or _is_reworked(order, known)
        or await _has_moved_on(workspace.mirror, order, known, head)
    ):
        question = Approval(
            agent_work_order_id=order_id,
            round=order.round,
            step=spec.name,
            commit_sha=head,
            requested_at=datetime.now(UTC),
        )
        asked = ApprovalRequested(step=spec.name, kind=spec.kind, commit_sha=head)
        await orders.approvals.save(question, asked)
        return False
    if known.decision == "rejected":
        raise NotAllowed(
            f"a person rejected it{f': {known.comment}' if known.comment else ''}",
            hint="Send a prompt that says what should change, or retry from a step.",
        )
    return known.decision == "approved"


def newest_questions(approvals: Iterable[Approval], round: int) -> dict[str, Approval]:
    """What was last asked in a round about each step; approvals come oldest first."""
    return {one.step: one for one in approvals if one.round == round}


def _is_reworked(order: WorkOrder, known: Approval) -> bool:
    """Whether what was sent back has been done again since, as far as it was."""
    return known.decision == "rework" and order.redo_after_sha == known.commit_sha


async def _has_moved_on(mirror: Mirror, order: WorkOrder, known: Approval, head: str) -> bool:
    """Whether the branch holds something that the person was not asked about.

    What steps commit that the asking step does not depend on goes on beside it, as the workflow says, and
    changes nothing about the answer. Commits of people do, and so does work before the step that was done
    again.
    """
    if head == known.commit_sha:
        return False
    needs = _needs(order)
    beside = needs.keys() - upstream_of(known.step, needs)
    return any(
        (commit.order_id, commit.round) != (order.agent_work_order_id, str(order.round))
        or commit.step not in beside
        for commit in await mirror.commits(known.commit_sha, head)
    )


async def record_decision(
    orders: WorkOrders,
    order_id: str,
    step: str | None,
    decision: ApprovalDecision,
    comment: str,
) -> WorkOrder:
    """Write a person's decision down and let the order go on with it. None means the one step that waits."""
    order = await orders.get(order_id)
    asked = newest_questions(await orders.approvals.of_order(order_id), order.round)
    meant = [one for one in asked.values() if step in (None, one.step)]
    open_ones = [one for one in meant if one.decision == "waiting"]
    if not open_ones and (said := [one for one in meant if one.decision == decision]):
        # Said before. A crash may have come between the decision and its effect.
        return await _take_effect(orders, order_id, said[-1])
    if "approve" not in allowed_actions(order) or not open_ones:
        raise Conflict(
            f"no step{f' {step}' if step else ''} of this order waits for a decision; it is {order.status}",
            hint="Look at the order first; it may have changed meanwhile.",
        )
    if len(open_ones) > 1:
        names = ", ".join(sorted(one.step for one in open_ones))
        raise Conflict(f"several steps wait for a decision: {names}", hint="Name the step.")
    answer = replace(open_ones[0], decision=decision, comment=comment, decided_at=datetime.now(UTC))
    if decision == "rework":
        _made_by(order, answer.step)
        if not comment.strip():
            raise InvalidInput("rework needs a comment", hint="Say what should be done otherwise.")
    decided = ApprovalDecided(
        step=answer.step, decision=decision, comment=comment, commit_sha=answer.commit_sha
    )
    failpoint("approval_received")
    await orders.approvals.save(answer, decided)
    failpoint("approval_recorded")
    return await _take_effect(orders, order_id, answer)


async def apply_decisions(orders: WorkOrders, order_id: str, steps: Iterable[str]) -> None:
    """Let an order that has just come to rest go on where one of its questions was answered meanwhile.

    The decision's writer looks at the order after writing the decision, this looks at the decisions after the
    order's rest is written: so one of the two sees the other.
    """
    order = await orders.get(order_id)
    asked = newest_questions(await orders.approvals.of_order(order_id), order.round)
    for one in (asked[step] for step in steps if step in asked):
        if one.decision != "waiting" and not _is_reworked(order, one):
            await _take_effect(orders, order_id, one)


async def _take_effect(orders: WorkOrders, order_id: str, answer: Approval) -> WorkOrder:
    """Let the order go on, if it rests: one that is under way looks by itself, and waits where it cannot."""
    order = await orders.get(order_id)
    if order.status != "awaiting_approval":
        return order
    redo: frozenset[str] = frozenset()
    changes: dict[str, Any] = {}
    if answer.decision == "rework":
        maker = _made_by(order, answer.step)
        redo = from_step_on(Workflow.model_validate(order.current_workflow), maker)
        # The work goes on from what there is: only the commits so far no longer count as having done it.
        changes = {"redo_after_sha": answer.commit_sha, "start_commit_sha": None}
    try:
        return await requeue(orders, order_id, after="approval", redo=redo, **changes)
    except Conflict:  # it was let go on by another decision, or by `apply_decisions`, in this moment
        return await orders.get(order_id)


def _needs(order: WorkOrder) -> dict[str, tuple[str, ...]]:
    workflow = Workflow.model_validate(order.current_workflow)
    return {one.name: one.depends_on for one in workflow.steps}


def _made_by(order: WorkOrder, step: str) -> str:
    """The last step before this one in which an agent made what is now judged."""
    workflow, needs = Workflow.model_validate(order.current_workflow), _needs(order)
    before = upstream_of(step, needs)
    made = [one for one in workflow.steps if one.name in before and one.kind in ("plan", "build")]
    if not made:
        raise Conflict(
            f"nothing that an agent made comes before {step}, so there is nothing to rework",
            hint="Reject it instead.",
        )
    # The one that the others come before; of several side by side any, for all of them are judged.
    return max(made, key=lambda one: len(upstream_of(one.name, needs))).name
