"""Model calls in the database: what is spent is read and the next call is written in one transaction."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    TextClause,
    and_,
    bindparam,
    case,
    func,
    insert,
    select,
    text,
    update,
)

from journeyman.database import Database, Prepared, Transaction, upserting
from journeyman.gateway.accounts import Account
from journeyman.gateway.budget import Need
from journeyman.gateway.messages import Tokens
from journeyman.gateway.tables import IS_UNDER_WAY, model_calls, model_spending
from journeyman.work_orders.tables import work_orders

_RESERVING_LOCK = 870_003
"""Held on PostgreSQL from reading the sums to writing the call; on SQLite there is one writer anyway."""
_LONGEST_CALL = timedelta(seconds=1900)
"""A call that has been under way for longer was lost with its process. It counts by its estimate."""

_CALL = model_calls.c


@dataclass(frozen=True)
class Sums:
    """What some calls took. `promised` is the very most that those under way may take."""

    spent_usd: float = 0.0
    promised_usd: float = 0.0
    spent_tokens: int = 0
    promised_tokens: int = 0
    spent_calls: int = 0
    promised_calls: int = 0


@dataclass(frozen=True)
class Spending:
    """What there is to know before a call of an order is made."""

    budget_usd: float | None
    order: Sums
    today: Sums
    ever: Sums


@dataclass(frozen=True)
class CostRow:
    """Calls of one kind, added up. The cost is that of the calls whose cost is known."""

    round: int
    step: str
    role: str
    agent: str
    model: str
    calls: int
    unpriced_calls: int
    cost_usd: float
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int
    tokens_cache_write: int


@dataclass(frozen=True)
class Day:
    day: date
    calls: int
    unpriced_calls: int
    cost_usd: float


class ModelCalls:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(
        self,
        call_id: str,
        account: Account,
        need: Need,
        may_go: Callable[[Spending], bool],
        *,
        wanted: Collection[str],
        under_way: Callable[[], Sequence[str]] | None,
    ) -> bool:
        """Write a call down if it may go.

        `wanted` names the sums that the decision reads; an order that has a budget is always summed up.
        `under_way`, when it is given, names the order's calls that this process makes: any other was lost
        with its process. It is asked when no other call can be written any more.
        """
        now = datetime.now(UTC)
        async with self._database.writing() as connection:
            if not self._database.is_sqlite:
                await connection.execute(_LOCK)
            if under_way is not None:
                lost = {"of_order": account.order_id, "own": list(under_way()), "now": now}
                estimates = (await connection.execute(_LOSE, lost)).scalars()
                await self._add(connection, sum(filter(None, estimates)))
            if not may_go(await _spending(connection, account.order_id, now, wanted)):
                return False
            await connection.execute(_INSERT, _row(call_id, account, need, now))
        return True

    async def close(self, call_id: str, *, state: str, tokens: Tokens | None, cost_usd: float | None) -> None:
        counted = tokens or Tokens()
        values = {
            "of_call": call_id,
            "state": state,
            "tokens_in": counted.input,
            "tokens_out": counted.output,
            "tokens_cache_read": counted.cache_read,
            "tokens_cache_write": counted.cache_write,
            "cost_usd": cost_usd,
            "completed_at": datetime.now(UTC),
        }
        async with self._database.writing() as connection:
            closed = await connection.execute(_CLOSE_UNDER_WAY, values)
            counted_before = 0.0
            if not closed:  # it was taken for lost meanwhile, and counted by its estimate
                closed = await connection.execute(_CLOSED, {"of_call": call_id})
                counted_before = _taken(**closed[0])
                await connection.execute(_CLOSE, values)
            await self._add(connection, _taken(cost_usd, closed[0]["reserved_usd"]) - counted_before)

    async def _add(self, connection: Transaction, usd: float) -> None:
        """Count what calls took that are over. Their rows are locked before this one, here as everywhere."""
        if usd:
            await connection.execute(_adding(self._database.dialect), {"id": 1, "spent_usd": usd})

    async def of_order(self, order_id: str) -> list[CostRow]:
        """An order's calls that are over, added up by everything that tells them apart."""
        keys = [_CALL[name] for name in ("round", "step", "role", "agent", "model")]
        query = (
            select(*keys, *_totals())
            .where(_CALL.agent_work_order_id == order_id, _CALL.state == "settled")
            .group_by(*keys)
            .order_by(func.min(_CALL.started_at))
        )
        async with self._database.reading() as connection:
            return [CostRow(**row) for row in (await connection.execute(query))]

    async def by_day(self, first: date) -> list[Day]:
        """What all orders spent on each day (UTC) since the first, days without calls left out."""
        begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
        if self._database.is_sqlite:
            day: ColumnElement[str] = func.strftime("%Y-%m-%d", _CALL.started_at)
        else:
            day = func.to_char(func.timezone("UTC", _CALL.started_at), "YYYY-MM-DD")
        query = (
            select(day.label("day"), *_totals()[:3])
            .where(_CALL.started_at >= begin, _CALL.state == "settled")
            .group_by(day)
            .order_by(day)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(query)
            return [Day(**{**row, "day": date.fromisoformat(row["day"])}) for row in rows]

    async def spent_ever(self) -> float:
        values = {"long_ago": datetime.now(UTC) - _LONGEST_CALL}
        async with self._database.reading() as connection:
            return (await _sums(connection, "ever", values)).spent_usd


def _taken(cost_usd: float | None, reserved_usd: float | None) -> float:
    """What a call that is over counts for: its cost, or its estimate where it is unknown."""
    return (reserved_usd or 0.0) if cost_usd is None else cost_usd


def _totals() -> list[ColumnElement[Any]]:
    return [
        func.count().label("calls"),
        func.sum(case((_CALL.cost_usd.is_(None), 1), else_=0)).label("unpriced_calls"),
        func.coalesce(func.sum(_CALL.cost_usd), 0.0).label("cost_usd"),
        func.sum(_CALL.tokens_in).label("tokens_in"),
        func.sum(_CALL.tokens_out).label("tokens_out"),
        func.sum(_CALL.tokens_cache_read).label("tokens_cache_read"),
        func.sum(_CALL.tokens_cache_write).label("tokens_cache_write"),
    ]


async def _spending(
    connection: Transaction, order_id: str, now: datetime, wanted: Collection[str]
) -> Spending:
    found = await connection.execute(_BUDGET, {"of_order": order_id})
    budget = found[0]["budget_usd"] if found else None
    values = {
        "of_order": order_id,
        "midnight": now.replace(hour=0, minute=0, second=0, microsecond=0),
        "long_ago": now - _LONGEST_CALL,
    }
    sums = {name: Sums() for name in _SUMMING}
    for name in {*wanted, "order"} if budget is not None else wanted:
        sums[name] = await _sums(connection, name, values)
    return Spending(budget_usd=budget, **sums)


async def _sums(connection: Transaction, name: str, values: dict[str, Any]) -> Sums:
    sums = Sums(**(await connection.execute(_SUMMING[name], values))[0])
    if name != "ever":
        return sums
    over = sum(row["spent_usd"] for row in await connection.execute(_SPENT))
    return replace(sums, spent_usd=sums.spent_usd + over)


def _summing(scope: ColumnElement[bool] | TextClause) -> Prepared:
    under_way = and_(_CALL.state == "reserved", _CALL.started_at > bindparam("long_ago"))
    estimated = func.coalesce(_CALL.cost_usd, _CALL.reserved_usd, 0.0)

    def total(of: Any, *, going: bool) -> ColumnElement[Any]:
        chosen = case((under_way, of if going else 0), else_=0 if going else of)
        return func.coalesce(func.sum(chosen), 0)

    sums = select(
        total(estimated, going=False).label("spent_usd"),
        total(func.coalesce(_CALL.most_usd, 0.0), going=True).label("promised_usd"),
        total(_CALL.tokens_in + _CALL.tokens_out, going=False).label("spent_tokens"),
        total(_CALL.most_tokens, going=True).label("promised_tokens"),
        total(1, going=False).label("spent_calls"),
        total(1, going=True).label("promised_calls"),
    )
    return Prepared(sums.where(scope))


@cache
def _adding(dialect: str) -> Prepared:
    total = upserting(dialect)(model_spending)
    added = {"spent_usd": model_spending.c.spent_usd + total.excluded.spent_usd}
    return Prepared(total.on_conflict_do_update(index_elements=["id"], set_=added))


# Built once: these are run for every call of a model.
_LOCK = text(f"SELECT pg_advisory_xact_lock({_RESERVING_LOCK})")
_BUDGET = Prepared(
    select(work_orders.c.budget_usd).where(work_orders.c.agent_work_order_id == bindparam("of_order"))
)
_INSERT = Prepared(insert(model_calls))
_CLOSE = update(model_calls).where(_CALL.call_id == bindparam("of_call"))
_CLOSE_UNDER_WAY = Prepared(
    _CLOSE.where(_CALL.state == "reserved").returning(_CALL.cost_usd, _CALL.reserved_usd)
)
_CLOSED = Prepared(
    select(_CALL.cost_usd, _CALL.reserved_usd).where(_CALL.call_id == bindparam("of_call")).with_for_update()
)
_SPENT = Prepared(select(model_spending.c.spent_usd).where(model_spending.c.id == 1))
_LOSE = (
    update(model_calls)
    .where(
        _CALL.agent_work_order_id == bindparam("of_order"),
        _CALL.state == "reserved",
        _CALL.call_id.not_in(bindparam("own", expanding=True)),
    )
    .values(state="failed", completed_at=bindparam("now"))
    .returning(_CALL.reserved_usd)
)
TOTAL_UNDER_WAY = _summing(IS_UNDER_WAY)
"""What is not in the total yet: of the calls that are over it stands in a figure of its own."""
_SUMMING = {
    "order": _summing(_CALL.agent_work_order_id == bindparam("of_order")),
    "today": _summing(_CALL.started_at >= bindparam("midnight")),
    "ever": TOTAL_UNDER_WAY,
}


def _row(call_id: str, account: Account, need: Need, now: datetime) -> dict[str, Any]:
    return {
        "call_id": call_id,
        "agent_work_order_id": account.order_id,
        "round": account.round,
        "step": account.step,
        "role": account.role,
        "agent": account.agent,
        "model": account.model,
        "state": "reserved",
        "reserved_usd": need.usd,
        "most_usd": need.most_usd,
        "most_tokens": need.most_tokens,
        "tokens_in": 0,
        "tokens_out": 0,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
        "cost_usd": None,
        "started_at": now,
        "completed_at": None,
    }
