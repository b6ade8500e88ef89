"""Bring a database to the tables that this version knows, or say why it cannot be.

A database that does not answer is retried for a while: it is often started at the same moment.
"""

import time
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError, OperationalError

from journeyman.errors import Conflict, StoreUnavailable

_VERSIONS = Path(__file__).parent / "versions"
_LOCK = 870_001
"""Any number will do, as long as nothing else in the database takes the same one."""
_WAIT_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.5
_CONNECT_SECONDS = 5


def upgrade_tables(url: str, *, wait_seconds: float = _WAIT_SECONDS) -> None:
    """Bring the tables up to date; several processes may try at once, and one does it."""
    is_sqlite = url.startswith("sqlite")
    engine = create_engine(url, connect_args={} if is_sqlite else {"connect_timeout": _CONNECT_SECONDS})
    give_up = time.monotonic() + wait_seconds
    try:
        while True:
            try:
                return _migrate(engine)
            except DBAPIError as error:
                if not _may_pass(error) or time.monotonic() > give_up:
                    raise _refused(error, is_sqlite) from None
                time.sleep(_LOOK_AGAIN_SECONDS)
    finally:
        engine.dispose()


def _may_pass(error: DBAPIError) -> bool:
    """A server that says FATAL is there, and refuses for a reason; unless it is only starting."""
    said = str(error.orig)
    return isinstance(error, OperationalError) and ("FATAL" not in said or "starting up" in said)


def _refused(error: DBAPIError, is_sqlite: bool) -> StoreUnavailable:
    said = " ".join(str(error.orig).split())[:300]
    if is_sqlite:
        return StoreUnavailable(
            f"the database in the home cannot be opened: {said}",
            hint="Look for another program that has it locked, and at the disk's free space.",
        )
    return StoreUnavailable(
        f"PostgreSQL cannot be used: {said}",
        hint="Start its server, or correct DATABASE_URL; `jm doctor` says whether it can be reached.",
    )


def _migrate(engine: Engine) -> None:
    with engine.begin() as connection:
        version = version_of(connection)
        if version == newest_version():
            return
        if version is not None and version not in _known_versions():
            raise Conflict(
                f"the database is of a newer Journeyman: its tables have version {version}, "
                f"and this one knows {newest_version()} at most",
                hint="Install that version again, or put a backup from before its upgrade in place.",
            )
        # A quarter of a server's start, and seldom needed.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(_VERSIONS.parent))
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def newest_version() -> str:
    return max(_known_versions())


def _known_versions() -> set[str]:
    """Each version's file begins with its number."""
    return {path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*.py")}


def version_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return version
