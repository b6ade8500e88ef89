"""The one store: SQLAlchemy on SQLite (WAL) or PostgreSQL, with the same code above it.

On SQLite statements run on the event loop itself. A transaction of ours takes a fifth of a millisecond
there, less than handing it to a thread would; what can take long, bringing the log back into the database
file, happens in a thread of its own. On PostgreSQL everything waits on the network asynchronously.
"""

import asyncio
import importlib
import sqlite3
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import (
    Connection,
    CursorResult,
    DateTime,
    Engine,
    Executable,
    MetaData,
    Select,
    Text,
    UpdateBase,
    create_engine,
    event,
    text,
)
from sqlalchemy.engine import URL, Dialect, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeDecorator

from journeyman.errors import Conflict, InvalidSetting, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every table of every room; each room's `tables.py` adds its own."""

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""What a statement is run with, once or for each."""

_BUSY_TIMEOUT_MS = 30_000
_BUSY_ON_THE_LOOP_MS = 100
"""SQLite waits for a lock by blocking; on the event loop that stops everything else."""
_TURN_SECONDS = 3.0
"""How long a writer waits for a lock that somebody else's process has on the database."""
_AWAY_SECONDS = 5.0
"""When a client may ask again that found no database."""
_PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_OUTAGES = (OperationalError, InterfaceError, PoolTimeout, sqlite3.OperationalError)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_KEPT_READERS = 10
_ANSWER_SECONDS = 3.0
_CHECKPOINT_EVERY_SECONDS = 5.0
_LOCK_ATTEMPTS = 30
_LOCK_PAUSE_SECONDS = 0.1
_CHANNEL = "journeyman_work"
_NOTIFY = text(f"SELECT pg_notify('{_CHANNEL}', '')")
_WORKER_LOCK = 870_002
"""Any number will do, as long as nothing else in the database takes the same one."""


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in and out, on SQLite too, which stores none of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class PlainText(TypeDecorator[str]):
    """Text without NUL characters, which PostgreSQL cannot keep and no reader misses."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else value.replace("\0", "")


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


def upserting(dialect: str) -> Any:
    """The dialect's `insert`, which can say what happens to a row that is there already.

    Each dialect is imported where it is used: a server on SQLite needs no memory for PostgreSQL's.
    """
    return importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert


class Transaction(Protocol):
    """What readers and writers are given, whichever store is behind it."""

    @property
    def dialect(self) -> Dialect: ...

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]: ...

    async def run_sync(self, act: Callable[..., Any], /, *arguments: Any) -> Any: ...


class Database:
    """Transactions for readers and writers, each of which sees all of a change or nothing."""

    def __init__(self, url: str, *, lease_seconds: float = 30.0) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self._store: _SQLite | _PostgreSQL = (
            _SQLite(url) if self.is_sqlite else _PostgreSQL(url, lease_seconds)
        )

    @property
    def dialect(self) -> str:
        return "sqlite" if self.is_sqlite else "postgresql"

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        with _outages_told():
            async with self._store.reading() as transaction:
                yield transaction

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Transaction]:
        """One transaction: everything inside happens, or nothing."""
        with _outages_told():
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
            await transaction.execute(_NOTIFY)

    async def listen(self) -> AsyncGenerator[None]:
        """One item for each wake-up of another process; the first comes when it listens.

        Raises StoreUnavailable when the connection is lost: what happened meanwhile was missed.
        """
        with _outages_told():
            async for _ in self._store.listen():
                yield

    async def keep_tidy(self) -> None:
        """Does, for as long as it runs, what the store must do from time to time."""
        while self.is_sqlite:
            await asyncio.sleep(_CHECKPOINT_EVERY_SECONDS)
            try:
                await asyncio.to_thread(self._store.checkpoint)
            except OperationalError:
                continue  # a full disk, which the next writer tells; the log waits until there is room

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


class _SQLite:
    """Connections stay open from one user to the next: a pool would cost as much as a statement."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url)
        self._own_turn = asyncio.Lock()
        self._writer: Connection | None = None
        self._readers: list[Connection] = []
        event.listen(self._engine, "connect", _prepare_sqlite)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator["_Inline"]:
        connection = self._readers.pop() if self._readers else self._engine.connect()
        try:
            yield _Inline(connection)
        except BaseException:
            connection.close()
            raise
        if len(self._readers) < _KEPT_READERS:
            self._readers.append(connection)
        else:
            connection.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["_Inline"]:
        # SQLite has one writer at a time. Writers queue here instead of in its busy loop, which would wake
        # them in no order after pauses of up to seconds.
        async with self._own_turn:
            connection = self._writer or self._engine.connect()
            self._writer = None
            try:
                driver = _driver(connection)
                await _begin(driver)
                yield _Inline(connection)
                driver.execute("COMMIT")
            except BaseException:
                connection.close()  # which rolls back
                raise
            self._writer = connection

    @asynccontextmanager
    async def only_worker(self, worker_id: str) -> AsyncIterator[None]:
        yield  # the home has a lock of its own

    async def listen(self) -> AsyncIterator[None]:
        yield
        await asyncio.Event().wait()

    def checkpoint(self) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    async def close(self) -> None:
        for connection in filter(None, (self._writer, *self._readers)):
            connection.close()
        self._writer = None
        self._readers.clear()
        self._engine.dispose()


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


