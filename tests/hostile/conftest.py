"""The product for hostile cases: once run by root, once by an ordinary user."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.hostile.frame import USERS, place_of, product_of
from tests.journeys.product import Product


def _first_alone(names: Sequence[str]) -> list[object]:
    """The first of them always, the others when there is time for all."""
    return [names[0], *(pytest.param(name, marks=pytest.mark.lasting) for name in names[1:])]


@pytest.fixture(scope="module", params=_first_alone(USERS))
def user(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=_first_alone(["git_worktree", "git_branch"]))
def sandbox_type(request: pytest.FixtureRequest) -> str:
    """Every type of sandbox on this machine."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def place(user: str) -> Iterator[Path]:
    """A directory that the user owns and can reach, for homes and repositories."""
    with place_of(user) as place:
        yield place


@pytest.fixture(scope="module")
def product(user: str, place: Path) -> Iterator[Product]:
    with product_of(user, place) as product:
        yield product
