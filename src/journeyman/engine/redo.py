"""Begin again from a step: in the same order, or in another one that goes its own way from there.

Nothing is taken back on the branch by force. What a step and those after it made is set back by a commit of
its own, so that what was pushed stays what it was.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from journeyman.engine.handover import MirrorOf
from journeyman.engine.prompts import WORKFLOW_OF
from journeyman.engine.transitions import Round, requeue
from journeyman.errors import Conflict, InvalidInput
from journeyman.events.log import read_all
from journeyman.events.types import (
    AgentWorkOrderCreated,
    AgentWorkOrderStarted,
    GitCommitCreated,
    StepStarted,
    StoredEvent,
)
from journeyman.work_orders.lifecycle import allowed_actions
from journeyman.work_orders.order import StepRecord, WorkOrder, branch_name_of, new_order_id, title_of
from journeyman.work_orders.prompts import Prompt
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.loader import library
from journeyman.workflows.schema import Workflow


def from_step_on(workflow: Workflow, step: str) -> frozenset[str]:
    """The step and everything that depends on it."""
    needs = {one.name: one.depends_on for one in workflow.steps}
    if step not in needs:
        raise InvalidInput(f"the order's workflow has no step {step!r}", hint=f"It has {', '.join(needs)}.")
    return frozenset(name for name in needs if name == step or step in upstream_of(name, needs))


def commit_before(events: Iterable[StoredEvent], round: int, step: str) -> str | None:
    """The commit that the branch was at when a step was begun for the first time in a round."""
    current, last = 0, None
    for stored in events:
        match stored.event:
            case AgentWorkOrderStarted(round=begun):
                current = begun
            case GitCommitCreated(commit_sha=commit):
                last = commit
            case StepStarted(step=name) if name == step and current == round:
                return last
    raise Conflict(
        f"the step {step} has not been begun in this round",
        hint="Choose a step that has been begun.",
    )


async def last_round_with(orders: WorkOrders, order: WorkOrder, step: str) -> Round:
    """The round that a step's name refers to: the current one, or the last before it that has the step.

    A question is a round as well, of which no step is meant.
    """
    prompts = await orders.prompts.of_order(order.agent_work_order_id)
    asked = {one.round: one for one in prompts if one.round is not None}
    before = sorted((number for number in asked if number != order.round), reverse=True)
    for number in (order.round, *before, 1):
        prompt = asked.get(number)
        workflow = order.workflow if prompt is None else _workflow_of(order, prompt)
        if any(one["name"] == step and one["kind"] != "answer" for one in workflow["steps"]):
            return Round(number, prompt.text if prompt else None, workflow, is_first=prompt is None)
    names = ", ".join(one["name"] for one in order.workflow["steps"])
    raise InvalidInput(f"the order's workflow has no step {step!r}", hint=f"It has {names}.")


def _workflow_of(order: WorkOrder, prompt: Prompt) -> dict[str, Any]:
    if prompt.round == order.round:
        return order.current_workflow
    return library()[WORKFLOW_OF[prompt.mode]].model_dump(mode="json")


def check_reached(workflow: Workflow, records: Iterable[StepRecord], step: str) -> None:
    """Raise a Conflict where a step cannot be begun again because what comes before it was never done."""
    may_fail = {one.name for one in workflow.steps if one.on_failure == "continue"}
    ended = {
        one.step
        for one in records
        if one.status in ("completed", "skipped") or (one.status == "failed" and one.step in may_fail)
    }
    needs = {one.name: one.depends_on for one in workflow.steps}
    if missing := sorted(upstream_of(step, needs) - ended):
        raise Conflict(
            f"the step {step} comes after {', '.join(missing)}, which this order has not done",
            hint=f"Begin from {missing[0]} instead.",
        )


async def _begin_from(orders: WorkOrders, order: WorkOrder, step: str) -> tuple[Round, list[StepRecord]]:
    """The round that a step is to be begun again in, and the records of that round's steps."""
    round = await last_round_with(orders, order, step)
    every = await orders.steps.of_order(order.agent_work_order_id)
    records = [record for record in every if record.round == round.number]
    check_reached(Workflow.model_validate(round.workflow), records, step)
    return round, records


