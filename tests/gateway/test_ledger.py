"""Calls written down and budgets held, on both stores."""

import asyncio
import contextlib
import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text, update

from journeyman.database import Database
from journeyman.errors import BudgetExceeded, Transient
from journeyman.gateway.budget import Need, budget_error
from journeyman.gateway.ledger import Ledger, purses_of
from journeyman.gateway.messages import Tokens
from journeyman.gateway.store import TOTAL_UNDER_WAY, ModelCalls, Spending, Sums
from journeyman.gateway.tables import model_calls
from journeyman.settings import Settings, load_settings
from tests.gateway.door.agents import account
from tests.gateway.ledgers import ledger_in, rows_in, store_order

MODEL = "scripted/priced"
PRICES = '{"scripted/priced": {"input": 10, "output": 10}}'
"""A cent for a thousand tokens, in or out."""


def settings_for(home: Path, **environment: str) -> Settings:
    named = {f"JOURNEYMAN_{name}": value for name, value in environment.items()}
    return load_settings({"JOURNEYMAN_HOME": str(home), "JOURNEYMAN_MODEL_PRICES": PRICES, **named})


async def spend(
    ledger: Ledger, order_id: str, tokens: Tokens | None, *, model: str = MODEL, **fields: Any
) -> float | None:
    paying = account(model, order_id=order_id, **fields)
    async with ledger.call(paying, characters=36, most_output_tokens=100_000) as entry:
        return (await entry.settle(tokens)).cost_usd


async def test_a_call_is_written_down_before_it_is_made_and_settled_after(
    database: Database, home: Path
) -> None:
    ledger = ledger_in(database, settings_for(home))
    async with ledger.call(account(MODEL), characters=3600, most_output_tokens=100) as entry:
        (row,) = await rows_in(database)
        assert (row["state"], row["cost_usd"], row["completed_at"]) == ("reserved", None, None)
        assert row["reserved_usd"] == pytest.approx(0.011)
        usage = await entry.settle(Tokens(1000, 500, 200, 100))
    (row,) = await rows_in(database)
    assert (row["state"], row["model"], row["step"], row["role"]) == ("settled", MODEL, "build", "build")
    assert (row["tokens_in"], row["tokens_out"]) == (1000, 500)
    assert (row["tokens_cache_read"], row["tokens_cache_write"]) == (200, 100)
    assert row["cost_usd"] == usage.cost_usd == pytest.approx(0.015)
    assert row["completed_at"] >= row["started_at"]


async def test_a_call_that_never_began_costs_nothing(database: Database, home: Path) -> None:
    ledger = ledger_in(database, settings_for(home))
    with pytest.raises(Transient):
        async with ledger.call(account(MODEL), characters=36):
            raise Transient("refused")
    (row,) = await rows_in(database)
    assert (row["state"], row["cost_usd"]) == ("failed", 0.0)


async def test_a_call_that_broke_off_counts_by_its_estimate(database: Database, home: Path) -> None:
    ledger = ledger_in(database, settings_for(home))
    order_id = await store_order(database, budget_usd=0.015)
    with contextlib.suppress(Transient):
        async with ledger.call(account(MODEL, order_id=order_id), characters=36) as entry:
            entry.has_begun = True
            raise Transient("cut")
    (row,) = await rows_in(database)
    assert (row["state"], row["cost_usd"]) == ("failed", None)
    with pytest.raises(BudgetExceeded, match=r"\$0.0049 are left"):
        await spend(ledger, order_id, Tokens(10, 10))


