"""Events of the workspace, the branch, and the commands that a repository brings."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from journeyman.events.types.base import EventModel, Phase


class SandboxCreated(EventModel):
    type: Literal["sandbox_created"] = "sandbox_created"
    sandbox_identifier: str
    sandbox_type: str
    isolation: str
    duration_seconds: float


class SandboxCleanupCompleted(EventModel):
    type: Literal["sandbox_cleanup_completed"] = "sandbox_cleanup_completed"
    sandbox_identifier: str


class SandboxCleanupFailed(EventModel):
    """What was not committed could not be kept, so the workspace stays."""

    type: Literal["sandbox_cleanup_failed"] = "sandbox_cleanup_failed"
    error_message: str
    hint: str


class GitBranchCreated(EventModel):
    type: Literal["git_branch_created"] = "git_branch_created"
    git_branch_name: str
    base_branch: str
    base_commit_sha: str


class MissingFile(BaseModel):
    """A submodule or a file in Git LFS that could not be had."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    kind: Literal["submodule", "lfs"]
    path: str
    reason: str
    hint: str


class RepositoryFilesMissing(EventModel):
    """What the order's files lack, compared with a full clone; the order goes on without it."""

    type: Literal["repository_files_missing"] = "repository_files_missing"
    commit_sha: str
    count: int
    files: list[MissingFile]
    """The first of them."""


class GitCommitStarted(EventModel):
    """What a step wrote is being committed, if there is anything."""

    type: Literal["git_commit_started"] = "git_commit_started"
    phase: Phase
    step: str


class GitCommitCreated(EventModel):
    type: Literal["git_commit_created"] = "git_commit_created"
    commit_sha: str
    message: str
    phase: Phase
    step: str
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int


class FileLeftOut(EventModel):
    """A file that stays in the workspace and out of the commit."""

    path: str
    size: int
    reason: str


class GitFilesLeftOut(EventModel):
    """What is not in the commit; emitted when that differs from the commit before."""

    type: Literal["git_files_left_out"] = "git_files_left_out"
    step: str
    count: int
    files: list[FileLeftOut]
    """The first of them."""


class GitSnapshotCreated(EventModel):
    type: Literal["git_snapshot_created"] = "git_snapshot_created"
    ref: str
    commit_sha: str


class GitCommitsTakenIn(EventModel):
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


class GitBranchMoved(EventModel):
    """While the order rests, people have moved its branch on the remote; its own branch stays as it is."""

    type: Literal["git_branch_moved"] = "git_branch_moved"
    git_branch_name: str
    commit_sha: str
    """What the remote's branch is at."""
    count: int
    """How many commits are there that the order neither made nor took in."""
    commits: list[dict[str, str]]
    """`commit_sha`, `author` and `message` of the newest, oldest first."""


class GitPushCompleted(EventModel):
    type: Literal["git_push_completed"] = "git_push_completed"
    git_branch_name: str
    commit_sha: str


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


class RepositoryCommandsFound(EventModel):
    """What prompts to this order can call; emitted when a worker starts on it, unless there is nothing."""

    type: Literal["repository_commands_found"] = "repository_commands_found"
    commit_sha: str
    commands: list[FoundCommand]
    problems: list[CommandProblem]


class RepositoryCommandExpanded(EventModel):
    """The text of a repository's command went to the agent in the place of its call."""

    type: Literal["repository_command_expanded"] = "repository_command_expanded"
    step: str
    name: str
    path: str
    arguments: str
    commit_sha: str
