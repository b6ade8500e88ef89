from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
async def jails(home: Path) -> AsyncIterator[LocalSandboxes]:
    sandboxes = LocalSandboxes(Settings(home=home))
    yield sandboxes
    await sandboxes.close()
