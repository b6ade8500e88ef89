"""What may change about an order after it was created, and two rules about it: pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from journeyman.errors import Superseded
from journeyman.events.types import Event, Phase
from journeyman.work_orders.order import PullRequestState, Status, Verification, WorkOrder


class OrderChanges(TypedDict, total=False):
    """New values by column, as `WorkOrder` has them; only those that are given change."""

    title: str
    model: str
    git_branch_name: str
    base_branch: str | None
    base_commit_sha: str | None
    budget_usd: float | None
    round: int
    round_prompt: str | None
    round_workflow: dict[str, Any] | None
    attempt: int
    last_writer: str | None
    status: Status
    current_phase: Phase | None
    sandbox_identifier: str | None
    agent_session_id: str | None
    read_only_session_id: str | None
    execution_started_at: datetime | None
    execution_completed_at: datetime | None
    active_seconds: float
    active_since: datetime | None
    github_pull_request_url: str | None
    github_pull_request_number: int | None
    pull_request_state: PullRequestState | None
    pushed_commit_sha: str | None
    set_aside_commit_sha: str | None
    worker_id: str | None
    stop_requested: Literal["paused", "cancelled"] | None
    resume_at: datetime | None
    redo_after_sha: str | None
    start_commit_sha: str | None
    snapshot_ref: str | None
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int
    error_message: str | None
    error_category: str | None
    error_hint: str | None
    verification: Verification


DecidedChange = tuple[Sequence[Event], OrderChanges]
"""The events of a change, and the change itself."""


def time_worked(order: WorkOrder, *, is_active: bool, now: datetime) -> OrderChanges:
    """How the time that an order was worked on changes when a worker starts on it or stops."""
    if is_active:
        return {"active_since": order.active_since or now}
    if order.active_since is None:
        return {}
    passed = max(0.0, (now - order.active_since).total_seconds())
    return {"active_seconds": order.active_seconds + passed, "active_since": None}


def check_unmoved(now: WorkOrder, seen: WorkOrder) -> None:
    """Raise Superseded when an order that no worker had was claimed, or has moved on, since it was seen."""
    places = [(order.status, order.round, order.attempt) for order in (now, seen)]
    if now.worker_id is not None or places[0] != places[1]:
        raise Superseded(f"{now.agent_work_order_id} has been taken up, or has moved on")
