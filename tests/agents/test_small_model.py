"""The small model answers with values or not at all, is counted, and holds nobody up."""

from pathlib import Path
from typing import Any

import pytest

from journeyman.agents.small_model import Names, PromptIntent, SmallModel
from journeyman.gateway.accounts import Account
from journeyman.gateway.gateway import Gateway
from tests.gateway.calls import settings_with, write_script
from tests.gateway.ledgers import ledger_in, open_database, rows_in, store_order
from tests.work_orders.orders import an_order


def small_model(home: Path, *replies: dict[str, Any], seconds: float = 30) -> SmallModel:
    settings = settings_with(home)
    return SmallModel(
        Gateway(settings), write_script(settings, "small", {"replies": list(replies)}), seconds=seconds
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"deliver": {"title": "Add\n two  numbers", "branch": "add numbers"}},
        {"say": '```json\n{"title": "Add two numbers", "branch": "add numbers"}\n```'},
    ],
    ids=["called", "said"],
)
async def test_names_come_as_one_line_each(home: Path, reply: dict[str, Any]) -> None:
    suggestion = await small_model(home, reply).names(an_order(), "Fix the adder")
    assert suggestion.value == Names(title="Add two numbers", branch="add numbers")
    assert suggestion.answer is not None


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ({"say": "I would call it Adder."}, "no answer that could be used"),
        ({"deliver": {"title": "x" * 200, "branch": "add"}}, "no answer that could be used"),
        ({"deliver": {"title": "Add \u202e two", "branch": "add"}}, "no answer that could be used"),
        ({"deliver": {"title": "Add two"}}, "no answer that could be used"),
        ({"fault": "malformed_tool_call"}, "no answer that could be used"),
        ({"fault": "refusal", "say": "No."}, "no answer that could be used"),
        ({"fault": "http_500"}, "500"),
        ({"fault": "cut_stream", "say": "I would"}, "cut"),
    ],
)
async def test_whatever_goes_wrong_is_told_and_not_raised(
    home: Path, reply: dict[str, Any], fault: str
) -> None:
    suggestion = await small_model(home, reply).names(an_order(), "Fix the adder")
    assert suggestion.value is None
    assert fault in suggestion.fault


async def test_a_model_that_does_not_answer_in_time_is_not_waited_for(home: Path) -> None:
    suggestion = await small_model(home, {"fault": "stall"}, seconds=0.05).prompt_intent(an_order(), "Why?")
    assert (suggestion.value, "0.05 seconds" in suggestion.fault) == (None, True)


async def test_a_model_that_cannot_be_used_says_why(home: Path) -> None:
    suggestion = await SmallModel(Gateway(settings_with(home)), "openai/tiny").prompt_intent(
        an_order(), "Why?"
    )
    assert "no key" in suggestion.fault


async def test_its_calls_are_counted_and_leave_those_of_the_orders_worker_alone(home: Path) -> None:
    settings = settings_with(home)
    name = write_script(settings, "small", {"replies": [{"deliver": {"mode": "ask"}}]})
    async with open_database(settings) as database:
        order = an_order(agent_work_order_id=await store_order(database))
        workers = ledger_in(database, settings)
        small = SmallModel(Gateway(settings, ledger_in(database, settings)), name)
        account = Account(
            order_id=order.agent_work_order_id,
            round=1,
            step="build",
            role="build",
            agent="builtin",
            model=name,
        )
        async with workers.call(account, characters=10) as entry:
            suggestion = await small.prompt_intent(order, "Tell me about it")
            states = {row["role"]: row["state"] for row in await rows_in(database)}
            assert states == {"build": "reserved", "mode": "settled"}
            entry.has_begun = True
        assert suggestion.value == PromptIntent(mode="ask")


async def test_an_order_over_its_budget_asks_nothing(home: Path) -> None:
    settings = settings_with(home, JOURNEYMAN_MAX_CALLS_PER_ORDER="1")
    name = write_script(settings, "small", {"replies": [{"deliver": {"mode": "ask"}}]})
    async with open_database(settings) as database:
        order = an_order(agent_work_order_id=await store_order(database))
        small = SmallModel(Gateway(settings, ledger_in(database, settings)), name)
        assert (await small.prompt_intent(order, "Tell me")).value == PromptIntent(mode="ask")
        suggestion = await small.prompt_intent(order, "Tell me")
        assert (suggestion.value, "one more than" in suggestion.fault) == (None, True)
