"""Checks that lack something: nothing is repaired, the order does not fail, and people are told or asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, TESTS, builds, calls, make_repository, says
from tests.journeys.rounds import control

LACKING = f"import freezegun_x\n{TESTS}"
WHAT = "the Python package freezegun-x is not installed"


def evidence_of(product: Product, order: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = product.get(
        f"/api/agent-work-orders/{order['agent_work_order_id']}/evidence"
    )["evidence"]
    return found


def test_a_missing_package_is_not_given_to_the_agent_and_does_not_fail_the_order(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder", LACKING)
    order = product.finish(product.submit(repository, product.script("fix", PLANS, builds(FIXED))))
    assert (order["status"], order["verification"]) == ("completed", "none"), order
    [record] = evidence_of(product, order)
    said = f"not verified: unittest: {WHAT} (0 passed, 1 could not be run)"
    assert (record["passed"], record["summary"]) == (None, said)
    [check] = record["checks"]
    assert (check["outcome"], [fault["command"] for fault in check["faults"]]) == (
        "environment",
        ["pip install freezegun-x"],
    )


def test_a_package_that_the_agent_imports_without_declaring_it_is_given_back_to_it(
    product: Product, tmp_path: Path
) -> None:
    first = builds(f"import freezegun_x\n{FIXED}")
    repairs = builds(FIXED, "No module named 'freezegun_x'")
    repository = make_repository(tmp_path / "adder")
    order = product.finish(product.submit(repository, product.script("undeclared", PLANS, repairs, first)))
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert [record["passed"] for record in evidence_of(product, order)] == [False, True]


def test_an_agent_cannot_replace_the_checks_of_the_base(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    cheats = {
        "when": {"role": "build"},
        "replies": [
            calls("shell", command="rm test_adder.py"),
            calls("write_file", path="Makefile", content="test:\n\t@true\n"),
            says("Done."),
        ],
    }
    order = product.finish(product.submit(repository, product.script("cheats", PLANS, cheats)))
    checks = evidence_of(product, order)[-1]["checks"]
    assert next(check for check in checks if check["name"] == "unittest")["outcome"] == "unavailable"


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Product]:
    home = tmp_path / "home"
    home.mkdir()
    with Product(home, JOURNEYMAN_ENVIRONMENT_PROBLEMS="ask") as product:
        yield product


def test_where_people_want_to_be_asked_the_order_pauses_and_goes_on_as_they_say(
    asking: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder", LACKING)
    order_id = asking.submit(repository, asking.script("fix", PLANS, builds(FIXED)))
    waiting = asking.finish(order_id)
    assert (waiting["status"], waiting["error_category"]) == ("paused", "environment"), waiting
    assert waiting["resume_at"] is None
    assert WHAT in waiting["error_message"]
    assert "pip install freezegun-x" in waiting["error_hint"]
    control(asking, order_id, "resume")
    order = asking.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "none"), order
    assert order["error_category"] is None


def test_an_order_that_asked_is_verified_once_what_it_lacks_was_brought(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    settings = {"JOURNEYMAN_ENVIRONMENT_PROBLEMS": "ask", "JOURNEYMAN_ENVIRONMENT_SETUP": "auto"}
    with Product(home, **settings) as product:
        repository = make_repository(tmp_path / "adder", LACKING)
        order_id = product.submit(repository, product.script("fix", PLANS, builds(FIXED)))
        assert product.finish(order_id)["status"] == "paused"
        known = product.request("POST", "/api/repositories", json={"repository_url": str(repository)}).json()
        brings = (
            "install: [mkdir -p lacked && touch lacked/freezegun_x.py]\n"
            "cache: [lacked]\nenv: {PYTHONPATH: /workspace/lacked}\n"
        )
        path = f"/api/repositories/{known['repository']['repository_id']}/environment"
        assert product.request("PUT", path, json={"definition": brings}).status_code == 200
        control(product, order_id, "resume")
        order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order


def test_a_step_names_its_own_commands(product: Product, tmp_path: Path) -> None:
    directory = product.home / "workflows"
    directory.mkdir(exist_ok=True)
    (directory / "smoke.yaml").write_text(
        "name: smoke\nsteps:\n"
        "  - {name: build, kind: build}\n"
        "  - {name: verify, kind: verify, depends_on: [build],"
        " commands: {test: grep -q + adder.py, smoke: test -f adder.py}}\n"
    )
    repository = make_repository(tmp_path / "adder", LACKING)
    model = product.script("fix", builds(FIXED))
    order = product.finish(product.submit(repository, model, workflow_type="smoke"))
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    [record] = evidence_of(product, order)
    assert {check["name"]: check["command"] for check in record["checks"]} == {
        "test": "grep -q + adder.py",
        "smoke": "test -f adder.py",
    }
