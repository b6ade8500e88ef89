"""A workplace for each test of an agent."""

from pathlib import Path

import pytest

from tests.agents.turns import Workplace


@pytest.fixture
def place(home: Path) -> Workplace:
    return Workplace(home)
