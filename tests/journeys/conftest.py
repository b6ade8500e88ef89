"""One running product for the journeys of a file, on each store."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import fresh_postgres_url
from tests.journeys.product import Product


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def product(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    home: Path = tmp_path_factory.mktemp(request.param) / "home"
    home.mkdir()
    with ExitStack() as stack:
        url = stack.enter_context(fresh_postgres_url(pytestconfig)) if request.param == "postgresql" else ""
        yield stack.enter_context(Product(home, DATABASE_URL=url))
