"""Statements that several nouns share: read an order, change it, insert or replace a row."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Table, bindparam, select, update

from journeyman.database import Prepared, Row, Transaction, upserting
from journeyman.errors import NotFound
from journeyman.events.types import Event
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store.transactions import Transactions, Writing
from journeyman.work_orders.tables import work_orders

STEP_KEY = ("agent_work_order_id", "round", "step")
_ORDER_FIELDS = [field.name for field in fields(WorkOrder)]
_ONE = select(work_orders).where(work_orders.c.agent_work_order_id == bindparam("of_order"))
_READ = Prepared(_ONE)
_READ_FOR_UPDATE = Prepared(_ONE.with_for_update())
_CHANGE = Prepared(
    update(work_orders)
    .where(work_orders.c.agent_work_order_id == bindparam("of_order"))
    .returning(*work_orders.c)
)
"""Which columns change is said by the names of the values that it is run with."""


def order_of(row: Row) -> WorkOrder:
    return WorkOrder(**{name: row[name] for name in _ORDER_FIELDS})


async def fetch_order(connection: Transaction, order_id: str, *, for_update: bool = False) -> WorkOrder:
    found = await connection.execute(_READ_FOR_UPDATE if for_update else _READ, {"of_order": order_id})
    if not found:
        raise NotFound(f"there is no work order {order_id}", hint="`jm list` shows those that exist.")
    return order_of(found[0])


async def write_changes(writing: Writing, order_id: str, changes: OrderChanges, now: datetime) -> WorkOrder:
    [row] = await writing.execute(_CHANGE, {"of_order": order_id, "updated_at": now, **changes})
    return order_of(row)


async def save_row(
    transactions: Transactions,
    table: Table,
    key: tuple[str, ...],
    row: Row,
    events: Sequence[Event],
    order_changes: OrderChanges,
    *,
    kept: tuple[str, ...] = (),
) -> None:
    """Insert or replace the row with this key, with what its order learned from it, and the events.

    Of a row that is replaced, the columns in `kept` stay as they are.
    """
    order_id: str = row["agent_work_order_id"]
    async with transactions.writing() as writing:
        await writing.execute(_upsert(writing.connection.dialect, table, key, kept), row)
        if order_changes:
            await write_changes(writing, order_id, order_changes, datetime.now(UTC))
        await writing.append(order_id, *events)


@cache
def _upsert(dialect: str, table: Table, key: tuple[str, ...], kept: tuple[str, ...]) -> Prepared:
    insert: Any = upserting(dialect)(table)
    replaced = [column.name for column in table.c if column.name not in (*key, *kept)]
    return Prepared(
        insert.on_conflict_do_update(
            index_elements=list(key), set_={name: insert.excluded[name] for name in replaced}
        )
    )
