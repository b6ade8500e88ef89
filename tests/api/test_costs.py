"""What models cost, as the API tells it."""

from pathlib import Path

import pytest

from journeyman.gateway.ledger import Ledger
from journeyman.gateway.messages import Tokens
from journeyman.gateway.prices import Prices
from journeyman.gateway.store import ModelCalls
from journeyman.settings import ModelPrice
from tests.api.parts import ORDERS, Api
from tests.gateway.door.agents import account

PRICES = Prices({"scripted/a": ModelPrice(input=10, output=10), "scripted/b": ModelPrice(input=20, output=0)})


async def test_an_orders_cost_is_told_in_all_and_by_whatever_tells_calls_apart(
    api: Api, repository: Path
) -> None:
    await api.submit(repository, budget_usd=5)
    order_id = (await api.accepted())[0].agent_work_order_id
    # A limit of calls, because the price of one of them is unknown.
    settings = api.services.settings.model_copy(update={"max_calls_per_order": 10})
    ledger = Ledger(ModelCalls(api.services.database), settings, PRICES)
    calls = [
        account("scripted/a", order_id=order_id, step="plan", agent="builtin"),
        account("scripted/a", order_id=order_id, step="build", agent="claude-code"),
        account("scripted/b", order_id=order_id, step="build", agent="claude-code"),
        account("openai/unpriced", order_id=order_id, step="build", agent="builtin", round=2),
    ]
    for paying in calls:
        async with ledger.call(paying, characters=10) as entry:
            await entry.settle(Tokens(900, 100, 50))
    told = (await api.client.get(f"{ORDERS}/{order_id}/cost")).json()
    assert told["budget_usd"] == 5
    total = told["total"]
    assert (total["calls"], total["unpriced_calls"], total["tokens_in"]) == (4, 1, 3600)
    assert total["cost_usd"] == pytest.approx(0.01 + 0.01 + 0.018)
    assert [(one["round"], one["step"], one["calls"]) for one in told["by_step"]] == [
        (1, "plan", 1),
        (1, "build", 2),
        (2, "build", 1),
    ]
    assert {one["model"]: one["cost_usd"] for one in told["by_model"]} == {
        "scripted/a": pytest.approx(0.02),
        "scripted/b": pytest.approx(0.018),
        "openai/unpriced": None,
    }
    assert {one["agent"]: one["calls"] for one in told["by_agent"]} == {"builtin": 2, "claude-code": 2}
    assert [one["round"] for one in told["by_round"]] == [1, 2]
    (day,) = (await api.client.get("/api/spending")).json()["days"]
    assert (day["calls"], day["unpriced_calls"]) == (4, 1)


async def test_an_order_without_calls_has_cost_nothing(api: Api, repository: Path) -> None:
    await api.submit(repository)
    order_id = (await api.accepted())[0].agent_work_order_id
    total = (await api.client.get(f"{ORDERS}/{order_id}/cost")).json()["total"]
    assert (total["calls"], total["cost_usd"]) == (0, 0)
    spent = (await api.client.get("/api/spending?days=1")).json()
    assert (spent["days"], spent["spent_total_usd"]) == ([], 0)
    assert (await api.client.get("/api/spending?days=0")).status_code == 422
