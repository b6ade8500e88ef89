"""Which failures of a driver mean that the database is away for now, and which that it is damaged."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from journeyman.errors import StoreDamaged, StoreUnavailable

_RETRY_AFTER_SECONDS = 5.0
_TEMPORARY = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_OUTAGES = (OperationalError, InterfaceError, PoolTimeout, sqlite3.OperationalError)


@contextmanager
def outages_translated() -> Iterator[None]:
    """Raise StoreUnavailable or StoreDamaged in the place of the driver's errors that mean it."""
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
        if not (is_lost or isinstance(error, _OUTAGES)) or (code is not None and code not in _TEMPORARY):
            raise
        raise StoreUnavailable(
            f"the database takes nothing just now: {str(cause or error).strip()[:300]}",
            hint="It is tried again by itself. Look at the database's server, at the disk's free space, and "
            "for another program that has locked the database.",
            retry_after=_RETRY_AFTER_SECONDS,
        ) from error