async def retry_from(orders: WorkOrders, mirror_of: MirrorOf, order_id: str, step: str) -> WorkOrder:
    """Do a step and everything after it again, from what the branch held before it."""
    order = await orders.get(order_id)
    round, _ = await _begin_from(orders, order, step)
    if "retry_from_step" not in allowed_actions(order):
        raise Conflict(
            f"the order is {order.status}, so no step can be done again", hint="Cancel it first, or wait."
        )
    before, head = await _place_of(orders, mirror_of, order, round, step)
    return await requeue(
        orders,
        order_id,
        after="end",
        redo=from_step_on(Workflow.model_validate(round.workflow), step),
        back_to=round,
        start_commit_sha=before,
        redo_after_sha=head,
    )


async def fork(
    orders: WorkOrders,
    mirror_of: MirrorOf,
    order_id: str,
    step: str,
    *,
    prompt: str | None,
    **changes: Any,
) -> WorkOrder:
    """Another order that has done what this one did before a step, and goes on from there by itself.

    With a task of its own it has a title and a branch of its own as well.
    """
    order = await orders.get(order_id)
    round, records = await _begin_from(orders, order, step)
    redo = from_step_on(Workflow.model_validate(round.workflow), step)
    before, _ = await _place_of(orders, mirror_of, order, round, step)
    title = title_of(prompt) if prompt else order.title
    new_id, now = new_order_id(), datetime.now(UTC)
    forked = WorkOrder(
        agent_work_order_id=new_id,
        repository_url=order.repository_url,
        sandbox_type=order.sandbox_type,
        workflow_type=order.workflow_type,
        workflow=round.workflow,
        title=title,
        initial_prompt=prompt or round.prompt or order.initial_prompt,
        git_branch_name=branch_name_of(title, new_id),
        base_branch=order.base_branch,
        base_commit_sha=order.base_commit_sha,
        start_commit_sha=before,
        forked_from=order_id,
        github_issue_number=order.github_issue_number,
        priority=order.priority,
        created_at=now,
        updated_at=now,
        **{"agent": order.agent, "model": order.model, "budget_usd": order.budget_usd, **changes},
    )
    created = AgentWorkOrderCreated(
        repository_url=forked.repository_url,
        workflow_type=forked.workflow_type,
        sandbox_type=forked.sandbox_type,
        agent=forked.agent,
        model=forked.model,
        title=forked.title,
        forked_from=order_id,
    )
    done = [
        _inherited(record, new_id)
        for record in records
        if record.step not in redo and record.status == "completed"
    ]
    await orders.create(forked, created, steps_done=done)
    return forked


def _inherited(record: StepRecord, order_id: str) -> StepRecord:
    """A step that another order has done; what it cost is that order's."""
    return replace(
        record,
        agent_work_order_id=order_id,
        round=1,
        cost_usd=None,
        tokens_in=0,
        tokens_out=0,
        tokens_cache_read=0,
    )


async def _place_of(
    orders: WorkOrders, mirror_of: MirrorOf, order: WorkOrder, round: Round, step: str
) -> tuple[str | None, str | None]:
    """What the branch was at before a step, and what it is at now; a Conflict when people wrote since."""
    if order.base_commit_sha is None:
        return None, None
    events = await read_all(orders.database, order.agent_work_order_id)
    before = commit_before(events, round.number, step) or order.base_commit_sha
    mirror = await mirror_of(order)
    head = await mirror.branch_head(order.git_branch_name)
    if head is None:
        return None, None
    since = await mirror.commits(before, head)
    foreign = [one.sha[:10] for one in since if one.order_id != order.agent_work_order_id]
    if foreign:
        raise Conflict(
            f"somebody else committed to the branch since that step: {', '.join(foreign)}",
            hint="Send a prompt that says what should change, or start another order.",
        )
    return before, head
