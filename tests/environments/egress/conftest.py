from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.environments.egress.outside import routes
from tests.environments.egress.standins import StandIn, standin


@pytest.fixture
async def outside(tmp_path: Path) -> AsyncIterator[StandIn]:
    """A registry with a few packages, and other hosts on the same address."""
    directory = tmp_path / "outside"
    directory.mkdir()
    async with standin(directory, *routes()) as started:
        yield started
