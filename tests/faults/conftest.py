"""What the tests of faults are given: stages on both stores, and whether there is time for the long ones."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_postgres_url
from tests.faults.stage import Stage, Store, staged


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "lasting: takes long; runs by `make faults`")
    config.addinivalue_line("markers", "as_root: mounts a disk, which only root may")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unwanted = set() if config.getoption("--full") else {"lasting"}
    if os.geteuid() != 0:
        unwanted.add("as_root")
    left_out = [item for item in items if unwanted & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


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