async def test_an_orders_budget_is_read_anew_before_every_call(database: Database, home: Path) -> None:
    from journeyman.work_orders.tables import work_orders

    ledger = ledger_in(database, settings_for(home))
    order_id = await store_order(database, budget_usd=0.02)
    assert await spend(ledger, order_id, Tokens(1000, 500)) == pytest.approx(0.015)
    with pytest.raises(BudgetExceeded, match="the order's budget"):
        await spend(ledger, order_id, Tokens(10, 10))
    async with database.writing() as connection:
        await connection.execute(update(work_orders).values(budget_usd=1.0))
    assert await spend(ledger, order_id, Tokens(10, 10)) is not None


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"BUDGET_PER_DAY_USD": "0.02"}, "today's budget"),
        ({"BUDGET_TOTAL_USD": "0.02"}, "the budget of this installation"),
    ],
)
async def test_budgets_of_all_orders_are_shared_by_them(
    database: Database, home: Path, environment: dict[str, str], words: str
) -> None:
    ledger = ledger_in(database, settings_for(home, **environment))
    await spend(ledger, "wo-00000001", Tokens(1000, 500))
    with pytest.raises(BudgetExceeded, match=words):
        await spend(ledger, "wo-00000002", Tokens(10, 10))


def test_the_budget_of_a_day_says_when_it_is_filled_up_again(home: Path) -> None:
    settings = settings_for(home, BUDGET_PER_DAY_USD="1", BUDGET_TOTAL_USD="1")
    late = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
    need = Need(tokens=1, most_tokens=1, usd=2.0, most_usd=2.0)
    refilled = {
        purse.name: budget_error("openai/x", purse).retry_after
        for purse in purses_of(settings, Spending(None, Sums(), Sums(), Sums()), need, late)
    }
    assert refilled == {"today's budget": 60.0, "the budget of this installation": None}


async def test_a_new_day_has_a_budget_of_its_own(database: Database, home: Path) -> None:
    ledger = ledger_in(database, settings_for(home, BUDGET_PER_DAY_USD="0.02"))
    await spend(ledger, "wo-00000001", Tokens(1000, 500))
    yesterday = datetime.now(UTC) - timedelta(days=1)
    async with database.writing() as connection:
        await connection.execute(update(model_calls).values(started_at=yesterday))
    assert await spend(ledger, "wo-00000001", Tokens(10, 10)) is not None


async def test_tokens_and_calls_are_limited_without_a_price(database: Database, home: Path) -> None:
    calls = ledger_in(database, settings_for(home, MAX_CALLS_PER_ORDER="2"))
    for _ in range(2):
        assert await spend(calls, "wo-00000001", Tokens(10, 10), model="openai/unpriced") is None
    with pytest.raises(BudgetExceeded, match="one more than"):
        await spend(calls, "wo-00000001", Tokens(10, 10), model="openai/unpriced")
    tokens = ledger_in(database, settings_for(home, MAX_TOKENS_PER_ORDER="5000"))
    await spend(tokens, "wo-00000002", Tokens(4000, 500), model="openai/unpriced")
    with pytest.raises(BudgetExceeded, match="500 are left"):
        await spend(tokens, "wo-00000002", Tokens(10, 10), model="openai/unpriced")


async def test_an_unknown_price_fits_into_no_budget_but_under_a_limit_of_tokens(
    database: Database, home: Path
) -> None:
    order_id = await store_order(database, budget_usd=100.0)
    with pytest.raises(BudgetExceeded, match="unknown"):
        await spend(ledger_in(database, settings_for(home)), order_id, None, model="openai/unpriced")
    limited = ledger_in(database, settings_for(home, MAX_TOKENS_PER_ORDER="5000"))
    assert await spend(limited, order_id, Tokens(1, 1), model="openai/unpriced") is None


async def test_ten_calls_at_once_overspend_a_dollar_by_at_most_one_of_them(
    database: Database, home: Path
) -> None:
    """Each costs 30 cents in the end, though a cent was estimated: three and a third fit."""
    ledger = ledger_in(database, settings_for(home))
    await try_once(ledger)
    order_id = await store_order(database, budget_usd=1.0)
    all_that_fit = asyncio.Event()
    under_way = itertools.count(1)

    async def one() -> None:
        paying = account(MODEL, order_id=order_id)
        async with ledger.call(paying, characters=36, most_output_tokens=30_000) as entry:
            if next(under_way) == 3:
                all_that_fit.set()
            await all_that_fit.wait()
            await entry.settle(Tokens(10, 29_990))

    ended = await asyncio.gather(*(one() for _ in range(10)), return_exceptions=True)
    rows = (await rows_in(database))[1:]
    refused = [error for error in ended if isinstance(error, BudgetExceeded)]
    assert len(rows) + len(refused) == 10
    assert 1.0 < sum(row["cost_usd"] for row in rows) <= 1.3 + 1e-9


