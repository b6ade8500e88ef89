"""Repositories that the server knows, one row for each address.

A row is inserted when an order or a person first names the repository; two at once insert one row,
because the address is unique and the loser of the race reads the winner's.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, select, update

from journeyman.database import Prepared, Row, upserting
from journeyman.errors import NotFound
from journeyman.work_orders.repository_record import EnvironmentState, RepositoryRecord, new_repository_id
from journeyman.work_orders.store.transactions import Transactions, Writing
from journeyman.work_orders.tables import repositories as table

_ONE = Prepared(select(table).where(table.c.repository_id == bindparam("of_repository")))
_BY_URL = Prepared(select(table).where(table.c.repository_url == bindparam("of_url")))


class RepositoryRecords:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def get(self, repository_id: str) -> RepositoryRecord:
        async with self._transactions.reading() as connection:
            row = (await connection.execute(_ONE, {"of_repository": repository_id})).first()
        return _record(row)

    async def find(self, repository_url: str) -> RepositoryRecord | None:
        async with self._transactions.reading() as connection:
            row = (await connection.execute(_BY_URL, {"of_url": repository_url})).first()
        return RepositoryRecord(**row) if row else None

    async def page(
        self, *, limit: int, offset: int, repository_url: str | None = None
    ) -> tuple[list[RepositoryRecord], int]:
        """A page of them, those that were changed last first, and how many there are in all."""
        wanted = () if repository_url is None else (table.c.repository_url == repository_url,)
        query = select(table).where(*wanted).order_by(table.c.updated_at.desc(), table.c.repository_id)
        async with self._transactions.reading() as connection:
            total = (
                await connection.execute(select(func.count()).select_from(table).where(*wanted))
            ).scalar()
            rows = await connection.execute(query.limit(limit).offset(offset))
        return [RepositoryRecord(**row) for row in rows], total

    async def ensure(self, repository_url: str, **facts: Any) -> tuple[RepositoryRecord, bool]:
        """The repository's record, and whether this call made it. `facts` replace what was known."""
        async with self._transactions.writing() as writing:
            made = await insert_if_new(writing, repository_url)
            row = (await writing.execute(_BY_URL, {"of_url": repository_url})).first()
            if facts and row is not None:
                row = await _change(writing, row["repository_id"], **facts)
        return _record(row), made

    async def store_definition(
        self, repository_id: str, definition: str | None, *, state: EnvironmentState = "unknown"
    ) -> RepositoryRecord:
        """Keep a definition, or remove it.

        What was checked before says nothing about the environment now, unless this text was tried.
        """
        async with self._transactions.writing() as writing:
            return _record(
                await _change(writing, repository_id, definition=definition, environment_state=state)
            )

    async def begin_check(self, repository_id: str, order_id: str) -> RepositoryRecord:
        async with self._transactions.writing() as writing:
            return _record(
                await _change(writing, repository_id, environment_state="checking", check_order_id=order_id)
            )

    async def finish_check(
        self,
        repository_url: str,
        order_id: str,
        *,
        state: EnvironmentState,
        report: dict[str, Any],
        **facts: Any,
    ) -> bool:
        """Keep what a check found. False when another check was begun since, whose report is to come."""
        changes = {"environment_state": state, "report": report, "updated_at": datetime.now(UTC), **facts}
        async with self._transactions.writing() as writing:
            changed = await writing.execute(
                update(table)
                .where(table.c.repository_url == repository_url, table.c.check_order_id == order_id)
                .values(changes)
                .returning(table.c.repository_id)
            )
            await writing.append(order_id)  # the fence: only the worker that holds the order reports
        return bool(changed)


async def insert_if_new(writing: Writing, repository_url: str) -> bool:
    now = datetime.now(UTC)
    made = await writing.execute(
        _insert(writing.connection.dialect),
        {
            "repository_id": new_repository_id(),
            "repository_url": repository_url,
            "environment_state": "unknown",
            "created_at": now,
            "updated_at": now,
        },
    )
    return bool(made)


@cache
def _insert(dialect: str) -> Prepared:
    return Prepared(
        upserting(dialect)(table)
        .on_conflict_do_nothing(index_elements=["repository_url"])
        .returning(table.c.repository_id)
    )


async def _change(writing: Writing, repository_id: str, **changes: Any) -> Row | None:
    return (
        await writing.execute(
            update(table)
            .where(table.c.repository_id == repository_id)
            .values(updated_at=datetime.now(UTC), **changes)
            .returning(*table.c)
        )
    ).first()


def _record(row: Row | None) -> RepositoryRecord:
    if row is None:
        raise NotFound("there is no such repository", hint="The list of repositories shows those that exist.")
    return RepositoryRecord(**row)
