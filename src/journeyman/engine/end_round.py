"""How a round ends: the sandbox is cleared away and the order says how it went.

Success is what evidence shows. A verdict counts only with evidence for the very head of the branch: between
it and the commit that was checked there may be nothing but the platform's own records.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from journeyman.engine.repositories import Repositories
from journeyman.engine.teardown import Teardown
from journeyman.events.types import (
    AgentWorkOrderCompleted,
    AgentWorkOrderFailed,
    Event,
    SandboxCleanupCompleted,
    WorkflowPhaseStarted,
)
from journeyman.git.mirror import Mirror
from journeyman.work_orders.lifecycle import Conclusion, StepEnd, conclude, verification_of_head
from journeyman.work_orders.order import PREPARE, Verification, WorkOrder
from journeyman.work_orders.store import OrderChanges, WorkOrders
from journeyman.workflows.progress import Done
from journeyman.workflows.schema import Workflow


async def end_round(
    orders: WorkOrders,
    teardown: Teardown,
    repositories: Repositories,
    order_id: str,
    workflow: Workflow,
    beginning: Done,
    done: Mapping[str, Done],
) -> str:
    """Safe to repeat because an order that has ended is left as it is, and clearing away twice is once."""
    order = await orders.get(order_id)
    if order.is_idle:
        return order.status
    is_cleared = await teardown.tear_down(order)
    stops = {spec.name: spec.on_failure == "stop" for spec in workflow.steps}
    ends = [_end(PREPARE, beginning, True), *(_end(name, end, stops[name]) for name, end in done.items())]
    conclusion = conclude(ends)
    if any(end.verification for end in ends):
        verification = await _verification(orders, repositories.mirror(order), order, conclusion, done)
        conclusion = replace(conclusion, verification=verification)
    elif order.round > 1:
        # A question changes nothing, also nothing about what was verified before.
        conclusion = replace(conclusion, verification=order.verification)
    changes: OrderChanges = {
        "status": conclusion.status,
        "verification": conclusion.verification,
        "error_message": conclusion.error_message,
        "error_category": conclusion.error_category,
        "error_hint": conclusion.hint,
        "execution_completed_at": datetime.now(UTC),
    }
    if conclusion.status == "completed":
        changes["current_phase"] = "completed"
    if _has_built(conclusion, done):
        changes["set_aside_commit_sha"] = None
    changed = await orders.change(order_id, *_events(order, conclusion, is_cleared), **changes)
    return changed.status


def _has_built(conclusion: Conclusion, done: Mapping[str, Done]) -> bool:
    """Whether what was set aside had its turn."""
    return conclusion.status == "completed" and any(end.kind == "build" for end in done.values())


def _end(step: str, done: Done, stops_round: bool) -> StepEnd:
    verification = done.output.get("verification") if done.kind == "verify" else None
    return StepEnd(
        step=step,
        kind=done.kind,
        status=done.status,
        stops_round=stops_round,
        verification=verification,
        error_message=done.error_message or str(done.output.get("summary", "")),
        error_category=done.error_category,
        hint=done.hint,
    )


def _events(order: WorkOrder, conclusion: Conclusion, is_cleared: bool) -> list[Event]:
    events: list[Event] = []
    if order.sandbox_identifier and is_cleared:
        events.append(SandboxCleanupCompleted(sandbox_identifier=order.sandbox_identifier))
    if conclusion.status == "completed":
        completed = AgentWorkOrderCompleted(
            verification=conclusion.verification, github_pull_request_url=order.github_pull_request_url
        )
        return [*events, WorkflowPhaseStarted(phase="completed"), completed]
    return [
        *events,
        AgentWorkOrderFailed(
            error_message=conclusion.error_message or "",
            error_category=conclusion.error_category or "internal",
            hint=conclusion.hint or "",
            github_pull_request_url=order.github_pull_request_url,
        ),
    ]


async def _verification(
    orders: WorkOrders, mirror: Mirror, order: WorkOrder, conclusion: Conclusion, done: Mapping[str, Done]
) -> Verification:
    """The round's verdict, as far as there is evidence for the head that people see."""
    step, checked = [(name, end.output) for name, end in done.items() if end.kind == "verify"][-1]
    evidence = [
        one
        for one in await orders.evidence.of_order(order.agent_work_order_id)
        if (one.round, one.step, one.commit_sha) == (order.round, step, checked.get("commit_sha"))
    ]
    head = order.pushed_commit_sha or await mirror.branch_head(order.git_branch_name)
    changed = await mirror.changed_paths(evidence[-1].commit_sha, head) if evidence and head else []
    return verification_of_head(conclusion.verification, evidence[-1] if evidence else None, changed)
