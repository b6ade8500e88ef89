"""Progress is what git's history says: counted by hand here, by git there."""

from datetime import UTC, datetime
from pathlib import Path

from journeyman.events.types import Phase
from journeyman.git.commits import CommitMessage
from journeyman.git.mirror import Mirror
from journeyman.git.progress import (
    DiffStat,
    LoggedCommit,
    parse_log,
    parse_numstat,
    phase_marks,
    progress_of,
)
from journeyman.git.workspaces import Workspace
from journeyman.work_orders.order import StepRecord
from tests.git.repositories import ADA, ORDER, GitSetup, git, message


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1, 12, minute, tzinfo=UTC)


def logged(minute: int, phase: Phase | None, order_id: str = ORDER) -> LoggedCommit:
    return LoggedCommit(
        f"{minute:040}", at(minute), order_id, phase, "step", "", "", f"Commit {minute}\n\nMore.\n"
    )


async def test_numbers_match_a_history_counted_by_hand(workspace: Workspace) -> None:
    (workspace.tree / "src/app.py").write_text("two\nthree\n")
    first = message("First")
    await workspace.commit(first, author=ADA)
    (workspace.tree / "src/app.py").write_text("two\nfour\nfive\n")
    (workspace.tree / "new\tname.txt").write_text("1\n2\n3\n")
    (workspace.tree / "readme.md").unlink()
    (workspace.tree / "picture.bin").write_bytes(b"\0\1\2")
    last = CommitMessage(subject="Last", body="Why.", order_id=ORDER, phase="testing", step="verify")
    head = await workspace.commit(last, author=ADA)
    progress = await workspace.mirror.progress(ORDER, workspace.branch, workspace.base_commit_sha)
    assert progress.git_commit_count == 2
    assert progress.git_files_changed == 4
    assert (progress.git_lines_added, progress.git_lines_removed) == (3 + 3, 1 + 1)
    assert (progress.latest_commit_message, progress.latest_commit_sha) == ("Last", head)
    spans = [(span.phase, span.commits, span.completed_at is None) for span in progress.phase_history]
    assert spans == [("implementing", 1, False), ("testing", 1, True)]


async def test_records_of_orders_do_not_count(workspace: Workspace) -> None:
    (workspace.tree / "src/app.py").write_text("two\nthree\n")
    records = {f".journeyman/{ORDER}/plan.md": b"many\nlines\n"}
    await workspace.commit(message("With a record"), author=ADA, records=records)
    base = workspace.base_commit_sha
    here = await workspace.mirror.progress(ORDER, workspace.branch, base)
    assert tuple(here.counts.values()) == (1, 1, 2, 1)
    await workspace.commit(message("Another"), author=ADA, records={f".journeyman/{ORDER}/b": b"b\n"})
    here = await workspace.mirror.progress(ORDER, workspace.branch, base)
    assert tuple(here.counts.values()) == (2, 1, 2, 1)


def test_phases_without_a_commit_have_their_place() -> None:
    """As where records are kept in notes."""
    steps = [
        StepRecord(
            agent_work_order_id=ORDER,
            round=1,
            step=kind,
            kind=kind,
            status="completed",
            attempts=1,
            started_at=at(minute),
            completed_at=at(minute),
        )
        for kind, minute in (("plan", 1), ("build", 2), ("verify", 2))
    ]
    commits = [logged(2, "implementing")]
    history = progress_of(ORDER, commits, DiffStat(1, 1, 1), phase_marks(steps)).phase_history
    spans = [(span.phase, span.commits, span.completed_at) for span in history]
    assert spans == [("planning", 0, at(1)), ("implementing", 1, at(2)), ("testing", 0, None)]


async def test_a_single_commit_is_counted_against_the_base(workspace: Workspace) -> None:
    (workspace.tree / "picture.bin").write_bytes(b"\0\1\2")
    (workspace.tree / "src/app.py").write_text("two\nthree\n")
    await workspace.commit(message("Only"), author=ADA)
    base = workspace.base_commit_sha
    here = await workspace.mirror.progress(ORDER, workspace.branch, base)
    assert tuple(here.counts.values()) == (1, 2, 2, 1)
    after_a_restart = Mirror(workspace.mirror.path, workspace.mirror.lock)
    assert await after_a_restart.progress(ORDER, workspace.branch, base) == here
    same = git(workspace.mirror.path, "commit-tree", f"{workspace.branch}^{{tree}}", "-p", base, "-m", "Same")
    progress = await workspace.mirror.progress(ORDER, workspace.branch, same)
    assert tuple(progress.counts.values()) == (1, 0, 0, 0)


async def test_an_order_without_a_branch_has_made_no_progress(source: Path, home: Path) -> None:
    git_setup = GitSetup(source, home, "git_worktree")
    mirror = await git_setup.refresh()
    progress = await mirror.progress(ORDER, "journeyman/none", mirror.resolve("main"))
    assert progress.git_commit_count == progress.git_files_changed == 0
    assert progress.latest_commit_sha is None
    assert progress.phase_history == ()


async def test_trailers_cannot_be_forged_by_what_an_agent_writes(workspace: Workspace) -> None:
    forged = "Agent-Phase: completed\nAgent-Work-Order: wo-other000"
    written = CommitMessage(
        subject=f"x\n\n{forged}", body=forged, order_id=ORDER, phase="planning", step=f"plan\n{forged}"
    )
    (workspace.tree / "a").write_text("a\n")
    head = await workspace.commit(written, author=ADA)
    assert head is not None
    (commit,) = await workspace.mirror.commits(workspace.base_commit_sha, head)
    assert (commit.order_id, commit.phase) == (ORDER, "planning")


def test_a_phase_spans_its_commits_and_ends_when_the_next_begins() -> None:
    commits = [
        logged(1, "planning"),
        logged(2, "implementing"),
        logged(3, None, order_id="wo-other000"),
        logged(4, "implementing"),
        logged(5, "testing"),
        logged(6, "implementing"),
    ]
    progress = progress_of(ORDER, commits, DiffStat(0, 0, 0))
    assert [(s.phase, s.started_at, s.completed_at, s.commits) for s in progress.phase_history] == [
        ("planning", at(1), at(1), 1),
        ("implementing", at(2), at(4), 2),
        ("testing", at(5), at(5), 1),
        ("implementing", at(6), None, 1),
    ]
    assert progress.git_commit_count == 6
    assert progress.latest_commit_message == "Commit 6"


def test_the_last_phase_is_over_when_it_is_completed() -> None:
    progress = progress_of(ORDER, [logged(1, "testing"), logged(2, "completed")], DiffStat(0, 0, 0))
    assert [span.completed_at for span in progress.phase_history] == [at(1), at(2)]


def test_a_binary_file_counts_without_lines() -> None:
    assert parse_numstat(b"3\t1\ta b\0-\t-\tpicture\0" + b"0\t2\t\xff\n\0") == DiffStat(3, 3, 3)
    assert parse_numstat(b"") == DiffStat(0, 0, 0)


def test_an_unknown_phase_is_none() -> None:
    fields = ["a" * 40, "1767268800", ORDER, "dancing", "build", "2", "1", "Subject\n\nwith \x1f inside\n"]
    (commit,) = parse_log("\x1f".join(fields).encode() + b"\0")
    assert commit.phase is None
    assert (commit.step, commit.subtask, commit.round) == ("build", "2", "1")
    assert commit.message == "Subject\n\nwith \x1f inside\n"
    assert commit.committed_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
