"""The tables' history and what the two stores share."""

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Float,
    Integer,
    LargeBinary,
    String,
    bindparam,
    create_engine,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

import journeyman.access.tables
import journeyman.engine.tables
import journeyman.events.tables
import journeyman.forges.tables
import journeyman.gateway.tables
import journeyman.work_orders.tables  # noqa: F401
from journeyman.database import Database, PlainText, Prepared, UtcDateTime, metadata
from journeyman.database import database_url as async_url
from journeyman.errors import StoreUnavailable
from journeyman.events.tables import event_counters
from journeyman.migrations.upgrade import newest_version, upgrade_tables
from journeyman.work_orders.tables import evidence


def _differences(connection: Connection) -> list[object]:
    ours = set(metadata.tables)
    options = {"include_name": lambda name, kind, _: kind != "table" or name in ours}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_the_migrations_lead_to_the_tables_that_the_code_knows(database_url: str, home: Path) -> None:
    url = async_url(database_url, home)
    upgrade_tables(url)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert _differences(connection) == []
    engine.dispose()


def test_migrating_twice_changes_nothing(database_url: str, home: Path) -> None:
    url = async_url(database_url, home)
    upgrade_tables(url)
    upgrade_tables(url)
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
        assert (await connection.execute(text("SELECT count(*) FROM event_counters"))).scalar() == 0


async def test_a_prepared_statement_stores_and_reads_as_any_other(database: Database) -> None:
    elsewhere = timezone(timedelta(hours=5))
    given = [
        {
            "agent_work_order_id": "wo-1",
            "round": 1,
            "step": f"step-{number}",
            "attempt": number,
            "commit_sha": "a" * 40,
            "passed": passed,
            "checks": checks,
            "summary": "one\0two",
            "created_at": datetime(2026, 1, 2, 3, 4, 5, 678, elsewhere),
        }
        for number, (passed, checks) in enumerate([(True, [{"ä": None}]), (None, []), (False, [1.5, "x"])])
    ]
    read = select(evidence).order_by(evidence.c.attempt)
    async with database.writing() as connection:
        assert await connection.execute(Prepared(insert(evidence)), given[2:]) == []
        put = insert(evidence).returning(evidence.c.passed)
        assert await connection.execute(Prepared(put), given[0]) == [{"passed": True}]
        assert await connection.execute(put, given[1]) == [{"passed": None}]
    async with database.reading() as connection:
        prepared = await connection.execute(Prepared(read))
        assert prepared == await connection.execute(read)
        stored = await connection.execute(text("SELECT created_at, summary FROM evidence"))
    assert len({(row["created_at"], row["summary"]) for row in stored}) == 1
    for before, after in zip(given, prepared, strict=True):
        expected = before | {"summary": "onetwo"}
        assert {name: after[name] for name in expected} == expected


async def test_a_prepared_statement_says_how_many_rows_it_changed(database: Database) -> None:
    rename = Prepared(
        update(event_counters)
        .where(event_counters.c.agent_work_order_id.in_([literal("wo-1"), literal("wo-3")]))
        .where(event_counters.c.last_sequence == bindparam("number"))
        .values(holder=bindparam("new"))
    )
    counters = [{"agent_work_order_id": f"wo-{n}", "last_sequence": n % 2, "holder": None} for n in range(5)]
    async with database.writing() as connection:
        await connection.execute(Prepared(insert(event_counters)), counters)
        assert (await connection.execute(rename, {"number": 1, "new": "x"})).rowcount == 2
        assert (await connection.execute(rename, {"number": 7, "new": "x"})).rowcount == 0
        held = select(event_counters.c.agent_work_order_id).where(event_counters.c.holder == "x")
        assert (await connection.execute(held)).scalars() == ["wo-1", "wo-3"]


async def test_a_parameter_without_a_value_is_refused(database: Database) -> None:
    one = Prepared(select(event_counters).where(event_counters.c.agent_work_order_id == bindparam("wanted")))
    with pytest.raises(SQLAlchemyError, match="wanted"):
        async with database.reading() as connection:
            await connection.execute(one)


def test_every_column_has_a_type_that_prepared_statements_store_and_read() -> None:
    types = {type(column.type) for table in metadata.tables.values() for column in table.c}
    native = {String, Integer, Float, PlainText, LargeBinary}
    assert types <= native | {UtcDateTime, JSON, Boolean}


_INSERT = Prepared(insert(event_counters))
_SELECT = Prepared(select(event_counters))


async def test_a_statement_that_fails_half_way_leaves_nothing_to_the_next_writer(database: Database) -> None:
    counter = {"agent_work_order_id": "wo-1", "last_sequence": 1, "holder": None}

    async def write_twice() -> None:
        async with database.writing() as connection:
            await connection.execute(_INSERT, counter)
            await connection.execute(_INSERT, counter)

    with pytest.raises(IntegrityError):
        await write_twice()
    async with database.writing() as connection:
        await connection.execute(_INSERT, counter)
    async with database.reading() as connection:
        assert len(await connection.execute(_SELECT)) == 1


async def test_many_read_at_once_while_one_writes(database: Database) -> None:
    async with AsyncExitStack() as readers:
        open_ones = [await readers.enter_async_context(database.reading()) for _ in range(12)]
        async with database.writing() as connection:
            counter = {"agent_work_order_id": "wo-1", "last_sequence": 1, "holder": None}
            await connection.execute(_INSERT, counter)
            assert [await each.execute(_SELECT) for each in open_ones] == [[]] * 12
        assert [len(await each.execute(_SELECT)) for each in open_ones] == [1] * 12


async def test_sqlite_is_in_wal_mode(home: Path) -> None:
    database = Database(async_url("", home))
    async with database.reading() as connection:
        assert (await connection.execute(text("PRAGMA journal_mode"))).scalar() == "wal"
    await database.close()


async def test_whoever_listens_is_woken_by_a_commit_elsewhere(postgres_url: str, home: Path) -> None:
    here, there = Database(async_url(postgres_url, home)), Database(async_url(postgres_url, home))
    wake_ups = here.listen()
    await anext(wake_ups)
    woken = asyncio.ensure_future(anext(wake_ups))
    async with there.writing() as connection:
        await there.notify(connection)
        await there.answers()
        assert not woken.done()
    async with asyncio.timeout(10):
        await woken
    await wake_ups.aclose()
    await there.close()
    await here.close()


async def test_listening_says_that_its_connection_was_lost(postgres_url: str, home: Path) -> None:
    here, there = Database(async_url(postgres_url, home)), Database(async_url(postgres_url, home))
    wake_ups = here.listen()
    await anext(wake_ups)
    lost = asyncio.ensure_future(anext(wake_ups))
    async with there.writing() as connection:
        await connection.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        )
    with pytest.raises(StoreUnavailable):
        async with asyncio.timeout(10):
            await lost
    await there.close()
    await here.close()


async def test_who_does_nothing_inside_a_transaction_loses_its_locks_before_the_lease(
    postgres_url: str, home: Path
) -> None:
    """As a worker that is frozen there would."""
    lock = text("SELECT pg_advisory_xact_lock(1)")
    frozen = Database(async_url(postgres_url, home), lease_seconds=0.6)
    other = Database(async_url(postgres_url, home))

    async def write_after_a_freeze() -> None:
        async with frozen.writing() as connection:
            await connection.execute(lock)
            async with asyncio.timeout(10), other.writing() as waiting:
                await waiting.execute(lock)
            await connection.execute(lock)

    with pytest.raises(StoreUnavailable):
        await write_after_a_freeze()
    await other.close()
    await frozen.close()
