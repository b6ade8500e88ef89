"""Tests of each repository that failed and passed on the same commit, counted over all its orders."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select, update

from journeyman.database import upserting
from journeyman.errors import NotFound
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import flaky_tests as table


@dataclass(frozen=True, kw_only=True)
class FlakyTest:
    repository_id: str
    test_digest: str
    """Names the test in an address: an id may have any length and any character."""
    test_id: str
    times_seen: int
    is_trusted: bool
    """Whether a person said that it counts when it fails."""
    last_seen_at: datetime


class FlakyTests:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def of_repository(self, repository_id: str) -> list[FlakyTest]:
        """Those seen most often first."""
        query = (
            select(table)
            .where(table.c.repository_id == repository_id)
            .order_by(table.c.times_seen.desc(), table.c.last_seen_at.desc())
        )
        async with self._transactions.reading() as connection:
            return [FlakyTest(**row) for row in await connection.execute(query)]

    async def count(self, repository_id: str, tests: Iterable[str]) -> None:
        """Count each of the tests once more."""
        now = datetime.now(UTC)
        async with self._transactions.writing() as writing:
            insert = upserting(writing.connection.dialect)(table)
            seen = insert.on_conflict_do_update(
                index_elements=["repository_id", "test_digest"],
                set_={"times_seen": table.c.times_seen + 1, "last_seen_at": insert.excluded.last_seen_at},
            )
            for test in tests:
                row = {
                    "repository_id": repository_id,
                    "test_digest": hashlib.sha256(test.encode()).hexdigest(),
                    "test_id": test,
                    "times_seen": 1,
                    "is_trusted": False,
                    "last_seen_at": now,
                }
                await writing.execute(seen, row)

    async def trust(self, repository_id: str, test_digest: str, is_trusted: bool) -> FlakyTest:
        """Let a test count when it fails, or no longer."""
        change = (
            update(table)
            .where(table.c.repository_id == repository_id, table.c.test_digest == test_digest)
            .values(is_trusted=is_trusted)
            .returning(*table.c)
        )
        async with self._transactions.writing() as writing:
            row = (await writing.execute(change)).first()
        if row is None:
            raise NotFound(
                "there is no such flaky test", hint="Look at the repository's page for those known."
            )
        return FlakyTest(**row)
