"""Request and response bodies.

Requests refuse unknown fields, and values of another type than the described one: a budget that is
misspelt, or sent as text, and ignored in silence costs money. Responses have exactly the fields of the
contract.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
)

from journeyman.api.fields import (
    Address,
    BranchName,
    Dollars,
    InDigits,
    IssueNumber,
    ModelNameText,
    NameText,
    OneLineText,
    Position,
    PromptText,
    Timestamp,
)
from journeyman.api.sandbox_types import NamedSandboxType
from journeyman.errors import Category
from journeyman.events.types import Event, Phase, StoredEvent
from journeyman.forges.base import PullRequest
from journeyman.work_orders.lifecycle import Action, PullRequestAction, allowed_actions
from journeyman.work_orders.order import (
    PullRequestState,
    SandboxType,
    Status,
    StepStatus,
    Verification,
    WorkOrder,
)
from journeyman.work_orders.store import Sort
from journeyman.workflows.schema import Workflow

DEFAULT_WORKFLOW = "agent_workflow_plan_build_test"
DEFAULT_SANDBOX: SandboxType = "git_worktree"


class Body(BaseModel):
    """The JSON body of a request. Types are strict: 0 is not false, and "1" is not 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parameters(BaseModel):
    """The query parameters of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


class FieldProblem(BaseModel):
    field: str
    message: str


class LineProblem(BaseModel):
    """A mistake in a text with lines; they count from 1."""

    line: int
    column: int
    message: str
    hint: str


class Problem(BaseModel):
    type: str
    title: str
    status: int
    detail: str
    """What happened."""
    hint: str
    """What to do."""
    category: Category
    errors: list[FieldProblem | LineProblem] = []
    """Fields of the request that are wrong, or lines of a text in it."""


class NewWorkOrder(Body):
    repository_url: Address
    sandbox_type: NamedSandboxType = DEFAULT_SANDBOX
    workflow_type: NameText = DEFAULT_WORKFLOW
    github_issue_number: IssueNumber | None = None
    initial_prompt: PromptText | None = None
    """The task. It may be left out when an issue is named."""
    agent: NameText | None = None
    model: ModelNameText | None = None
    """As `provider/model`; the server's default when left out."""
    git_branch_name: BranchName | None = None
    base_branch: BranchName | None = None
    """What the work starts from; the repository's default branch when left out."""
    budget_usd: Dollars | None = None
    priority: int = Field(default=0, ge=0, le=9)


class WorkOrderChange(Body):
    """What is left out stays as it is, and so does a title or model that is null."""

    title: Annotated[NameText, Field(pattern=r"\S")] | None = None
    model: ModelNameText | None = None
    """As `provider/model`; not while the order runs."""
    budget_usd: Dollars | None = None
    """Null removes it."""


class ListQuery(Parameters):
    status: list[Status] = []
    """Repeated, any of them; left out, every status."""
    limit: Annotated[int, Field(ge=1, le=200), InDigits] = 50
    offset: Position = 0
    q: OneLineText | None = None
    repository_url: OneLineText | None = None
    workflow_type: OneLineText | None = None
    created_after: Timestamp | None = None
    created_before: Timestamp | None = None
    sort: Sort = "-created_at"


class PageQuery(Parameters):
    limit: Annotated[int, Field(ge=1, le=1000), InDigits] = 100
    offset: Position = 0


class DiffQuery(Parameters):
    context_lines: Annotated[int, Field(ge=0, le=1_000_000), InDigits] = 3
    """How many unchanged lines to show around each change."""
    path: list[Annotated[OneLineText, Field(min_length=1)]] = Field(default=[], max_length=10)
    """Only these files; both names of one that was renamed."""


class KeptWork(_Answer):
    """Work that an error left, and where it is."""

    git_branch_name: str | None
    """Null while nothing was committed."""
    git_commit_count: int
    snapshot_ref: str | None
    """What is not on the branch, in the mirror of the repository."""
    github_pull_request_url: str | None


class AgentWorkOrder(_Answer):
    agent_work_order_id: str
    repository_url: str
    sandbox_type: SandboxType
    sandbox_identifier: str | None
    workflow_type: str
    git_branch_name: str
    agent_session_id: str | None
    github_issue_number: str | None
    status: Status
    current_phase: Phase | None
    title: str
    agent: str
    model: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    execution_started_at: AwareDatetime | None
    execution_completed_at: AwareDatetime | None
    github_pull_request_url: str | None
    pull_request_state: PullRequestState | None
    """As it was when it was last looked at; null while there is no pull request."""
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int
    error_message: str | None
    error_category: str | None
    error_hint: str | None
    """What to do about the error."""
    kept: KeptWork | None
    """What there is of an order with an error, or one that was cancelled; null for others."""
    cost_usd: float | None
    """Null when a price is unknown."""
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int
    budget_usd: float | None
    verification: Verification
    worker_id: str | None
    """The worker that carries it out; null while none does."""
    queue_position: int | None = None
    """Its place in the line while it waits to be started; 1 is the next."""
    resume_at: AwareDatetime | None
    """When a paused order resumes by itself."""
    active_seconds: float
    """How long it was worked on, up to its last rest: without the time that it rested or waited."""
    active_since: AwareDatetime | None
    """Since when it is worked on; null while it rests or waits."""
    allowed_actions: list[Action]
    """What may be done to it as it is now."""

    @classmethod
    def of(cls, order: WorkOrder, queue_position: int | None = None) -> Self:
        known = {
            **vars(order),
            "kept": order.kept,
            "queue_position": queue_position,
            "allowed_actions": allowed_actions(order),
        }
        return cls.model_validate(known)


