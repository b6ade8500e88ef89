"""Parse git's output about an order: commits, diff statistics, phases.

Phases are read from the trailers of commits, never guessed from files or from what an agent claims.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import get_args

from journeyman.events.types import Phase
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.lifecycle import PHASE_OF_KIND
from journeyman.work_orders.order import StepRecord

_PHASES: dict[str, Phase] = {phase: phase for phase in get_args(Phase)}
_TRAILERS = ("Work-Order", "Phase", "Step", "Subtask", "Round")
_VALUE = "%(trailers:key=Agent-{},valueonly,separator=%x2C)"
LOG_FORMAT = "%x1f".join(["%H", "%ct", *map(_VALUE.format, _TRAILERS), "%B"])

_RECORD = re.compile(r"\.journeyman/wo-[0-9a-z]{8}/.+")
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
class DiffStat:
    files: int
    added: int
    removed: int


@dataclass(frozen=True)
class PhasePeriod:
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
    phase_history: tuple[PhasePeriod, ...]

    @property
    def counts(self) -> OrderChanges:
        """The part that is stored with the order."""
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


def parse_log_with_counts(output: bytes) -> tuple[list[LoggedCommit], DiffStat]:
    """The same with `--numstat`: the commits, and what they changed in all."""
    entries = output.split(b"\0")
    rows = [entry.removeprefix(b"\n") for entry in entries if _NUMSTAT.match(entry)]
    commits = [entry for entry in entries if not _NUMSTAT.match(entry)]
    return parse_log(b"\0".join(commits)), parse_numstat(b"\0".join(rows))


def is_record(path: str) -> bool:
    """Whether the platform wrote a file for itself: the plan or the test results of an order."""
    return _RECORD.fullmatch(path) is not None


def parse_numstat(output: bytes) -> DiffStat:
    """`git diff-tree --numstat -z` without renames. A binary file counts as changed, without lines.

    Records of orders do not count: no task asked for them.
    """
    every = [row.split(b"\t", 2) for row in output.split(b"\0") if row]
    rows = [row for row in every if not is_record(row[2].decode(errors="replace"))]
    lines = [(added, removed) for added, removed, _ in rows if added != b"-"]
    return DiffStat(
        len(rows), sum(int(added) for added, _ in lines), sum(int(removed) for _, removed in lines)
    )


@dataclass(frozen=True)
class PhaseMark:
    """A phase that was gone through without a commit: where records are kept in notes."""

    phase: Phase
    at: datetime


def phase_marks(steps: Iterable[StepRecord]) -> list[PhaseMark]:
    """The phases of steps that leave a record and no other change."""
    kinds = ("plan", "verify")
    ended = [(one.kind, one.completed_at) for one in steps if one.status == "completed" and one.kind in kinds]
    return [PhaseMark(PHASE_OF_KIND[kind], at) for kind, at in ended if at is not None]


def progress_of(
    order_id: str, commits: Sequence[LoggedCommit], counts: DiffStat, marks: Sequence[PhaseMark] = ()
) -> Progress:
    """Commits come oldest first. Commits of people count; only the order's own tell a phase."""
    latest = commits[-1] if commits else None
    return Progress(
        git_commit_count=len(commits),
        git_files_changed=counts.files,
        git_lines_added=counts.added,
        git_lines_removed=counts.removed,
        latest_commit_message=latest.message.partition("\n")[0] if latest else None,
        latest_commit_sha=latest.sha if latest else None,
        phase_history=tuple(_spans([one for one in commits if one.order_id == order_id], marks)),
    )


def _commit(entry: str) -> LoggedCommit:
    sha, seconds, order_id, phase, step, subtask, round_, message = entry.split("\x1f", 7)
    committed_at = datetime.fromtimestamp(int(seconds), UTC)
    return LoggedCommit(sha, committed_at, order_id, _PHASES.get(phase), step, subtask, round_, message)


def _spans(commits: Sequence[LoggedCommit], marks: Sequence[PhaseMark]) -> Iterable[PhasePeriod]:
    events = [(commit.phase, commit.committed_at, 1) for commit in commits]
    if marks:  # commits stand in the order of their history: sorted only where something comes in between
        events += [(mark.phase, mark.at.replace(microsecond=0), 0) for mark in marks]
        events.sort(key=lambda one: (one[1], list(_PHASES).index(one[0]) if one[0] else -1))
    runs = [(phase, list(run)) for phase, run in groupby(events, key=lambda one: one[0]) if phase]
    for place, (phase, run) in enumerate(runs):
        is_over = place + 1 < len(runs) or phase == "completed"
        yield PhasePeriod(phase, run[0][1], run[-1][1] if is_over else None, sum(count for *_, count in run))
