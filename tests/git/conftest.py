"""The workspaces of both kinds, each on a repository of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from journeyman.git.workspaces import Workspace
from tests.git.repositories import GitSetup, Kind, make_repository, unmount_below


@pytest.fixture(autouse=True)
def unmounted(tmp_path: Path) -> Iterator[None]:
    """Takes the overlays of a test away with it."""
    yield
    unmount_below(tmp_path)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "source")


@pytest.fixture(params=["git_branch", "git_worktree"])
def git_setup(request: pytest.FixtureRequest, source: Path, home: Path) -> GitSetup:
    kind: Kind = request.param
    return GitSetup(source, home, kind)


@pytest.fixture
async def workspace(git_setup: GitSetup) -> Workspace:
    return await git_setup.open()
