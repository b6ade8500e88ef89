"""Merging a branch inside somebody's own repository, with their files and their unfinished work in it."""

from pathlib import Path

import pytest

from journeyman.errors import Conflict, NotFound
from journeyman.git.branch_log import commits_of
from journeyman.git.merge import MergeConflict, merge
from tests.git.repositories import ADA, commit_files, git, make_repository

BRANCH = "journeyman/fix"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """On main, with a branch that changed one file and added another."""
    path = make_repository(tmp_path / "origin", {"a.txt": "one\n", "b.txt": "one\n"})
    git(path, "checkout", "--quiet", "-b", BRANCH)
    commit_files(path, {"a.txt": "two\n", "new.txt": "new\n"}, "Fix")
    git(path, "checkout", "--quiet", "main")
    return path


async def merged(repository: Path) -> str:
    return await merge(repository, base="main", branch=BRANCH, message="Merge it", author=ADA)


async def test_the_base_and_its_checked_out_files_move_on_together(repository: Path) -> None:
    sha = await merged(repository)
    assert git(repository, "rev-parse", "main") == sha
    assert git(repository, "log", "-1", "--format=%an %s %p", "main").startswith("Ada Merge it ")
    assert len(git(repository, "log", "-1", "--format=%p", "main").split()) == 2
    assert (repository / "a.txt").read_text() == "two\n"
    assert (repository / "new.txt").read_text() == "new\n"
    assert git(repository, "status", "--porcelain") == ""


async def test_merging_twice_is_merging_once(repository: Path) -> None:
    first = await merged(repository)
    assert await merged(repository) == first


async def test_a_base_that_went_on_keeps_both_sides(repository: Path) -> None:
    commit_files(repository, {"b.txt": "theirs\n"}, "Meanwhile")
    await merged(repository)
    assert git(repository, "show", "main:a.txt") == "two"
    assert git(repository, "show", "main:b.txt") == "theirs"


async def test_a_conflict_is_reported_and_nothing_is_changed(repository: Path) -> None:
    commit_files(repository, {"a.txt": "three\n"}, "Clash")
    before = git(repository, "rev-parse", "main")
    with pytest.raises(MergeConflict, match=r"both changed a\.txt"):
        await merged(repository)
    assert git(repository, "rev-parse", "main") == before
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
async def test_unfinished_work_is_never_overwritten(repository: Path, name: str) -> None:
    (repository / name).write_text("mine\n")
    before = git(repository, "rev-parse", "main")
    with pytest.raises(Conflict, match="in the way"):
        await merged(repository)
    assert (repository / name).read_text() == "mine\n"
    assert git(repository, "rev-parse", "main") == before


async def test_unfinished_work_elsewhere_stays_beside_the_merge(repository: Path) -> None:
    (repository / "b.txt").write_text("mine\n")
    await merged(repository)
    assert git(repository, "status", "--porcelain").strip() == "M b.txt"
    assert (repository / "a.txt").read_text() == "two\n"


async def test_files_of_another_branch_are_left_alone(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    await merged(repository)
    assert (repository / "a.txt").read_text() == "one\n"
    assert git(repository, "show", "main:a.txt") == "two"


@pytest.mark.parametrize("kind", ["bare", "worktree"])
async def test_bare_repositories_and_worktrees_can_be_merged_in(
    repository: Path, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "other"
    if kind == "bare":
        git(tmp_path, "clone", "--quiet", "--bare", str(repository), "other")
    else:
        git(repository, "worktree", "add", "--quiet", "-b", "side", str(place))
    await merged(place)
    assert git(place, "show", "main:a.txt") == "two"


async def test_nothing_that_hangs_in_the_repository_is_run(repository: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for name in ("reference-transaction", "post-merge", "post-checkout", "post-index-change"):
        hook = repository / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {trace}\n")
        hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", f"touch {trace}")
    await merged(repository)
    assert not trace.exists()


async def test_a_branch_that_is_gone_is_named(repository: Path) -> None:
    git(repository, "branch", "--quiet", "-D", BRANCH)
    with pytest.raises(NotFound, match=BRANCH):
        await merged(repository)


async def test_the_commits_of_a_branch_are_listed_before_and_after_the_merge(repository: Path) -> None:
    began = git(repository, "rev-parse", "main")
    git(repository, "checkout", "--quiet", BRANCH)
    commit_files(repository, {"new.txt": "newer\n"}, "Go on")
    git(repository, "checkout", "--quiet", "main")
    commit_files(repository, {"b.txt": "theirs\n"}, "Meanwhile")
    before = await commits_of(repository, BRANCH, since="refs/heads/main")
    await merged(repository)
    after = await commits_of(repository, BRANCH, since=began)
    assert [one.message.strip() for one in before] == ["Fix", "Go on"]
    assert after == before


async def test_a_branch_that_is_gone_has_no_commits(repository: Path) -> None:
    git(repository, "branch", "-D", BRANCH)
    assert await commits_of(repository, BRANCH, since="refs/heads/main") == []
