"""The workspaces of both kinds, each on a repository of the test's own."""

from pathlib import Path

import pytest

from journeyman.git.workspaces import Workspace
from tests.git.places import GitPlace, Kind, make_repository


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "source")


@pytest.fixture(params=["git_branch", "git_worktree"])
def bench(request: pytest.FixtureRequest, source: Path, home: Path) -> GitPlace:
    kind: Kind = request.param
    return GitPlace(source, home, kind)


@pytest.fixture
async def workspace(bench: GitPlace) -> Workspace:
    return await bench.open()
