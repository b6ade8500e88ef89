"""The tables' history and what the two stores share."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, insert, select, text
from sqlalchemy.exc import IntegrityError

import journeyman.access.tables
import journeyman.events.tables
import journeyman.forges.tables
import journeyman.gateway.tables
import journeyman.work_orders.tables  # noqa: F401
from journeyman.database import Database, carry_out, metadata
from journeyman.database import database_url as async_url
from journeyman.errors import StoreUnavailable
from journeyman.events.tables import event_counters
from journeyman.migrations.upgrade import migrate, newest_version
from journeyman.work_orders.tables import evidence


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


async def test_what_is_carried_out_is_stored_and_read_as_sqlalchemy_does_it(database: Database) -> None:
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
        assert await carry_out(connection, insert(evidence), given[1:]) == ()
        put = insert(evidence).returning(evidence.c.passed)
        assert await carry_out(connection, put, given[0]) == [{"passed": True}]
    async with database.reading() as connection:
        quick = await carry_out(connection, read, {})
        usual = (await connection.execute(read)).mappings().all()
    assert [dict(row) for row in quick] == [dict(row) for row in usual]
    for before, after in zip(given, quick, strict=True):
        expected = before | {"summary": "onetwo"}
        assert {name: after[name] for name in expected} == expected


async def test_a_statement_that_fails_half_way_leaves_nothing_to_the_next_writer(database: Database) -> None:
    counter = {"agent_work_order_id": "wo-1", "last_sequence": 1, "holder": None}

    async def write_twice() -> None:
        async with database.writing() as connection:
            await carry_out(connection, insert(event_counters), counter)
            await carry_out(connection, insert(event_counters), counter)

    with pytest.raises((sqlite3.IntegrityError, IntegrityError)):
        await write_twice()
    async with database.writing() as connection:
        await carry_out(connection, insert(event_counters), counter)
    async with database.reading() as connection:
        assert len(await carry_out(connection, select(event_counters), {})) == 1


async def test_many_read_at_once_while_one_writes(database: Database) -> None:
    async with AsyncExitStack() as readers:
        open_ones = [await readers.enter_async_context(database.reading()) for _ in range(12)]
        async with database.writing() as connection:
            counter = {"agent_work_order_id": "wo-1", "last_sequence": 1, "holder": None}
            await carry_out(connection, insert(event_counters), counter)
            assert [await carry_out(each, select(event_counters), {}) for each in open_ones] == [[]] * 12
        assert [len(await carry_out(each, select(event_counters), {})) for each in open_ones] == [1] * 12


async def test_sqlite_is_in_wal_mode(home: Path) -> None:
    database = Database(async_url("", home))
    async with database.reading() as connection:
        assert (await connection.execute(text("PRAGMA journal_mode"))).scalar_one() == "wal"
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
