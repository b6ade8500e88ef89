"""An open door on the test's own loop, with a directory for scripts."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from journeyman.gateway.door.door import Door
from journeyman.settings import Settings
from tests.gateway.calls import settings_with
from tests.gateway.door.agents import client_of
from tests.gateway.ledgers import open_door


@pytest.fixture
def settings(home: Path) -> Settings:
    return settings_with(home, JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS="0.5")


@pytest.fixture
async def door(settings: Settings) -> AsyncIterator[Door]:
    async with open_door(settings) as door:
        yield door


@pytest.fixture
async def client(door: Door) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(door) as client:
        yield client
