"""The work order and the records of its steps, as values.

A work order lives for ever; its rounds end. What git knows (commits, lines, phases) is read from git
after each commit and only copied here, so that reading an order starts no process.
"""

import hashlib
import re
import secrets
import string
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from journeyman.errors import Category, InvalidInput
from journeyman.events.types import Phase

Status = Literal["pending", "running", "paused", "awaiting_approval", "completed", "failed", "cancelled"]
SandboxType = Literal["git_branch", "git_worktree"]
Verification = Literal["passed", "failed", "reviewed", "none", "outdated"]
"""`outdated`: the branch has changed since its checks ran, or they run again."""
PullRequestState = Literal["draft", "open", "closed", "merged"]
StepStatus = Literal["running", "completed", "failed", "skipped", "waiting"]
"""`waiting`: it ended in an earlier attempt at the round and is to be done again."""
PREPARE = "(prepare)"
"""The step record of preparing branch and workspace: no name of a workflow's step, and never shown."""

FINISHED: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})
UNFINISHED: frozenset[Status] = frozenset(get_args(Status)) - FINISHED
MAX_PROMPT_CHARACTERS = 200_000
_ID_ALPHABET = string.digits + string.ascii_lowercase
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Some scripts and emoji cannot be written without them."""
_SAFE_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


@dataclass(frozen=True, kw_only=True)
class WorkOrder:
    agent_work_order_id: str
    repository_url: str
    sandbox_type: SandboxType
    workflow_type: str
    workflow: dict[str, Any] = field(repr=False)
    """The workflow's definition as it was when the order was accepted."""
    title: str
    initial_prompt: str = field(repr=False)
    agent: str
    model: str
    git_branch_name: str
    base_branch: str | None
    """None means the repository's default branch."""
    base_commit_sha: str | None = None
    """Where the branch began; every statistic is against this commit."""
    github_issue_number: str | None = None
    budget_usd: float | None = None
    priority: int = 0
    round: int = 1
    round_prompt: str | None = field(default=None, repr=False)
    """What a later round was asked for; None in the first, whose task is the initial prompt."""
    round_workflow: dict[str, Any] | None = field(default=None, repr=False)
    """The workflow of a later round; None where the round runs the order's own."""
    attempt: int = 1
    """How often a round of the order was started: a pause or a failure ends an attempt, and the next one
    continues."""
    last_writer: str | None = None
    """Round and step that last wrote to the workspace, as `1/build`. Only the same step continues with what
    an agent left uncommitted there; any other step that writes starts from the branch's head."""

    status: Status = "pending"
    current_phase: Phase | None = None
    sandbox_identifier: str | None = None
    agent_session_id: str | None = None
    read_only_session_id: str | None = None
    """The session of roles that may not write."""
    created_at: datetime
    updated_at: datetime
    execution_started_at: datetime | None = None
    execution_completed_at: datetime | None = None
    active_seconds: float = 0.0
    """How long it has run, up to its last stop."""
    active_since: datetime | None = None
    """Since when it runs; None while it does not."""
    github_pull_request_url: str | None = None
    github_pull_request_number: int | None = None
    pull_request_state: PullRequestState | None = None
    """As the forge last reported it; None while there is none."""
    pushed_commit_sha: str | None = None
    """What we last pushed, or rebased onto: the next push expects to find exactly this."""
    set_aside_commit_sha: str | None = None
    """Own commits that conflicted with what people pushed; the agent is to apply them again."""
    worker_id: str | None = None
    """The worker that has claimed the order; None while no worker has."""
    stop_requested: Literal["paused", "cancelled"] | None = None
    """What the order's worker was asked to make of it."""
    resume_at: datetime | None = None
    """When a paused order resumes by itself."""
    redo_after_sha: str | None = None
    """Commits up to this one do not count as work done: a step is to be redone."""
    forked_from: str | None = None
    """The order whose work this one continues."""
    start_commit_sha: str | None = None
    """What the work starts from where that is not the base: a commit of that order, or an earlier one of
    this order that its branch is to be reset to."""
    snapshot_ref: str | None = None
    """The newest snapshot, where it holds something that is in no commit of the branch."""
    git_commit_count: int = 0
    git_files_changed: int = 0
    git_lines_added: int = 0
    git_lines_removed: int = 0
    error_message: str | None = None
    error_category: str | None = None
    error_hint: str | None = None
    """What to do about it."""
    verification: Verification = "none"
    cost_usd: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cache_read: int = 0

    @property
    def kept(self) -> "Kept | None":
        """What remains of an order that failed, was paused by an error, or was cancelled."""
        if self.error_message is None and self.status != "cancelled":
            return None
        return Kept(
            git_branch_name=self.git_branch_name if self.git_commit_count else None,
            git_commit_count=self.git_commit_count,
            snapshot_ref=self.snapshot_ref,
            github_pull_request_url=self.github_pull_request_url,
        )

    @property
    def current_workflow(self) -> dict[str, Any]:
        """The workflow that the current round runs."""
        return self.round_workflow or self.workflow

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    @property
    def is_waiting(self) -> bool:
        """Whether it is queued for a worker."""
        return self.status == "pending" and self.worker_id is None

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens until a person asks for it, or its time to resume comes."""
        return self.is_finished or self.status in ("paused", "awaiting_approval")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Work that a failure, a pause or a cancellation left, and where it is."""

    git_branch_name: str | None
    """None while nothing was committed to it."""
    git_commit_count: int
    snapshot_ref: str | None
    """In the mirror of the repository."""
    github_pull_request_url: str | None


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One step of one round, as far as it has come."""

    agent_work_order_id: str
    round: int
    step: str
    kind: str
    status: StepStatus
    attempts: int
    started_at: datetime
    completed_at: datetime | None = None
    output: dict[str, Any] | None = None
    error_message: str | None = None
    error_category: Category | None = None
    error_hint: str | None = None
    retry_after: float | None = None
    """Seconds after which what failed may work again, when that is known."""
    cost_usd: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cache_read: int = 0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What binds a verification result to a commit."""

    agent_work_order_id: str
    round: int
    step: str
    attempt: int
    commit_sha: str
    passed: bool | None
    """None when nothing could be shown either way."""
    checks: list[dict[str, Any]]
    """Each as `verification/records.py` writes it."""
    summary: str
    created_at: datetime
    tree_sha: str | None = None
    base_commit_sha: str | None = None
    base_tree_sha: str | None = None
    environment: dict[str, Any] | None = None
    """`{layer, image, variables}`: what was installed, and the names of the variables that were set."""
    red_to_green: list[dict[str, Any]] | None = None
    """`{test, on_base, on_head}` for each test that the change added or edited; None when not looked at."""
    tampering: list[dict[str, Any]] | None = None
    """`{kind, path, lines, detail}` for each finding; None when not looked at."""
    statement: dict[str, Any] | None = None
    """The signed envelope; None for evidence of earlier versions."""


