"""Clones as people really have them: cut off, detached, half made, with names that differ by case alone."""

from pathlib import Path

import pytest

from journeyman.errors import InvalidRepository
from tests.git.repositories import ADA, GitSetup, commit_files, git, message, remote_of, tracked


@pytest.fixture
def history(source: Path) -> Path:
    for number in range(5):
        commit_files(source, {"src/app.py": f"{number}\n"}, f"Step {number}")
    return source


async def work_and_push(setup: GitSetup) -> str:
    workspace = await setup.open()
    (workspace.tree / "src/app.py").write_text("worked on\n")
    commit = await workspace.commit(message(), author=ADA)
    assert commit is not None
    return await workspace.push(remote_of(setup.source), expected_sha=None)


async def test_a_clone_with_a_part_of_its_history_is_worked_on_before_and_after_it_is_deepened(
    history: Path, home: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=2", history.as_uri(), "copy")
    setup = GitSetup(tmp_path / "copy", home, "git_worktree")
    pushed = await work_and_push(setup)
    assert git(setup.source, "log", "--format=%s", pushed).split("\n") == ["Do it", "Step 4", "Step 3"]
    git((await setup.refresh()).path, "fsck", "--full")
    commit_files(history, {"src/app.py": "newer\n"}, "Newer")
    git(setup.source, "pull", "--quiet", "--unshallow")
    mirror = await setup.refresh()
    assert mirror.resolve("main") == git(history, "rev-parse", "main")
    assert len(git(mirror.path, "rev-list", mirror.resolve("main")).split()) == 7


async def test_git_works_in_the_workspace_of_a_shallow_clone(
    history: Path, git_setup: GitSetup, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=2", history.as_uri(), "copy")
    git_setup.source = tmp_path / "copy"
    workspace = await git_setup.open()
    assert git(workspace.tree, "log", "--format=%s").split("\n") == ["Step 4", "Step 3"]


async def test_a_detached_head_needs_a_branch_named_and_works_with_one(history: Path, home: Path) -> None:
    git(history, "checkout", "--quiet", "--detach", "HEAD~2")
    setup = GitSetup(history, home, "git_worktree")
    with pytest.raises(InvalidRepository, match="points at no branch") as refused:
        (await setup.refresh()).default_branch()
    assert "Name the base branch" in refused.value.hint
    await work_and_push(setup)


async def test_a_default_branch_without_a_commit_needs_another_named(history: Path, home: Path) -> None:
    git(history, "symbolic-ref", "HEAD", "refs/heads/unborn")
    setup = GitSetup(history, home, "git_worktree")
    with pytest.raises(InvalidRepository) as refused:
        (await setup.refresh()).default_branch()
    assert "Name the base branch" in refused.value.hint
    await work_and_push(setup)


async def test_names_that_differ_by_case_alone_are_two_files(source: Path, home: Path) -> None:
    commit_files(source, {"Makefile": "one\n", "makefile": "two\n", "SRC/app.py": "three\n"}, "Clash")
    setup = GitSetup(source, home, "git_worktree")
    workspace = await setup.open()
    assert ((workspace.tree / "Makefile").read_text(), (workspace.tree / "makefile").read_text()) == (
        "one\n",
        "two\n",
    )
    assert not await workspace.has_changes()
    (workspace.tree / "makefile").write_text("changed\n")
    commit = await workspace.commit(message(), author=ADA)
    assert commit is not None
    assert {"Makefile", "makefile", "SRC/app.py", "src/app.py"} <= set(tracked(workspace.mirror, commit))
    assert git(workspace.mirror.path, "diff", "--name-only", f"{commit}~", commit) == "makefile"