class OneWorkOrder(_Answer):
    agent_work_order: AgentWorkOrder
    logs_url: str
    initial_prompt: str
    base_branch: str | None
    """What the work starts from; null means the repository's default branch."""
    workflow: Workflow
    """As it was when the order, or its round, was accepted."""

    @classmethod
    def of(cls, order: WorkOrder, queue_position: int | None = None) -> Self:
        return cls(
            agent_work_order=AgentWorkOrder.of(order, queue_position),
            logs_url=f"/api/agent-work-orders/{order.agent_work_order_id}/logs",
            initial_prompt=order.initial_prompt,
            base_branch=order.base_branch,
            workflow=Workflow.model_validate(order.current_workflow),
        )


class WorkOrderPage(_Answer):
    agent_work_orders: list[AgentWorkOrder]
    total_count: int
    has_more: bool


class PhaseSpan(_Answer):
    phase: Phase
    started_at: AwareDatetime
    completed_at: AwareDatetime | None
    commits: int


class GitFacts(_Answer):
    git_commit_count: int = 0
    git_files_changed: int = 0
    git_lines_added: int = 0
    git_lines_removed: int = 0
    latest_commit_message: str | None = None
    latest_commit_sha: str | None = None
    phase_history: list[PhaseSpan] = []


class GitProgress(GitFacts):
    agent_work_order_id: str
    current_phase: Phase | None
    snapshot_timestamp: AwareDatetime


class LogPage(_Answer):
    agent_work_order_id: str
    log_entries: list[dict[str, Any]]
    """Each has timestamp, level and event; the others are the event's own fields."""
    total_count: int
    has_more: bool


class Step(_Answer):
    round: int
    step: str
    kind: str
    status: StepStatus
    attempts: int
    started_at: AwareDatetime
    completed_at: AwareDatetime | None
    output: dict[str, Any] | None
    error_message: str | None
    error_category: str | None
    cost_usd: float | None
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int


class Steps(_Answer):
    agent_work_order_id: str
    steps: list[Step]


class DiffAnswer(_Answer):
    agent_work_order_id: str
    diff: str


class RepositoryQuestion(Body):
    repository_url: Address


class ConnectedRepository(_Answer):
    repository_owner: str
    repository_name: str
    repository_url: str
    default_branch: str | None
    """Null when the repository could not be read."""
    is_accessible: bool
    """Whether it can be read."""
    can_push: bool
    access_verified_at: AwareDatetime


class RepositoryAnswer(_Answer):
    repository: ConnectedRepository | None
    """Null when the address names no repository at all."""
    verification_success: bool
    error_message: str | None


class PullRequestAnswer(_Answer):
    number: int
    url: str
    title: str
    body: str
    draft: bool
    state: Literal["open", "closed", "merged"]
    branch: str
    base: str


class LocalPullRequest(PullRequestAnswer):
    repository_url: str


class ProposedCommit(_Answer):
    commit_sha: str
    subject: str
    committed_at: AwareDatetime


class ShownPullRequest(LocalPullRequest):
    agent_work_order_id: str | None = None
    """The order whose branch it is."""
    allowed_actions: list[PullRequestAction] = []
    """What may be done to it as it is now."""
    commits: list[ProposedCommit] = []
    """What it brings, oldest first; the newest 250 of many, and none when its branch is gone."""


class LocalPullRequestPage(_Answer):
    pull_requests: list[LocalPullRequest]
    total_count: int
    has_more: bool

    @classmethod
    def of(cls, found: list[PullRequest], total: int, offset: int) -> Self:
        return cls(
            pull_requests=[LocalPullRequest.model_validate(one) for one in found],
            total_count=total,
            has_more=offset + len(found) < total,
        )


class EventMessage(RootModel[Event]):
    """An event as streams carry it: its own fields, and beside them its place in the order's sequence."""

    model_config = ConfigDict(
        json_schema_extra={
            "type": "object",
            "properties": {
                "agent_work_order_id": {"type": "string"},
                "sequence": {"type": "integer"},
                "timestamp": {"type": "string", "format": "date-time"},
            },
            "required": ["agent_work_order_id", "sequence", "timestamp"],
        }
    )


def event_message(stored: StoredEvent) -> Mapping[str, Any]:
    """An event as streams carry it: flat, with its place in the order's sequence."""
    return {
        "agent_work_order_id": stored.agent_work_order_id,
        "sequence": stored.sequence,
        "timestamp": stored.timestamp.isoformat(),
        **stored.event.model_dump(mode="json"),
    }