@dataclass(frozen=True, kw_only=True)
class CheckOutput:
    """What one check of an attempt printed, as far as the sandbox kept it."""

    check_name: str
    output: bytes = field(repr=False)
    truncated: bool = False
    """Whether the sandbox dropped the middle of it."""
    results: list[dict[str, Any]] | None = field(default=None, repr=False)
    """`{test_id, outcome, message, file, duration_seconds}` of each test; None where the runner says none."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.output).hexdigest()


@dataclass(frozen=True)
class Usage:
    """Tokens and money of one or more model calls; the money is None when the price is unknown."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cache_read: int = 0
    cost_usd: float | None = None

    def __add__(self, more: "Usage") -> "Usage":
        known = self.cost_usd is not None and more.cost_usd is not None
        return Usage(
            self.tokens_in + more.tokens_in,
            self.tokens_out + more.tokens_out,
            self.tokens_cache_read + more.tokens_cache_read,
            (self.cost_usd or 0.0) + (more.cost_usd or 0.0) if known else None,
        )


def new_order_id() -> str:
    return "wo-" + "".join(secrets.choice(_ID_ALPHABET) for _ in range(8))


def visible(text: str) -> str:
    """Text without characters that show nothing and may change how the rest is read."""
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) not in _UNSEEN)


def title_of(prompt: str) -> str:
    """A short name for an order: the first line of its task, cut at a word."""
    lines = (" ".join(visible(line.replace("\t", " ")).split()) for line in prompt.splitlines())
    first = next(filter(None, lines), "")
    if len(first) <= 72:
        return first
    return first[:71].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


def branch_name_of(title: str, order_id: str) -> str:
    """`journeyman/<slug>-<order id>`: readable, unique, and safe everywhere a name may end up."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].rstrip("-")
    return f"journeyman/{slug or 'order'}-{order_id}"


def check_branch_name(name: str) -> str:
    """A branch name that a person chose, or an error. Stricter than git, which accepts backquotes."""
    parts = name.split("/")
    wrong = (
        not _SAFE_BRANCH.fullmatch(name)
        or len(name) > 200
        or ".." in name
        or name in ("HEAD", "@")
        or parts[0] == "refs"
        or any(not part or part.startswith(".") or part.endswith((".", ".lock")) for part in parts)
    )
    if wrong:
        raise InvalidInput(
            f"{name!r} cannot be used as a branch name",
            hint="Use letters, digits, '.', '_', '-' and '/', beginning with a letter or digit.",
        )
    return name


def check_prompt(text: str) -> str:
    """A task's text, or an error that says what is wrong with it."""
    if len(text) > MAX_PROMPT_CHARACTERS:
        raise InvalidInput(
            f"the prompt has {len(text):,} characters; {MAX_PROMPT_CHARACTERS:,} are allowed",
            hint="Put long material into a file of the repository and refer to it.",
        )
    bad = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\r\t"), None)
    if bad is not None:
        raise InvalidInput(
            f"the prompt holds the control character U+{ord(bad):04X}",
            hint="Remove it; plain text, line breaks and tabs are accepted.",
        )
    return text
