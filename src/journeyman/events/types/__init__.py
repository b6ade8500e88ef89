"""Every kind of event, as a frozen union; a file for each subject.

The names are the wire names: SSE, WebSocket, log lines and `jm watch` show them as they stand here.
An event states a fact that is already true; nothing is ever changed or removed.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from journeyman.events.types.agents import (
    AgentAnswered,
    AgentNotice,
    AgentText,
    ModelCallCompleted,
    ToolCallCompleted,
    ToolCallStarted,
)
from journeyman.events.types.base import Phase
from journeyman.events.types.environments import (
    EnvironmentCommandCompleted,
    EnvironmentReady,
    EnvironmentSetupFailed,
    EnvironmentSetupStarted,
    NetworkAllowed,
    NetworkDenied,
)
from journeyman.events.types.forges import (
    GithubIssueCommented,
    GithubIssueRead,
    GithubPullRequestClosed,
    GithubPullRequestCreated,
    GithubPullRequestMerged,
    GithubPullRequestReopened,
    GithubPullRequestUpdated,
)
from journeyman.events.types.orders import (
    AgentWorkOrderAwaitingApproval,
    AgentWorkOrderCancelled,
    AgentWorkOrderChanged,
    AgentWorkOrderCompleted,
    AgentWorkOrderCreated,
    AgentWorkOrderFailed,
    AgentWorkOrderNamed,
    AgentWorkOrderPaused,
    AgentWorkOrderRequeued,
    AgentWorkOrderResumed,
    AgentWorkOrderRetried,
    AgentWorkOrderStarted,
    ApprovalDecided,
    ApprovalRequested,
    PromptAccepted,
    PromptCancelled,
    PromptStarted,
)
from journeyman.events.types.repositories import (
    CommandProblem,
    FileLeftOut,
    FoundCommand,
    GitBranchCreated,
    GitBranchMoved,
    GitCommitCreated,
    GitCommitsTakenIn,
    GitCommitStarted,
    GitFilesLeftOut,
    GitPushCompleted,
    GitSnapshotCreated,
    MissingFile,
    RepositoryCommandExpanded,
    RepositoryCommandsFound,
    RepositoryFilesMissing,
    SandboxCleanupCompleted,
    SandboxCleanupFailed,
    SandboxCreated,
)
from journeyman.events.types.steps import (
    PlanCreated,
    ReviewCompleted,
    StepCompleted,
    StepFailed,
    StepRetrying,
    StepSkipped,
    StepStarted,
    SubtaskStarted,
    VerificationAttemptCompleted,
    WorkflowPhaseCompleted,
    WorkflowPhaseStarted,
)

__all__ = [
    "CHATTER",
    "EVENT",
    "FIRST_EVENTS",
    "LAST_EVENTS",
    "AgentAnswered",
    "AgentNotice",
    "AgentText",
    "AgentWorkOrderAwaitingApproval",
    "AgentWorkOrderCancelled",
    "AgentWorkOrderChanged",
    "AgentWorkOrderCompleted",
    "AgentWorkOrderCreated",
    "AgentWorkOrderFailed",
    "AgentWorkOrderNamed",
    "AgentWorkOrderPaused",
    "AgentWorkOrderRequeued",
    "AgentWorkOrderResumed",
    "AgentWorkOrderRetried",
    "AgentWorkOrderStarted",
    "ApprovalDecided",
    "ApprovalRequested",
    "CommandProblem",
    "EnvironmentCommandCompleted",
    "EnvironmentReady",
    "EnvironmentSetupFailed",
    "EnvironmentSetupStarted",
    "Event",
    "FileLeftOut",
    "FoundCommand",
    "GitBranchCreated",
    "GitBranchMoved",
    "GitCommitCreated",
    "GitCommitStarted",
    "GitCommitsTakenIn",
    "GitFilesLeftOut",
    "GitPushCompleted",
    "GitSnapshotCreated",
    "GithubIssueCommented",
    "GithubIssueRead",
    "GithubPullRequestClosed",
    "GithubPullRequestCreated",
    "GithubPullRequestMerged",
    "GithubPullRequestReopened",
    "GithubPullRequestUpdated",
    "MissingFile",
    "ModelCallCompleted",
    "NetworkAllowed",
    "NetworkDenied",
    "Phase",
    "PlanCreated",
    "PromptAccepted",
    "PromptCancelled",
    "PromptStarted",
    "RepositoryCommandExpanded",
    "RepositoryCommandsFound",
    "RepositoryFilesMissing",
    "ReviewCompleted",
    "SandboxCleanupCompleted",
    "SandboxCleanupFailed",
    "SandboxCreated",
    "StepCompleted",
    "StepFailed",
    "StepRetrying",
    "StepSkipped",
    "StepStarted",
    "StoredEvent",
    "SubtaskStarted",
    "ToolCallCompleted",
    "ToolCallStarted",
    "VerificationAttemptCompleted",
    "WorkflowPhaseCompleted",
    "WorkflowPhaseStarted",
]

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
    | EnvironmentSetupStarted
    | EnvironmentCommandCompleted
    | EnvironmentReady
    | EnvironmentSetupFailed
    | NetworkDenied
    | NetworkAllowed
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
    | RepositoryFilesMissing
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
"""After one of these an order is idle until a person asks for more."""

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

CHATTER = frozenset(
    {"agent_text", "tool_call_started", "tool_call_completed", "environment_command_completed"}
)
"""What agents and tools say: streamed by SSE, left out of status messages and log lines."""


class StoredEvent(BaseModel):
    """An event with its place in the order's dense sequence."""

    model_config = ConfigDict(frozen=True)

    agent_work_order_id: str
    sequence: int
    timestamp: datetime
    event: Event