async def try_once(ledger: Ledger) -> None:
    """A first call of another order: from then on it is known how the model's provider counts."""
    async with ledger.call(account(MODEL), characters=36, most_output_tokens=100) as entry:
        await entry.settle(Tokens(10, 10))


@pytest.mark.parametrize("times", [1, 3, 10])
async def test_a_provider_that_counts_too_much_is_overpaid_by_at_most_one_call(
    database: Database, home: Path, times: int
) -> None:
    """Twenty calls at once, each of which may cost a cent, of a provider that counts so many times that."""
    ledger = ledger_in(database, settings_for(home))
    order_id = await store_order(database, budget_usd=0.2)
    most, counted = 1000, Tokens(500 * times, 500 * times)

    async def one() -> None:
        paying = account(MODEL, order_id=order_id)
        async with ledger.call(paying, characters=500, most_output_tokens=most - 500) as entry:
            await asyncio.sleep(0)  # the others may go meanwhile, if they are let
            await entry.settle(counted)

    await asyncio.gather(*(one() for _ in range(20)), return_exceptions=True)
    costs = [row["cost_usd"] for row in await rows_in(database)]
    assert sum(costs) <= 0.2 + costs[0] + 1e-9
    assert len(costs) >= 2 * 10 // times


async def test_calls_beside_each_other_are_reserved_for_as_much_as_the_provider_was_seen_to_count(
    database: Database, home: Path
) -> None:
    ledger = ledger_in(database, settings_for(home))

    async def most_of_next(counted: Tokens) -> int:
        async with ledger.call(account(MODEL), characters=100, most_output_tokens=100) as entry:
            await entry.settle(counted)
        most: int = (await rows_in(database))[-1]["most_tokens"]
        return most

    assert await most_of_next(Tokens(50, 50)) == 10 * 200  # nothing is known yet
    assert await most_of_next(Tokens(50, 700)) == 200
    assert await most_of_next(Tokens(50, 50)) == 7 * 200  # learned from the one before


async def test_calls_that_fit_together_are_under_way_together(database: Database, home: Path) -> None:
    ledger = ledger_in(database, settings_for(home))
    order_id = await store_order(database, budget_usd=1.0)
    together = asyncio.Barrier(3)

    async def one() -> None:
        async with ledger.call(account(MODEL, order_id=order_id), characters=36, most_output_tokens=100) as e:
            async with asyncio.timeout(30):
                await together.wait()
            await e.settle(Tokens(10, 10))

    await asyncio.gather(one(), one(), one())
    assert len(await rows_in(database)) == 3


async def test_a_call_lost_with_its_process_makes_nobody_wait_and_counts_by_its_estimate(
    database: Database, home: Path
) -> None:
    order_id = await store_order(database, budget_usd=0.5)
    lost = ledger_in(database, settings_for(home)).call(account(MODEL, order_id=order_id), characters=36)
    await lost.__aenter__()  # and the process is killed
    restarted = ledger_in(database, settings_for(home))
    async with asyncio.timeout(30):
        await spend(restarted, order_id, Tokens(10, 10))
    states = [(row["state"], row["cost_usd"]) for row in await rows_in(database)]
    assert states == [("failed", None), ("settled", pytest.approx(0.0002))]


