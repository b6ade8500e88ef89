"""What model calls used, added up on the step and on the order."""

from sqlalchemy import ColumnElement, Float, Table, bindparam, case, cast, func, update

from journeyman.database import Prepared
from journeyman.events.types import Event
from journeyman.work_orders.order import Usage
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import steps, work_orders


class UsageTotals:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def add(self, order_id: str, round: int, step: str, usage: Usage, *events: Event) -> None:
        """Add what model calls used to the step and the order. A cost that is not known adds nothing."""
        values = {
            "of_order": order_id,
            "more_in": usage.tokens_in,
            "more_out": usage.tokens_out,
            "more_cache_read": usage.tokens_cache_read,
            "more_cost": usage.cost_usd,
        }
        async with self._transactions.writing() as writing:
            await writing.execute(_ADD_TO_ORDER, values)
            await writing.execute(_ADD_TO_STEP, {**values, "of_round": round, "of_step": step})
            await writing.append(order_id, *events)


def _adding(table: Table, *conditions: ColumnElement[bool]) -> Prepared:
    column = table.c
    cost = cast(bindparam("more_cost"), Float)
    return Prepared(
        update(table)
        .where(*conditions)
        .values(
            tokens_in=column.tokens_in + bindparam("more_in"),
            tokens_out=column.tokens_out + bindparam("more_out"),
            tokens_cache_read=column.tokens_cache_read + bindparam("more_cache_read"),
            cost_usd=case(
                (cost.is_(None), column.cost_usd), else_=func.coalesce(column.cost_usd, 0.0) + cost
            ),
        )
    )


_ADD_TO_ORDER = _adding(work_orders, work_orders.c.agent_work_order_id == bindparam("of_order"))
_ADD_TO_STEP = _adding(
    steps,
    steps.c.agent_work_order_id == bindparam("of_order"),
    steps.c.round == bindparam("of_round"),
    steps.c.step == bindparam("of_step"),
)
