"""Every kind of event, as a frozen union.

The names are the wire names: SSE, WebSocket, log lines and `jm watch` show them as they stand here.
An event tells a fact that is already true; nothing is ever changed or removed.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Phase = Literal["planning", "implementing", "testing", "completed"]


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentWorkOrderCreated(_Event):
    type: Literal["agent_work_order_created"] = "agent_work_order_created"
    repository_url: str
    workflow_type: str
    sandbox_type: str
    agent: str
    model: str
    title: str
    forked_from: str | None = None


class AgentWorkOrderStarted(_Event):
    type: Literal["agent_work_order_started"] = "agent_work_order_started"
    round: int
    worker_id: str = ""


class AgentWorkOrderCompleted(_Event):
    type: Literal["agent_work_order_completed"] = "agent_work_order_completed"
    verification: str
    github_pull_request_url: str | None = None


class AgentWorkOrderFailed(_Event):
    type: Literal["agent_work_order_failed"] = "agent_work_order_failed"
    error_message: str
    error_category: str
    hint: str = ""
    github_pull_request_url: str | None = None


class AgentWorkOrderPaused(_Event):
    type: Literal["agent_work_order_paused"] = "agent_work_order_paused"
    reason: str = ""
    """Why it could not go on; empty when a person paused it."""
    error_category: str | None = None
    hint: str = ""
    resume_at: datetime | None = None
    """When it goes on by itself."""


class AgentWorkOrderAwaitingApproval(_Event):
    """The order rests until a person has decided."""

    type: Literal["agent_work_order_awaiting_approval"] = "agent_work_order_awaiting_approval"


class ApprovalRequested(_Event):
    type: Literal["approval_requested"] = "approval_requested"
    step: str
    kind: str
    commit_sha: str


class ApprovalDecided(_Event):
    type: Literal["approval_decided"] = "approval_decided"
    step: str
    decision: Literal["approved", "rejected", "rework"]
    comment: str
    commit_sha: str


class AgentWorkOrderResumed(_Event):
    type: Literal["agent_work_order_resumed"] = "agent_work_order_resumed"


class AgentWorkOrderCancelled(_Event):
    type: Literal["agent_work_order_cancelled"] = "agent_work_order_cancelled"
    reason: str = ""
    """Why it was given up; empty when a person cancelled it."""
    hint: str = ""


class AgentWorkOrderRetried(_Event):
    """The order waits to go on from the step that failed or was cut off."""

    type: Literal["agent_work_order_retried"] = "agent_work_order_retried"


class AgentWorkOrderRequeued(_Event):
    """The order waits for another attempt: whoever worked on it does not go on."""

    type: Literal["agent_work_order_requeued"] = "agent_work_order_requeued"
    worker_id: str
    reason: str


class AgentWorkOrderChanged(_Event):
    """A person gave the order another name, model or budget. What is null was left as it is."""

    type: Literal["agent_work_order_changed"] = "agent_work_order_changed"
    title: str | None = None
    model: str | None = None
    budget_usd: float | None = None
    budget_removed: bool = False


class AgentWorkOrderNamed(_Event):
    """The small model named it and its branch; a name that a person chose is the same as before."""

    type: Literal["agent_work_order_named"] = "agent_work_order_named"
    title: str
    git_branch_name: str


class SandboxCreated(_Event):
    type: Literal["sandbox_created"] = "sandbox_created"
    sandbox_identifier: str
    sandbox_type: str
    isolation: str
    duration_seconds: float


class SandboxCleanupCompleted(_Event):
    type: Literal["sandbox_cleanup_completed"] = "sandbox_cleanup_completed"
    sandbox_identifier: str


class SandboxCleanupFailed(_Event):
    """What was not committed could not be kept, so the workspace stays."""

    type: Literal["sandbox_cleanup_failed"] = "sandbox_cleanup_failed"
    error_message: str
    hint: str


class GitBranchCreated(_Event):
    type: Literal["git_branch_created"] = "git_branch_created"
    git_branch_name: str
    base_branch: str
    base_commit_sha: str


class GitCommitStarted(_Event):
    """What a step wrote is being committed, if there is anything."""

    type: Literal["git_commit_started"] = "git_commit_started"
    phase: Phase
    step: str


class GitCommitCreated(_Event):
    type: Literal["git_commit_created"] = "git_commit_created"
    commit_sha: str
    message: str
    phase: Phase
    step: str
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int


class FileLeftOut(BaseModel):
    """A file that stays in the workspace and out of the commit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    size: int
    reason: str


class GitFilesLeftOut(_Event):
    """What is not in the commit, told when it is other than it was before the commit."""

    type: Literal["git_files_left_out"] = "git_files_left_out"
    step: str
    count: int
    files: list[FileLeftOut]
    """The first of them."""


