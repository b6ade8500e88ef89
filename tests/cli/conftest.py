"""A served API, a repository, and a terminal that talks to it."""

from pathlib import Path

import pytest

from tests.api.conftest import api, database_url, repository, settings
from tests.api.parts import Api
from tests.cli.jm import Terminal

__all__ = ["api", "database_url", "repository", "settings"]


@pytest.fixture
def terminal(api: Api, tmp_path: Path) -> Terminal:
    place = tmp_path / "person"
    place.mkdir()
    return Terminal(place, api.url)
