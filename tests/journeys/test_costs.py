"""What an order's models cost, through the whole product."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, make_repository


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    home = tmp_path / "home"
    home.mkdir()
    prices = {"scripted/priced": {"input": 1000, "output": 2000}}
    with Product(home, JOURNEYMAN_MODEL_PRICES=json.dumps(prices)) as product:
        yield product


def test_an_orders_cost_is_the_same_wherever_it_is_told(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository")
    write = {"name": "write_file", "arguments": {"path": "new.txt", "content": "new\n"}}
    model = product.script("priced", {"replies": [{"say": "I write.", "tools": [write]}, {"say": "Done."}]})
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build", budget_usd=1000)
    order = product.finish(order_id)
    told = [event for event in product.events(order_id) if event["type"] == "model_call_completed"]
    cost = product.get(f"/api/agent-work-orders/{order_id}/cost")
    assert order["status"] == "completed"
    assert cost["total"]["calls"] == len(told) == 2
    assert order["cost_usd"] > 0
    assert cost["total"]["cost_usd"] == pytest.approx(order["cost_usd"])
    assert sum(event["cost_usd"] for event in told) == pytest.approx(order["cost_usd"])
    assert [step["step"] for step in cost["by_step"]] == ["build"]
    assert [(agent["agent"], agent["calls"]) for agent in cost["by_agent"]] == [("builtin", 2)]


def test_every_role_calls_its_own_model_unless_the_order_names_another(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    roles = {"plan": "scripted/thinker", "debug": "scripted/thinker"}
    product = Product(home, JOURNEYMAN_MODEL="scripted/usual", JOURNEYMAN_ROLE_MODELS=json.dumps(roles))
    product.script("thinker", PLANS)
    usual, own = product.script("usual", builds(FIXED)), product.script("own", PLANS, builds(FIXED))

    def models_of(order_model: str) -> set[tuple[str, str]]:
        repository = make_repository(tmp_path / order_model)
        order = product.finish(product.submit(repository, order_model))
        assert order["status"] == "completed", order
        events = product.events(order["agent_work_order_id"])
        return {(one["step"], one["model"]) for one in events if one["type"] == "model_call_completed"}

    with product:
        assert models_of(usual) == {("plan", "scripted/thinker"), ("build", usual)}
        assert models_of(own) == {("plan", own), ("build", own)}


def test_an_order_that_has_spent_its_budget_makes_no_further_call(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository")
    look = {"name": "shell", "arguments": {"command": "true"}}
    model = product.script("priced", {"replies": [{"say": "word " * 400, "tools": [look], "repeat": 100}]})
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build", budget_usd=4.5)
    product.until(order_id, lambda event: event.get("error_category") == "budget")
    calls = product.get(f"/api/agent-work-orders/{order_id}/cost")["total"]
    assert 1 <= calls["calls"] < 10
    assert calls["cost_usd"] < 4.5 + 2
