"""One running product for the journeys of a file, with both kinds of forge in reach.

A journey runs on SQLite, and with `--full` on PostgreSQL as well. One that rests on what the store does, such
as a restart, is marked `on_each_store` and always runs on both.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_postgres_url
from tests.journeys.product import Product
from tests.journeys.repositories import TESTS, make_repository
from tests.parts import parameters_of
from tests.standins.github import GitHubStandIn

STORES = ("sqlite", "postgresql")
on_each_store = pytest.mark.parametrize("product", STORES, indirect=True, scope="module")
_PAIRS = {"sqlite": "local", "postgresql": "github"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where stores and forges multiply, each store is paired with one forge; the rest waits for `--full`."""
    for item in items:
        given = parameters_of(item)
        pair = _PAIRS.get(str(given.get("product")))
        if pair and given.get("hosting", pair) != pair:
            item.add_marker(pytest.mark.lasting)


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path_factory.mktemp("forge")) as github:
        yield github


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.lasting)])
def product(
    request: pytest.FixtureRequest,
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
    github: GitHubStandIn,
) -> Iterator[Product]:
    home: Path = tmp_path_factory.mktemp(request.param) / "home"
    home.mkdir()
    with ExitStack() as stack:
        url = stack.enter_context(fresh_postgres_url(pytestconfig)) if request.param == "postgresql" else ""
        yield stack.enter_context(
            Product(
                home,
                DATABASE_URL=url,
                JOURNEYMAN_GITHUB_URL=github.url,
                JOURNEYMAN_GITHUB_API_URL=github.api_url,
                GITHUB_TOKEN=github.token,
            )
        )


@dataclass(frozen=True)
class Hosted:
    """A repository where its forge keeps it."""

    url: str
    path: Path
    """The repository itself, to look at what arrived there."""
    product: Product
    github: GitHubStandIn

    def pull_requests(self) -> list[dict[str, Any]]:
        """All that were ever made for this repository."""
        if self.url.startswith("http"):
            slug = self.url.removeprefix(f"{self.github.url}/")
            made = [one for one in self.github.pull_requests if one.repository == slug]
            return [{"draft": one.draft, "body": one.body, "branch": one.branch} for one in made]
        listed = self.product.get(f"/api/local-forge/pull-requests?repository_url={self.path.as_uri()}")
        found: list[dict[str, Any]] = listed["pull_requests"]
        return found


class Hosting:
    def __init__(self, kind: str, product: Product, github: GitHubStandIn, directory: Path) -> None:
        self._kind = kind
        self._product = product
        self._github = github
        self._directory = directory

    def add(self, tests: str = TESTS) -> Hosted:
        name = f"adder-{len(self._github.repositories)}"
        made = make_repository(self._directory / name, tests)
        if self._kind == "local":
            return Hosted(str(made), made, self._product, self._github)
        self._github.add_repository("acme", name, made)
        there = self._github.git.root / "acme" / f"{name}.git"
        return Hosted(f"{self._github.url}/acme/{name}", there, self._product, self._github)


@pytest.fixture(params=["local", "github"])
def hosting(
    request: pytest.FixtureRequest, product: Product, github: GitHubStandIn, tmp_path: Path
) -> Hosting:
    return Hosting(request.param, product, github, tmp_path)
