from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.settings import Settings
from tests.environments.repositories import EnvironmentPlace


@pytest.fixture
async def place(tmp_path: Path, settings: Settings) -> AsyncIterator[EnvironmentPlace]:
    place = EnvironmentPlace(tmp_path, settings)
    yield place
    await place.jails.close()
