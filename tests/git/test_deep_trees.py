"""Directories nested deeper than programs expect: handled as far as git can, refused in words beyond."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeyman.errors import InvalidRepository
from journeyman.files.removal import remove_tree
from journeyman.git.workspaces import Workspace
from tests.files import traps
from tests.git.repositories import GitSetup, git, make_repository, unmount_below


@pytest.fixture(autouse=True)
def nothing_is_left_for_pytest(tmp_path: Path) -> Iterator[None]:
    """Whose own way of removing what a test wrote is not made for this."""
    yield
    unmount_below(tmp_path)
    remove_tree(tmp_path)


def nested_repository(path: Path, levels: int) -> Path:
    """A repository whose one file lies that deep, made of objects alone: no file system is asked."""
    make_repository(path)
    deep = f"{'d/' * levels}file"
    commit = f"commit refs/heads/main\ncommitter A <a@b> 1 +0000\ndata 4\nDeep\nM 100644 inline {deep}\n"
    git(path, "fast-import", "--quiet", "--force", stdin=f"{commit}data 5\ndeep\n\n".encode())
    return path


@pytest.mark.parametrize("levels", [2_100, 20_000])
async def test_a_repository_that_is_too_deep_to_check_out_is_refused_as_such(
    git_setup: GitSetup, tmp_path: Path, levels: int
) -> None:
    source = nested_repository(tmp_path / "deep", levels)
    mirror = await GitSetup(source, git_setup.home, git_setup.kind).refresh()
    with pytest.raises(InvalidRepository, match="deep"):
        await mirror.check_checkout(mirror.resolve("main"), max_files=200_000, max_bytes=10**9)


async def test_a_workspace_in_which_an_agent_nested_directories_is_removed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    traps.deep(workspace.tree / "loop", 2_500)
    await git_setup.workspaces.remove(workspace.order_id)
    assert not workspace.tree.exists()
    git_setup.workspaces.trash.empty()
    assert os.listdir(git_setup.home / "workspaces" / ".trash") == []


async def test_branches_named_deeper_than_a_thousand_levels_do_not_stop_a_fetch(git_setup: GitSetup) -> None:
    await git_setup.refresh()
    git(git_setup.source, "update-ref", f"refs/heads/{'/'.join('b' * 1_100)}", "main")
    await git_setup.refresh()
    git(git_setup.source, "commit", "--quiet", "--allow-empty", "--message", "Next")
    mirror = await git_setup.refresh()
    assert mirror.resolve("main") == git(git_setup.source, "rev-parse", "main")


async def test_untracked_directories_that_are_too_deep_for_git_are_removed_when_the_files_are_reset(
    workspace: Workspace,
) -> None:
    traps.deep(workspace.tree / "loop", 2_500)
    (workspace.tree / "draft.txt").write_text("draft\n")
    await workspace.restore(await workspace.head())
    assert sorted(os.listdir(workspace.tree)) == [".git", "readme.md", "src"]