class GitSnapshotCreated(_Event):
    type: Literal["git_snapshot_created"] = "git_snapshot_created"
    ref: str
    commit_sha: str


class GitCommitsTakenIn(_Event):
    """What people pushed to the order's branch is below the order's own commits now."""

    type: Literal["git_commits_taken_in"] = "git_commits_taken_in"
    git_branch_name: str
    commit_sha: str
    """What the branch is at now."""
    count: int
    commits: list[dict[str, str]]
    """`commit_sha`, `author` and `message` of the newest, oldest first."""
    set_aside_commit_sha: str | None = None
    """The order's own side, where it clashed and the round begins from theirs."""


class GitBranchMoved(_Event):
    """While the order rests, people have moved its branch on the remote; its own branch stays as it is."""

    type: Literal["git_branch_moved"] = "git_branch_moved"
    git_branch_name: str
    commit_sha: str
    """What the remote's branch is at."""
    count: int
    """How many commits are there that the order neither made nor took in."""
    commits: list[dict[str, str]]
    """`commit_sha`, `author` and `message` of the newest, oldest first."""


class GitPushCompleted(_Event):
    type: Literal["git_push_completed"] = "git_push_completed"
    git_branch_name: str
    commit_sha: str


class WorkflowPhaseStarted(_Event):
    type: Literal["workflow_phase_started"] = "workflow_phase_started"
    phase: Phase


class WorkflowPhaseCompleted(_Event):
    type: Literal["workflow_phase_completed"] = "workflow_phase_completed"
    phase: Phase
    duration_seconds: float


class StepStarted(_Event):
    type: Literal["step_started"] = "step_started"
    step: str
    kind: str
    attempt: int


class StepRetrying(_Event):
    type: Literal["step_retrying"] = "step_retrying"
    step: str
    attempt: int
    wait_seconds: float
    error_message: str
    error_category: str


class StepCompleted(_Event):
    type: Literal["step_completed"] = "step_completed"
    step: str
    kind: str
    duration_seconds: float
    output: dict[str, Any]


class StepFailed(_Event):
    type: Literal["step_failed"] = "step_failed"
    step: str
    kind: str
    duration_seconds: float
    error_message: str
    error_category: str
    hint: str = ""


class StepSkipped(_Event):
    type: Literal["step_skipped"] = "step_skipped"
    step: str
    kind: str
    reason: str


class PlanCreated(_Event):
    type: Literal["plan_created"] = "plan_created"
    step: str
    reasoning: str
    subtasks: list[str]


class SubtaskStarted(_Event):
    type: Literal["subtask_started"] = "subtask_started"
    step: str
    number: int
    of: int
    title: str


class AgentText(_Event):
    """A piece of what the agent says, as it streams."""

    type: Literal["agent_text"] = "agent_text"
    step: str
    text: str


class AgentAnswered(_Event):
    """The answer to a question, whole."""

    type: Literal["agent_answered"] = "agent_answered"
    step: str
    text: str


class ReviewCompleted(_Event):
    """An agent judged the change. What it found is the step's output."""

    type: Literal["review_completed"] = "review_completed"
    step: str
    commit_sha: str
    verdict: Literal["approve", "request_changes"]
    summary: str
    findings_count: int


class PromptAccepted(_Event):
    type: Literal["prompt_accepted"] = "prompt_accepted"
    number: int
    mode: Literal["work", "ask"]
    text: str


class PromptStarted(_Event):
    type: Literal["prompt_started"] = "prompt_started"
    number: int
    round: int


class PromptCancelled(_Event):
    type: Literal["prompt_cancelled"] = "prompt_cancelled"
    number: int


class FoundCommand(BaseModel):
    """A command that a repository brings."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    name: str
    description: str
    argument_hint: str
    path: str


class CommandProblem(BaseModel):
    """What is wrong with a file among a repository's commands."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    path: str
    message: str
    hint: str


class RepositoryCommandsFound(_Event):
    """What prompts to this order can call, told when it is taken up; not told when there is nothing."""

    type: Literal["repository_commands_found"] = "repository_commands_found"
    commit_sha: str
    commands: list[FoundCommand]
    problems: list[CommandProblem]


class RepositoryCommandExpanded(_Event):
    """The text of a repository's command went to the agent in the place of its call."""

    type: Literal["repository_command_expanded"] = "repository_command_expanded"
    step: str
    name: str
    path: str
    arguments: str
    commit_sha: str


class AgentNotice(_Event):
    """Something went wrong between model and agent and was dealt with: said, so that nobody wonders."""

    type: Literal["agent_notice"] = "agent_notice"
    step: str
    text: str
    wait_seconds: float | None = None
    """When a call of the model is tried again: how long it waits for that."""