async def test_spending_is_added_up_by_what_tells_calls_apart_and_by_day(
    database: Database, home: Path
) -> None:
    ledger = ledger_in(database, settings_for(home))
    await spend(ledger, "wo-00000001", Tokens(1000, 0), step="plan", role="plan")
    await spend(ledger, "wo-00000001", Tokens(500, 500, 100, 50))
    await spend(ledger, "wo-00000001", Tokens(500, 500))
    await spend(ledger, "wo-00000001", Tokens(5, 5), model="openai/unpriced", round=2)
    await spend(ledger, "wo-00000002", Tokens(9000, 0))
    calls = ModelCalls(database)
    lines = await calls.of_order("wo-00000001")
    assert [(line.round, line.step, line.calls, line.unpriced_calls) for line in lines] == [
        (1, "plan", 1, 0),
        (1, "build", 2, 0),
        (2, "build", 1, 1),
    ]
    assert [line.cost_usd for line in lines] == [pytest.approx(0.01), pytest.approx(0.02), 0.0]
    assert (lines[1].tokens_in, lines[1].tokens_cache_read, lines[1].tokens_cache_write) == (1000, 100, 50)
    (day,) = await calls.by_day(datetime.now(UTC).date() - timedelta(days=1))
    assert (day.calls, day.unpriced_calls) == (5, 1)
    assert day.cost_usd == pytest.approx(0.12)
    assert await calls.by_day(datetime.now(UTC).date() + timedelta(days=1)) == []
    assert await calls.spent_ever() == pytest.approx(0.12)


async def added_up(database: Database) -> float:
    """What the ledger's rows say was spent, one by one."""
    rows = [row for row in await rows_in(database) if row["state"] != "reserved"]
    known = (row["reserved_usd"] if row["cost_usd"] is None else row["cost_usd"] for row in rows)
    return float(sum(filter(None, known)))


async def test_the_total_is_what_all_calls_took_however_they_ended(database: Database, home: Path) -> None:
    settings = settings_for(home)
    ledger, calls = ledger_in(database, settings), ModelCalls(database)
    await spend(ledger, "wo-00000001", Tokens(1000, 500))
    await spend(ledger, "wo-00000001", None)
    await spend(ledger, "wo-00000001", Tokens(5, 5), model="openai/unpriced")
    for begins in (True, False):
        with contextlib.suppress(Transient):
            async with ledger.call(account(MODEL, order_id="wo-00000001"), characters=3600) as entry:
                entry.has_begun = begins
                raise Transient("it broke")
    assert await calls.spent_ever() == pytest.approx(await added_up(database))
    async with ledger.call(account(MODEL, order_id="wo-00000001"), characters=3600) as entry:
        await spend(ledger_in(database, settings), "wo-00000001", Tokens(7, 7))  # takes the other for lost
        assert await calls.spent_ever() == pytest.approx(await added_up(database))
        await entry.settle(Tokens(100, 100))
    assert await calls.spent_ever() == pytest.approx(await added_up(database)) == pytest.approx(0.04724)


async def test_the_total_is_known_without_reading_the_calls_that_are_over(database: Database) -> None:
    over = {"round": 1, "step": "b", "role": "b", "agent": "a", "model": MODEL, "state": "settled"}
    over |= {"agent_work_order_id": "wo-00000001", "most_tokens": 1, "tokens_in": 1, "tokens_out": 1}
    over |= {"tokens_cache_read": 0, "tokens_cache_write": 0, "cost_usd": 0.01}
    now = datetime.now(UTC)
    rows = [{**over, "call_id": f"{number:032}", "started_at": now} for number in range(3000)]
    rows.append({**over, "call_id": "going", "started_at": now, "state": "reserved", "most_usd": 1.0})
    async with database.writing() as connection:
        for row in rows:
            await connection.execute(insert(model_calls), {"most_usd": None, **row})
        if not database.is_sqlite:
            await connection.execute(text("ANALYZE model_calls"))
    query = TOTAL_UNDER_WAY.statement.compile()
    long_ago = now - timedelta(hours=1)
    values = {**query.params, "long_ago": str(long_ago) if database.is_sqlite else long_ago}
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)"
    async with database.reading() as connection:
        found = await connection.execute(text(f"{explain} {query}"), values)
    plan = "\n".join(str([*row.values()][-1]) for row in found)
    assert "ix_model_calls_under_way" in plan, plan
    assert "Seq Scan" not in plan
    if not database.is_sqlite:
        assert "(actual rows=1" in plan, plan
