"""Repositories that cannot be worked on, and servers that may not start: said plainly, nothing left."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.product import Product, run_jm
from tests.journeys.repositories import git, make_repository


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    (home := tmp_path_factory.mktemp("refusals") / "home").mkdir()
    with Product(home, JOURNEYMAN_REPOSITORY_MAX_FILES="50") as product:
        yield product


def test_a_repository_that_cannot_be_checked_out_fails_the_order_plainly(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    (repository / "many").mkdir()
    for n in range(60):
        (repository / "many" / str(n)).write_text("")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Spoil")
    order = product.finish(product.submit(repository, "scripted/demo"))
    assert (order["status"], order["error_category"]) == ("failed", "invalid_input"), order
    assert "more than 50 files" in order["error_message"]
    assert product.leftovers() == []
    assert git(repository, "branch", "--format=%(refname:short)") == "main"


def test_a_second_server_on_the_same_home_says_so_and_ends(product: Product) -> None:
    second = run_jm("serve", "--port", "0", JOURNEYMAN_HOME=str(product.home))
    assert second.returncode == 1
    assert f"process {product.pid}" in second.stderr
    assert product.get("/health")


def test_a_server_beyond_loopback_is_refused(home: Path) -> None:
    answer = run_jm("serve", "--host", "0.0.0.0", JOURNEYMAN_HOME=str(home))
    assert answer.returncode != 0
    assert "loopback" in answer.stderr


def test_without_a_jail_every_surface_says_so(home: Path, tmp_path: Path) -> None:
    with Product(home, JOURNEYMAN_LOCAL_ISOLATION="none") as product:
        assert product.get("/health")["isolation"] == "none"
        offered = product.get("/api/sandboxes")["sandboxes"]
        assert {choice["isolation"] for choice in offered if choice["ready"]} == {"none"}
        assert product.request("GET", "/health").headers["X-Journeyman-Isolation"] == "none"
        repository = make_repository(tmp_path / "adder")
        order_id = product.submit(repository, "scripted/demo")
        created = product.until(order_id, lambda event: event["type"] == "sandbox_created")
        assert created["isolation"] == "none"
        shown = run_jm("show", order_id, JOURNEYMAN_HOME=str(home), JOURNEYMAN_URL=product.url)
        assert "isolation" in (shown.stdout + shown.stderr).lower()
