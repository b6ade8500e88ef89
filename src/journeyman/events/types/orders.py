"""Events of an order's life: created, started, suspended, changed, approved, prompted."""

from datetime import datetime
from typing import Literal

from journeyman.events.types.base import EventModel


class AgentWorkOrderCreated(EventModel):
    type: Literal["agent_work_order_created"] = "agent_work_order_created"
    repository_url: str
    workflow_type: str
    sandbox_type: str
    agent: str
    model: str
    title: str
    forked_from: str | None = None


class AgentWorkOrderStarted(EventModel):
    type: Literal["agent_work_order_started"] = "agent_work_order_started"
    round: int
    worker_id: str = ""


class AgentWorkOrderCompleted(EventModel):
    type: Literal["agent_work_order_completed"] = "agent_work_order_completed"
    verification: str
    github_pull_request_url: str | None = None


class AgentWorkOrderFailed(EventModel):
    type: Literal["agent_work_order_failed"] = "agent_work_order_failed"
    error_message: str
    error_category: str
    hint: str = ""
    github_pull_request_url: str | None = None


class AgentWorkOrderPaused(EventModel):
    type: Literal["agent_work_order_paused"] = "agent_work_order_paused"
    reason: str = ""
    """Why it could not go on; empty when a person paused it."""
    error_category: str | None = None
    hint: str = ""
    resume_at: datetime | None = None
    """When it goes on by itself."""


class AgentWorkOrderAwaitingApproval(EventModel):
    """The order rests until a person has decided."""

    type: Literal["agent_work_order_awaiting_approval"] = "agent_work_order_awaiting_approval"


class AgentWorkOrderResumed(EventModel):
    type: Literal["agent_work_order_resumed"] = "agent_work_order_resumed"


class AgentWorkOrderCancelled(EventModel):
    type: Literal["agent_work_order_cancelled"] = "agent_work_order_cancelled"
    reason: str = ""
    """Why it was given up; empty when a person cancelled it."""
    hint: str = ""


class AgentWorkOrderRetried(EventModel):
    """The order waits to go on from the step that failed or was cut off."""

    type: Literal["agent_work_order_retried"] = "agent_work_order_retried"


class AgentWorkOrderRequeued(EventModel):
    """The order waits for another attempt: its worker does not go on."""

    type: Literal["agent_work_order_requeued"] = "agent_work_order_requeued"
    worker_id: str
    reason: str


class AgentWorkOrderChanged(EventModel):
    """A person gave the order another name, model or budget. What is null was left as it is."""

    type: Literal["agent_work_order_changed"] = "agent_work_order_changed"
    title: str | None = None
    model: str | None = None
    budget_usd: float | None = None
    budget_removed: bool = False


class AgentWorkOrderNamed(EventModel):
    """The small model named it and its branch; a name that a person chose is the same as before."""

    type: Literal["agent_work_order_named"] = "agent_work_order_named"
    title: str
    git_branch_name: str


class ApprovalRequested(EventModel):
    type: Literal["approval_requested"] = "approval_requested"
    step: str
    kind: str
    commit_sha: str


class ApprovalDecided(EventModel):
    type: Literal["approval_decided"] = "approval_decided"
    step: str
    decision: Literal["approved", "rejected", "rework"]
    comment: str
    commit_sha: str


class PromptAccepted(EventModel):
    type: Literal["prompt_accepted"] = "prompt_accepted"
    number: int
    mode: Literal["work", "ask"]
    text: str


class PromptStarted(EventModel):
    type: Literal["prompt_started"] = "prompt_started"
    number: int
    round: int


class PromptCancelled(EventModel):
    type: Literal["prompt_cancelled"] = "prompt_cancelled"
    number: int
