"""A served API on SQLite, and a small repository to name in orders."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.database import Database
from journeyman.settings import Settings, load_settings
from tests.api.parts import Api, git, served


@pytest.fixture
def database_url() -> str:
    """What differs between the stores is tested where they are; the API is tested on one."""
    return ""


@pytest.fixture
def settings(home: Path) -> Settings:
    """With scripts of its own: without them the demo works on the sample alone."""
    (scripts := home.parent / "scripts").mkdir()
    return load_settings({"JOURNEYMAN_HOME": str(home), "JOURNEYMAN_SCRIPTS": str(scripts)})


@pytest.fixture
async def api(settings: Settings, database: Database) -> AsyncIterator[Api]:
    async with served(settings, database) as api:
        yield api


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "pager"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "pager.py").write_text("PAGE = 10\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Begin")
    return path