async def _begin(driver: sqlite3.Connection) -> None:
    """Take the writer's place, waiting a while for another process that has it."""
    give_up = time.monotonic() + _TURN_SECONDS
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
            await asyncio.sleep(_LOCK_PAUSE_SECONDS)
        else:
            return


@contextmanager
def _outages_told() -> Iterator[None]:
    """Turns the driver's word for a database that takes nothing just now into ours."""
    try:
        yield
    except (*_OUTAGES, DatabaseError, sqlite3.DatabaseError) as error:
        cause = getattr(error, "orig", error)
        code = (cause.sqlite_errorcode or 0) & 0xFF if isinstance(cause, sqlite3.Error) else None
        if code in _DAMAGED:
            raise StoreDamaged(
                f"the database is damaged: {cause}",
                hint="Stop the server and run `jm doctor`: it says which file, and what to do.",
            ) from error
        is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
        if not (is_lost or isinstance(error, _OUTAGES)) or (code is not None and code not in _PASSING):
            raise
        raise StoreUnavailable(
            f"the database takes nothing just now: {str(cause or error).strip()[:300]}",
            hint="It is tried again by itself. Look at the database's server, at the disk's free space, and "
            "for another program that has locked the database.",
            retry_after=_AWAY_SECONDS,
        ) from error


async def carry_out(
    connection: Transaction, statement: UpdateBase | Select[Any], values: Values
) -> Sequence[Mapping[str, Any]]:
    """The rows of a statement that is built once and run for every event, call of a model or step.

    On SQLite it goes straight to the driver, because SQLAlchemy's way there takes several times as long as
    the statement itself.
    """
    if isinstance(connection, _Inline):
        return connection.carry_out(statement, values)
    result = await connection.execute(statement, values)
    return [row._asdict() for row in result] if result.returns_rows else ()


class _Inline:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver = _driver(connection)

    @property
    def dialect(self) -> Dialect:
        return self._connection.dialect

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        return self._connection.execute(statement, parameters)

    async def run_sync(self, act: Callable[..., Any], /, *arguments: Any) -> Any:
        return act(self._connection, *arguments)

    def carry_out(self, statement: UpdateBase | Select[Any], values: Values) -> Sequence[Mapping[str, Any]]:
        driver, dialect = self._driver, self._connection.dialect
        if isinstance(values, Mapping):
            known = _Written.of(statement, tuple(values), dialect)
            return [known.read(row) for row in driver.execute(known.text, known.in_order(values))]
        known = _Written.of(statement, tuple(values[0]), dialect)
        driver.executemany(known.text, map(known.in_order, values))
        return ()


@dataclass(frozen=True)
class _Written:
    """A statement as SQLite's driver wants it: what SQLAlchemy would find out each time, found out once."""

    text: str
    parameters: Sequence[tuple[str, Any, Callable[[Any], Any] | None]]
    """In their order: the name, the value where none is given, and what makes of it what SQLite stores."""
    columns: Sequence[tuple[str, Callable[[Any], Any] | None]]
    """Of its rows: the name, and what makes of a value what was stored."""

    @staticmethod
    @cache
    def of(statement: UpdateBase | Select[Any], names: tuple[str, ...], dialect: Dialect) -> "_Written":
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        assert isinstance(compiled, SQLCompiler)
        own, binds = compiled.params, compiled.binds
        return _Written(
            str(compiled),
            [
                (name, own[name], binds[name].type.dialect_impl(dialect).bind_processor(dialect))
                for name in compiled.positiontup or ()
            ],
            [
                (str(column.key), column.type.dialect_impl(dialect).result_processor(dialect, None))
                for column in statement.exported_columns
            ],
        )

    def in_order(self, values: Mapping[str, Any]) -> list[Any]:
        return [
            values.get(name, own) if write is None else write(values.get(name, own))
            for name, own, write in self.parameters
        ]

    def read(self, row: Sequence[Any]) -> dict[str, Any]:
        return {
            name: value if read is None else read(value)
            for (name, read), value in zip(self.columns, row, strict=True)
        }