class ToolCallStarted(_Event):
    type: Literal["tool_call_started"] = "tool_call_started"
    step: str
    call_id: str
    tool: str
    arguments: dict[str, Any]


class ToolCallCompleted(_Event):
    type: Literal["tool_call_completed"] = "tool_call_completed"
    step: str
    call_id: str
    tool: str
    ok: bool
    exit_code: int | None = None
    duration_seconds: float
    output: str


class ModelCallCompleted(_Event):
    type: Literal["model_call_completed"] = "model_call_completed"
    step: str
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int
    cost_usd: float | None
    duration_seconds: float


class VerificationAttemptCompleted(_Event):
    type: Literal["verification_attempt_completed"] = "verification_attempt_completed"
    step: str
    attempt: int
    passed: bool | None
    """Null when nothing could be shown either way."""
    commit_sha: str
    checks: list[dict[str, Any]]
    summary: str


class GithubIssueRead(_Event):
    type: Literal["github_issue_read"] = "github_issue_read"
    github_issue_number: str
    title: str


class GithubIssueCommented(_Event):
    type: Literal["github_issue_commented"] = "github_issue_commented"
    github_issue_number: str
    url: str


class GithubPullRequestCreated(_Event):
    type: Literal["github_pull_request_created"] = "github_pull_request_created"
    github_pull_request_url: str
    number: int
    draft: bool


class GithubPullRequestUpdated(_Event):
    type: Literal["github_pull_request_updated"] = "github_pull_request_updated"
    github_pull_request_url: str
    number: int
    draft: bool


class GithubPullRequestClosed(_Event):
    """A person closed it; it is never opened a second time."""

    type: Literal["github_pull_request_closed"] = "github_pull_request_closed"
    github_pull_request_url: str
    number: int


class GithubPullRequestMerged(_Event):
    type: Literal["github_pull_request_merged"] = "github_pull_request_merged"
    github_pull_request_url: str
    number: int


class GithubPullRequestReopened(_Event):
    type: Literal["github_pull_request_reopened"] = "github_pull_request_reopened"
    github_pull_request_url: str
    number: int


Event = Annotated[
    AgentWorkOrderCreated
    | AgentWorkOrderStarted
    | AgentWorkOrderCompleted
    | AgentWorkOrderFailed
    | AgentWorkOrderPaused
    | AgentWorkOrderAwaitingApproval
    | ApprovalRequested
    | ApprovalDecided
    | AgentWorkOrderResumed
    | AgentWorkOrderCancelled
    | AgentWorkOrderRetried
    | AgentWorkOrderRequeued
    | AgentWorkOrderChanged
    | AgentWorkOrderNamed
    | SandboxCreated
    | SandboxCleanupCompleted
    | SandboxCleanupFailed
    | GitBranchCreated
    | GitCommitStarted
    | GitCommitCreated
    | GitFilesLeftOut
    | GitSnapshotCreated
    | GitCommitsTakenIn
    | GitBranchMoved
    | GitPushCompleted
    | WorkflowPhaseStarted
    | WorkflowPhaseCompleted
    | StepStarted
    | StepRetrying
    | StepCompleted
    | StepFailed
    | StepSkipped
    | PlanCreated
    | SubtaskStarted
    | AgentText
    | AgentAnswered
    | ReviewCompleted
    | PromptAccepted
    | PromptStarted
    | PromptCancelled
    | RepositoryCommandsFound
    | RepositoryCommandExpanded
    | AgentNotice
    | ToolCallStarted
    | ToolCallCompleted
    | ModelCallCompleted
    | VerificationAttemptCompleted
    | GithubIssueRead
    | GithubIssueCommented
    | GithubPullRequestCreated
    | GithubPullRequestUpdated
    | GithubPullRequestClosed
    | GithubPullRequestMerged
    | GithubPullRequestReopened,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)

LAST_EVENTS = frozenset(
    {
        "agent_work_order_completed",
        "agent_work_order_failed",
        "agent_work_order_paused",
        "agent_work_order_awaiting_approval",
        "agent_work_order_cancelled",
    }
)
"""After one of these an order rests until somebody asks for more."""

FIRST_EVENTS = frozenset(
    {
        "agent_work_order_created",
        "agent_work_order_started",
        "agent_work_order_resumed",
        "agent_work_order_retried",
        "prompt_started",
    }
)
"""After one of these an order is under way, or waits to be."""

CHATTER = frozenset({"agent_text", "tool_call_started", "tool_call_completed"})
"""What agents and tools say: streamed by SSE, left out of status messages and log lines."""


class StoredEvent(BaseModel):
    """An event with its place in the order's dense sequence."""

    model_config = ConfigDict(frozen=True)

    agent_work_order_id: str
    sequence: int
    timestamp: datetime
    event: Event
