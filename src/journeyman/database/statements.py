"""Statements, and the rows that running one returns: the same on either store.

A statement that is built once and run for every event, model call or step is wrapped in `Prepared` where it
is written. The caller sees no difference: `Transaction.execute` takes both kinds.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import CursorResult, Executable, Select, UpdateBase

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The values of a statement's parameters: once, or for each time that it is to be run."""
Row = dict[str, Any]
"""A row by the names of its columns."""


class Rows(list[Row]):
    """All rows that a statement returned. `rowcount` says how many an UPDATE or DELETE changed."""

    def __init__(self, rows: Iterable[Row] = (), rowcount: int = 0) -> None:
        super().__init__(rows)
        self.rowcount = rowcount

    @classmethod
    def of(cls, result: CursorResult[Any]) -> "Rows":
        rows = [row._asdict() for row in result] if result.returns_rows else []
        return cls(rows, result.rowcount)

    def first(self) -> Row | None:
        return self[0] if self else None

    def scalars(self) -> list[Any]:
        """The first column."""
        return [next(iter(row.values())) for row in self]

    def scalar(self) -> Any:
        """The first column of the first row; None where there is no row."""
        return next(iter(self[0].values())) if self else None


class Prepared:
    """A statement that is built once and run often.

    On SQLite it is compiled to SQL text the first time and then goes straight to the driver: SQLAlchemy's
    way there takes several times as long as the statement itself. On PostgreSQL the network takes longer
    than either, and it is run as any other statement. The values of an IN are written out with `literal`,
    because a list would be expanded each time anew.
    """

    def __init__(self, statement: Select[Any] | UpdateBase) -> None:
        self.statement = statement


class Transaction(Protocol):
    """What readers and writers are given, whichever store is behind it."""

    @property
    def dialect(self) -> str: ...

    async def execute(self, statement: Executable | Prepared, values: Values | None = None) -> Rows:
        """Run a statement with values for its parameters: once, or for each of several."""
        ...

    async def run_sync(self, act: Any, /, *arguments: Any) -> Any:
        """Call a function with SQLAlchemy's synchronous connection of this transaction."""
        ...


def upserting(dialect: str) -> Any:
    """The dialect's `insert`, which can say what happens to a row that is there already.

    Each dialect is imported where it is used: a server on SQLite needs no memory for PostgreSQL's.
    """
    return importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert
