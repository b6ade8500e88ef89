"""What every test may ask for: a home, settings, and databases on both stores.

Tests that take long run only with `--full`. Those that need the web UI's packages, Chromium or an agent that
others make are skipped where these are not installed (`tests/parts.py`), but never in continuous integration.
"""

import importlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import journeyman
from journeyman.database import Database, metadata
from journeyman.database import database_url as async_url
from journeyman.settings import Settings, load_settings
from tests.house.source import ROOT
from tests.journeys.product import Product
from tests.parts import missing_parts, parameters_of
from tests.postgres import PrivatePostgres

_POSTGRES = pytest.StashKey[PrivatePostgres]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also the tests that are marked `lasting`")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "lasting: takes long, or repeats a promise elsewhere; runs by `make full`"
    )
    config.addinivalue_line("markers", "as_root: mounts a disk, which only root may")
    Product.preloads = not config.getoption("--full")
    given = getattr(config, "workerinput", {}).get("postgres_directory")
    config.stash[_POSTGRES] = PrivatePostgres(Path(given)) if given else PrivatePostgres.prepare()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Last, so that directories can mark their tests before."""
    unwanted = set() if config.getoption("--full") else {"lasting"}
    if os.geteuid() != 0:
        unwanted.add("as_root")
    left_out = {item for item in items if unwanted & {mark.name for mark in item.iter_markers()}}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    if not os.environ.get("CI"):
        _skip_without_parts(items)


def _skip_without_parts(items: list[pytest.Item]) -> None:
    for item in items:
        for reason in missing_parts(item.path.relative_to(ROOT).as_posix(), parameters_of(item).values()):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist where the server of this run is, or will be."""
    node.workerinput["postgres_directory"] = str(node.config.stash[_POSTGRES].directory)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[_POSTGRES].discard()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def settings(home: Path) -> Settings:
    """The defaults, in a home of the test's own; nothing comes from the environment."""
    return load_settings({"JOURNEYMAN_HOME": str(home)})


def fresh_postgres_url(config: pytest.Config) -> AbstractContextManager[str]:
    """For fixtures that live longer than a test."""
    return config.stash[_POSTGRES].fresh_database()


@pytest.fixture
def postgres_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """A fresh PostgreSQL database, as the value of DATABASE_URL."""
    with fresh_postgres_url(pytestconfig) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A value of DATABASE_URL for each store; empty means SQLite in the home."""
    if request.param == "sqlite":
        return ""
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def database(database_url: str, home: Path) -> AsyncIterator[Database]:
    """An empty database with every table, once on each store."""
    _know_every_table()
    database = Database(async_url(database_url, home))
    async with database.writing() as connection:
        await connection.run_sync(metadata.create_all)
    yield database
    await database.close()


def _know_every_table() -> None:
    for tables in Path(journeyman.__path__[0]).glob("*/tables.py"):
        importlib.import_module(f"journeyman.{tables.parent.name}.tables")
