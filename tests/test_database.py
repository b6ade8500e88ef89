"""The tables' history and what the two stores share."""

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text

import journeyman.access.tables
import journeyman.events.tables
import journeyman.forges.tables
import journeyman.gateway.tables
import journeyman.work_orders.tables  # noqa: F401
from journeyman.database import Database, metadata, migrate, newest_version
from journeyman.database import database_url as async_url


def _differences(connection: Connection) -> list[object]:
    ours = set(metadata.tables)
    options = {"include_name": lambda name, kind, _: kind != "table" or name in ours}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_the_migrations_lead_to_the_tables_that_the_code_knows(database_url: str, home: Path) -> None:
    url = async_url(database_url, home)
    migrate(url)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert _differences(connection) == []
    engine.dispose()


def test_migrating_twice_changes_nothing(database_url: str, home: Path) -> None:
    url = async_url(database_url, home)
    migrate(url)
    migrate(url)
    engine = create_engine(url)
    with engine.connect() as connection:
        versions = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        assert versions == [newest_version()]
    engine.dispose()


async def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    try:
        async with database.writing() as connection:
            await connection.execute(
                text("INSERT INTO event_counters (agent_work_order_id, last_sequence) VALUES ('wo-1', 1)")
            )
            raise RuntimeError("stop")
    except RuntimeError:
        pass
    async with database.reading() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM event_counters"))).scalar_one() == 0


async def test_sqlite_is_in_wal_mode(home: Path) -> None:
    database = Database(async_url("", home))
    async with database.reading() as connection:
        assert (await connection.execute(text("PRAGMA journal_mode"))).scalar_one() == "wal"
    await database.close()