def idle_transaction_seconds(lease_seconds: float) -> float:
    """How long PostgreSQL lets a session of ours do nothing inside a transaction.

    A worker that is frozen or cut off there holds locks that others wait for; they go on before it counts as
    dead.
    """
    return lease_seconds * 2 / 3


def _connect_arguments(url: URL, lease_seconds: float) -> dict[str, Any]:
    """Let each side notice within a lease that the other is gone."""
    noticed = int(idle_transaction_seconds(lease_seconds) * 1000)
    probe = max(1, int(lease_seconds / 6))
    server = {
        "idle_in_transaction_session_timeout": noticed,
        "tcp_user_timeout": noticed,
        "tcp_keepalives_idle": probe,
        "tcp_keepalives_interval": probe,
        "tcp_keepalives_count": 2,
    }
    own = url.query.get("options", "")
    options = [own if isinstance(own, str) else " ".join(own)]
    return {
        "options": " ".join([*options, *(f"-c {name}={value}" for name, value in server.items())]).strip(),
        "tcp_user_timeout": noticed,
        "keepalives_idle": probe,
        "keepalives_interval": probe,
        "keepalives_count": 2,
    }


class _PostgreSQL:
    def __init__(self, url: str, lease_seconds: float) -> None:
        from sqlalchemy.ext.asyncio import create_async_engine

        self._engine: AsyncEngine = create_async_engine(
            url,
            pool_size=10,
            max_overflow=20,
            pool_pre_ping=True,
            connect_args=_connect_arguments(make_url(url), lease_seconds),
        )

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        async with self._engine.connect() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Transaction]:
        async with self._engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def only_worker(self, worker_id: str) -> AsyncIterator[None]:
        async with self._engine.connect() as plain:
            connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
            locking = text("SELECT pg_try_advisory_lock(:kind, hashtext(:name))").bindparams(
                kind=_WORKER_LOCK, name=worker_id
            )
            # The lock of a server that was killed is held until PostgreSQL has noticed.
            for _ in range(_LOCK_ATTEMPTS):
                if (await connection.execute(locking)).scalar():
                    yield
                    return
                await asyncio.sleep(_LOCK_PAUSE_SECONDS)
            raise Conflict(
                f"another process works as {worker_id} on this PostgreSQL database",
                hint="Give each machine a home of its own; in a copied one delete the file worker-id.",
            )

    async def listen(self) -> AsyncIterator[None]:
        async with self._engine.connect() as plain:
            connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text(f"LISTEN {_CHANNEL}"))
            driver = (await connection.get_raw_connection()).driver_connection
            assert driver is not None
            try:
                yield
                async for _ in driver.notifies():
                    yield
            except self._engine.dialect.loaded_dbapi.Error as error:
                raise StoreUnavailable(
                    f"the connection that listens for work was lost: {error}",
                    hint="It is opened again by itself.",
                ) from error
            finally:
                await connection.invalidate()

    def checkpoint(self) -> None:
        """PostgreSQL sees to this itself."""

    async def close(self) -> None:
        await self._engine.dispose()


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
        _set_pragmas(connection)

    return own, engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # Transactions are opened by us (BEGIN IMMEDIATE), not by the driver at the first write: a reader that
    # turns into a writer half-way fails at once instead of waiting for its turn.
    connection.isolation_level = None
    _set_pragmas(connection, busy_ms=_BUSY_ON_THE_LOOP_MS)
    connection.execute("PRAGMA wal_autocheckpoint=0")  # see `keep_tidy`


def _set_pragmas(connection: Any, busy_ms: int = _BUSY_TIMEOUT_MS) -> None:
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        f"busy_timeout={busy_ms}",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
