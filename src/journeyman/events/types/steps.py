"""Events of phases and steps, and of what a step concludes."""

from typing import Any, Literal

from journeyman.events.types.base import EventModel, Phase


class WorkflowPhaseStarted(EventModel):
    type: Literal["workflow_phase_started"] = "workflow_phase_started"
    phase: Phase


class WorkflowPhaseCompleted(EventModel):
    type: Literal["workflow_phase_completed"] = "workflow_phase_completed"
    phase: Phase
    duration_seconds: float


class StepStarted(EventModel):
    type: Literal["step_started"] = "step_started"
    step: str
    kind: str
    attempt: int


class StepRetrying(EventModel):
    type: Literal["step_retrying"] = "step_retrying"
    step: str
    attempt: int
    wait_seconds: float
    error_message: str
    error_category: str


class StepCompleted(EventModel):
    type: Literal["step_completed"] = "step_completed"
    step: str
    kind: str
    duration_seconds: float
    output: dict[str, Any]


class StepFailed(EventModel):
    type: Literal["step_failed"] = "step_failed"
    step: str
    kind: str
    duration_seconds: float
    error_message: str
    error_category: str
    hint: str = ""


class StepSkipped(EventModel):
    type: Literal["step_skipped"] = "step_skipped"
    step: str
    kind: str
    reason: str


class PlanCreated(EventModel):
    type: Literal["plan_created"] = "plan_created"
    step: str
    reasoning: str
    subtasks: list[str]


class SubtaskStarted(EventModel):
    type: Literal["subtask_started"] = "subtask_started"
    step: str
    number: int
    of: int
    title: str


class ReviewCompleted(EventModel):
    """An agent judged the change. What it found is the step's output."""

    type: Literal["review_completed"] = "review_completed"
    step: str
    commit_sha: str
    verdict: Literal["approve", "request_changes"]
    summary: str
    findings_count: int


class VerificationAttemptCompleted(EventModel):
    type: Literal["verification_attempt_completed"] = "verification_attempt_completed"
    step: str
    attempt: int
    passed: bool | None
    """Null when nothing could be shown either way."""
    commit_sha: str
    checks: list[dict[str, Any]]
    summary: str
