"""The one store: SQLAlchemy on SQLite (WAL) or PostgreSQL, with the same code above it.

Every statement is run by `Transaction.execute`. On SQLite it runs on the event loop itself (`sqlite.py`); on
PostgreSQL it waits on the network asynchronously (`postgresql.py`).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from journeyman.database.columns import PlainText, UtcDateTime, metadata
from journeyman.database.outages import outages_translated
from journeyman.database.postgresql import NOTIFY, PostgreSQL, idle_transaction_seconds
from journeyman.database.sqlite import SQLite, set_pragmas
from journeyman.database.statements import Prepared, Row, Rows, Transaction, Values, upserting
from journeyman.errors import InvalidSetting, StoreDamaged, StoreUnavailable

__all__ = [
    "Database",
    "PlainText",
    "Prepared",
    "Row",
    "Rows",
    "Transaction",
    "UtcDateTime",
    "Values",
    "database_url",
    "engine_database",
    "idle_transaction_seconds",
    "metadata",
    "upserting",
]

_ANSWER_SECONDS = 3.0
_CHECKPOINT_EVERY_SECONDS = 5.0


def database_url(url: str, home: Path) -> str:
    """The SQLAlchemy URL of a setting's value; an empty one is SQLite in the home."""
    if not url:
        return f"sqlite:///{home / 'journeyman.db'}"
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    raise InvalidSetting(
        f"DATABASE_URL names a {backend} database, which is not supported",
        hint="Use postgresql://…, or leave it empty for SQLite in the home.",
    )


class Database:
    """Transactions for readers and writers, each of which sees all of a change or nothing."""

    def __init__(self, url: str, *, lease_seconds: float = 30.0) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self._store: SQLite | PostgreSQL = SQLite(url) if self.is_sqlite else PostgreSQL(url, lease_seconds)

    @property
    def dialect(self) -> str:
        return "sqlite" if self.is_sqlite else "postgresql"

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        with outages_translated():
            async with self._store.reading() as transaction:
                yield transaction

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Transaction]:
        """One transaction: everything inside happens, or nothing."""
        with outages_translated():
            async with self._store.writing() as transaction:
                yield transaction

    @asynccontextmanager
    async def only_worker(self, worker_id: str) -> AsyncIterator[None]:
        """Keeps a second worker of the same name away for as long as it is open."""
        async with self._store.only_worker(worker_id):
            yield

    async def notify(self, transaction: Transaction) -> None:
        """Wake every process that listens, as soon as the transaction is committed.

        On SQLite there is no other process.
        """
        if not self.is_sqlite:
            await transaction.execute(NOTIFY)

    async def listen(self) -> AsyncGenerator[None]:
        """One item for each wake-up of another process; the first comes when it listens.

        Raises StoreUnavailable when the connection is lost: what happened meanwhile was missed.
        """
        with outages_translated():
            async for _ in self._store.listen():
                yield

    async def keep_tidy(self) -> None:
        """Does, for as long as it runs, what the store must do from time to time."""
        while self.is_sqlite:
            await asyncio.sleep(_CHECKPOINT_EVERY_SECONDS)
            try:
                await asyncio.to_thread(self._store.checkpoint)
            except OperationalError:
                continue  # a full disk, which the next writer reports; the log waits until there is room

    async def answers(self) -> bool:
        """Whether the database can be reached just now."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self.reading() as connection:
                await connection.execute(text("SELECT 1"))
        except (TimeoutError, StoreUnavailable, StoreDamaged, DBAPIError):
            return False
        return True

    async def close(self) -> None:
        await self._store.close()


def engine_database(url: str, home: Path) -> tuple[str, Engine | None]:
    """Where the durable engine keeps its own rows: beside ours on PostgreSQL, a file of its own on SQLite.

    A file of its own because SQLite has one writer per file: checkpoints would queue behind events.
    """
    if not url.startswith("sqlite"):
        return url, None
    own = f"sqlite:///{home / 'engine.db'}"
    engine = create_engine(own)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        set_pragmas(connection)

    return own, engine
