"""PostgreSQL behind an asynchronous engine, shared by API and workers of several machines."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Executable, text
from sqlalchemy.engine import URL, make_url

from journeyman.database.statements import Prepared, Rows, Values
from journeyman.errors import Conflict, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_LOCK_ATTEMPTS = 30
_LOCK_PAUSE_SECONDS = 0.1
_WORKER_LOCK = 870_002
"""Any number will do, as long as nothing else in the database takes the same one."""
_CHANNEL = "journeyman_work"
NOTIFY = text(f"SELECT pg_notify('{_CHANNEL}', '')")


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


class PostgreSQL:
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
    async def reading(self) -> AsyncIterator["_Transaction"]:
        async with self._engine.connect() as connection:
            yield _Transaction(connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["_Transaction"]:
        async with self._engine.begin() as connection:
            yield _Transaction(connection)

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
        """PostgreSQL does this itself."""

    async def close(self) -> None:
        await self._engine.dispose()


class _Transaction:
    dialect = "postgresql"

    def __init__(self, connection: "AsyncConnection") -> None:
        self._connection = connection

    async def execute(self, statement: Executable | Prepared, values: Values | None = None) -> Rows:
        plain = statement.statement if isinstance(statement, Prepared) else statement
        return Rows.of(await self._connection.execute(plain, values))

    async def run_sync(self, act: Callable[..., Any], /, *arguments: Any) -> Any:
        return await self._connection.run_sync(act, *arguments)
