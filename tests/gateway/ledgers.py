"""A ledger and a door on a database of the test's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import insert, select

from journeyman.database import Database, database_url, metadata
from journeyman.gateway.door.door import Door
from journeyman.gateway.ledger import Ledger
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.prices import Prices
from journeyman.gateway.store import ModelCalls
from journeyman.gateway.tables import model_calls
from journeyman.settings import Settings
from journeyman.work_orders.tables import work_orders
from tests.work_orders.orders import an_order


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    database = Database(database_url("", settings.home))
    async with database.writing() as connection:
        await connection.run_sync(metadata.create_all)
    yield database
    await database.close()


def ledger_in(database: Database, settings: Settings) -> Ledger:
    return Ledger(ModelCalls(database), settings, Prices(settings.model_prices))


@asynccontextmanager
async def open_door(
    settings: Settings, ledger: Ledger | None = None, limits: CallLimits | None = None
) -> AsyncIterator[Door]:
    async with open_database(settings) as database:
        door = Door(settings, ledger or ledger_in(database, settings), limits=limits)
        await door.open()
        try:
            yield door
        finally:
            await door.close()


async def store_order(database: Database, **fields: Any) -> str:
    """An order with these fields; gives its id."""
    order = an_order(**fields)
    values = {column.name: getattr(order, column.name, None) for column in work_orders.columns}
    async with database.writing() as connection:
        await connection.execute(insert(work_orders).values(values))
    return order.agent_work_order_id


async def rows_in(database: Database) -> list[dict[str, Any]]:
    async with database.reading() as connection:
        found = await connection.execute(select(model_calls).order_by(model_calls.c.started_at))
        return [dict(row) for row in found]
