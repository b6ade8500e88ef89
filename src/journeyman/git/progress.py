"""What git's output says about an order, as values.

Phases are read from the trailers of commits, never guessed from files or from what an agent claims.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import get_args

from journeyman.events.types import Phase

_PHASES: dict[str, Phase] = {phase: phase for phase in get_args(Phase)}
_TRAILERS = ("Work-Order", "Phase", "Step", "Subtask", "Round")
_VALUE = "%(trailers:key=Agent-{},valueonly,separator=%x2C)"
LOG_FORMAT = "%x1f".join(["%H", "%ct", *map(_VALUE.format, _TRAILERS), "%B"])

_NUMSTAT = re.compile(rb"\n?(?:\d+|-)\t")
"""A commit begins with its name and goes on with a separator, so that it never looks like this."""


@dataclass(frozen=True)
class LoggedCommit:
    sha: str
    committed_at: datetime
    order_id: str
    phase: Phase | None
    step: str
    subtask: str
    round: str
    message: str


@dataclass(frozen=True)
class Counts:
    files: int
    added: int
    removed: int


@dataclass(frozen=True)
class PhaseSpan:
    phase: Phase
    started_at: datetime
    """When its first commit was made."""
    completed_at: datetime | None
    """When its last commit was made; None while no later phase has begun."""
    commits: int


@dataclass(frozen=True)
class Progress:
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int
    latest_commit_message: str | None
    latest_commit_sha: str | None
    phase_history: tuple[PhaseSpan, ...]

    @property
    def counts(self) -> dict[str, int]:
        """What an order remembers of it."""
        return {
            "git_commit_count": self.git_commit_count,
            "git_files_changed": self.git_files_changed,
            "git_lines_added": self.git_lines_added,
            "git_lines_removed": self.git_lines_removed,
        }


def parse_log(output: bytes) -> list[LoggedCommit]:
    """`git log -z --format=LOG_FORMAT`, in the order in which git gave it."""
    entries = output.decode(errors="replace").split("\0")
    return [_commit(entry) for entry in entries if entry]


def parse_log_with_counts(output: bytes) -> tuple[list[LoggedCommit], Counts]:
    """The same with `--numstat`: the commits, and what they changed in all."""
    entries = output.split(b"\0")
    rows = [entry.removeprefix(b"\n") for entry in entries if _NUMSTAT.match(entry)]
    commits = [entry for entry in entries if not _NUMSTAT.match(entry)]
    return parse_log(b"\0".join(commits)), parse_numstat(b"\0".join(rows))


def parse_numstat(output: bytes) -> Counts:
    """`git diff-tree --numstat -z` without renames. A binary file counts as changed, without lines."""
    rows = [row.split(b"\t", 2) for row in output.split(b"\0") if row]
    lines = [(added, removed) for added, removed, _ in rows if added != b"-"]
    return Counts(len(rows), sum(int(added) for added, _ in lines), sum(int(removed) for _, removed in lines))


def progress_of(order_id: str, commits: Sequence[LoggedCommit], counts: Counts) -> Progress:
    """Commits come oldest first. Commits of people count; only the order's own tell a phase."""
    latest = commits[-1] if commits else None
    return Progress(
        git_commit_count=len(commits),
        git_files_changed=counts.files,
        git_lines_added=counts.added,
        git_lines_removed=counts.removed,
        latest_commit_message=latest.message.partition("\n")[0] if latest else None,
        latest_commit_sha=latest.sha if latest else None,
        phase_history=tuple(_spans(commit for commit in commits if commit.order_id == order_id)),
    )


def _commit(entry: str) -> LoggedCommit:
    sha, seconds, order_id, phase, step, subtask, round_, message = entry.split("\x1f", 7)
    committed_at = datetime.fromtimestamp(int(seconds), UTC)
    return LoggedCommit(sha, committed_at, order_id, _PHASES.get(phase), step, subtask, round_, message)


def _spans(commits: Iterable[LoggedCommit]) -> Iterable[PhaseSpan]:
    told = [(commit.phase, commit.committed_at) for commit in commits]
    runs = [(phase, [at for _, at in run]) for phase, run in groupby(told, key=lambda one: one[0]) if phase]
    for place, (phase, times) in enumerate(runs):
        is_over = place + 1 < len(runs) or phase == "completed"
        yield PhaseSpan(phase, times[0], times[-1] if is_over else None, len(times))
