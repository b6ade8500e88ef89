"""What the tests of faults are given: stages on both stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_postgres_url
from tests.faults.stage import Stage, Store, staged


@pytest.fixture(scope="module")
def stages(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Store, Stage]]:
    """One stage for each store, with its server down."""
    with (
        fresh_postgres_url(pytestconfig) as url,
        fresh_postgres_url(pytestconfig) as shared,
        staged(tmp_path_factory.mktemp("sqlite"), "") as sqlite,
        staged(tmp_path_factory.mktemp("postgresql"), url) as postgresql,
        staged(tmp_path_factory.mktemp("workers"), shared, own_worker=True) as workers,
    ):
        yield {"sqlite": sqlite, "postgresql": postgresql, "workers": workers}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A stage of the test's own, on SQLite, with its server down."""
    with staged(tmp_path, "") as stage:
        yield stage
