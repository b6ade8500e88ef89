"""What a repository needs is installed from the machine's own registry, once, before any agent works."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, TESTS, builds, calls, git, make_repository, says

NEEDS = """[project]
name = "adder"
version = "1"
dependencies = ["inflection==0.5.1"]
[tool.setuptools]
py-modules = ["adder"]
"""
CALLS_HOME = """install:
  - mkdir -p .venv
  - python3 -c "import urllib.request as r; r.urlopen('https://telemetry.example.com/install')" || true
checks: {test: python3 -m unittest}
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("environments") / "home"
    home.mkdir()
    with Product(home, JOURNEYMAN_ENVIRONMENT_SETUP="auto", JOURNEYMAN_SANDBOX_PATHS="") as running:
        yield running


def in_need(path: Path, **files: str) -> Path:
    """A repository whose tests import what has to be installed."""
    repository = make_repository(path, f"import inflection\n{TESTS}")
    for name, content in files.items():
        place = repository / name.replace("__", "/")
        place.parent.mkdir(exist_ok=True)
        place.write_text(content)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Say what it needs")
    return repository


def of_kind(product: Product, order: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for one in product.events(order["agent_work_order_id"]) if one["type"] == kind]


def test_an_order_is_verified_with_what_its_repository_installs(product: Product, tmp_path: Path) -> None:
    repository = in_need(tmp_path / "adder", **{"pyproject.toml": NEEDS})
    writes_there = {
        "when": {"role": "build"},
        "replies": [
            calls("write_file", path="adder.py", content=FIXED),
            calls("shell", command="python -m unittest && touch .venv/mark && git status --porcelain"),
            says("Done."),
        ],
    }
    model = product.script("needs", PLANS, writes_there)
    first = product.finish(product.submit(repository, model))
    assert (first["status"], first["verification"]) == ("completed", "passed"), first
    [made] = of_kind(product, first, "environment_ready")
    assert made["reused"] is False
    [tried] = [one for one in of_kind(product, first, "tool_call_completed") if "Ran 1 test" in str(one)]
    assert tried["ok"], tried
    changed = git(repository, "diff", "--name-only", f"main...{first['git_branch_name']}")
    assert ".venv" not in changed
    second = product.finish(product.submit(repository, model))
    assert second["verification"] == "passed"
    [found] = of_kind(product, second, "environment_ready")
    assert (found["layer"], found["reused"]) == (made["layer"], True)
    assert not of_kind(product, second, "environment_setup_started")


def test_a_set_up_reaches_registries_alone_and_a_person_can_allow_more(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    (repository / ".journeyman").mkdir()
    (repository / ".journeyman" / "environment.yaml").write_text(CALLS_HOME)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Call home")
    order = product.finish(product.submit(repository, product.script("home", PLANS, builds(FIXED))))
    assert order["verification"] == "passed", order
    [denied] = of_kind(product, order, "network_denied")
    assert (denied["host"], denied["port"], denied["phase"]) == ("telemetry.example.com", 443, "setup")
    assert "urlopen" in denied["command"]
    path = f"/api/agent-work-orders/{order['agent_work_order_id']}/network"
    body = {"host": "telemetry.example.com", "scope": "repository"}
    assert product.request("POST", f"{path}/allow", json=body).status_code == 200
    [allowed] = of_kind(product, order, "network_allowed")
    assert (allowed["host"], allowed["scope"]) == ("telemetry.example.com", "repository")


def test_a_wrong_environment_file_ends_the_order_with_its_line_before_any_model_is_asked(
    product: Product, tmp_path: Path
) -> None:
    repository = in_need(tmp_path / "adder", **{".journeyman__environment.yaml": "instal: [make]\n"})
    order_id = product.submit(repository, product.script("wrong", PLANS, builds(FIXED)))
    list(product.follow(order_id))
    order = product.order(order_id)
    assert order["status"] == "failed", order
    assert "instal" in order["error_message"]
    assert order["tokens_in"] == 0
