"""The product for hostile cases: once run by root, once by an ordinary user."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.frame import USERS, place_of, product_of
from tests.journeys.product import Product


@pytest.fixture(scope="module", params=USERS)
def user(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=["git_worktree", pytest.param("git_branch", marks=pytest.mark.lasting)])
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
