"""Results of checks on base commits, kept for all orders that start from the same files."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from sqlalchemy import delete, func, select

from journeyman.database import upserting
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import baselines as table


class Baselines:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def find(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        """Those results that are there, by key."""
        query = select(table.c.key, table.c.result).where(table.c.key.in_(list(keys)))
        async with self._transactions.reading() as connection:
            return {row["key"]: row["result"] for row in await connection.execute(query)}

    async def save(self, key: str, repository_url: str, result: bytes) -> None:
        """Keep a result. Of two workers that measured the same, the later one's stays."""
        row = {
            "key": key,
            "repository_url": repository_url,
            "result": result,
            "created_at": datetime.now(UTC),
        }
        async with self._transactions.writing() as writing:
            insert = upserting(writing.connection.dialect)(table)
            await writing.execute(
                insert.on_conflict_do_update(
                    index_elements=["key"],
                    set_={"result": insert.excluded.result, "created_at": insert.excluded.created_at},
                ),
                row,
            )

    async def count_before(self, before: datetime) -> int:
        query = select(func.count()).select_from(table).where(table.c.created_at < before)
        async with self._transactions.reading() as connection:
            found: int = (await connection.execute(query)).scalar()
        return found

    async def forget_before(self, before: datetime) -> None:
        """Remove results that were measured earlier: they are measured again when they are needed."""
        async with self._transactions.writing() as writing:
            await writing.execute(delete(table).where(table.c.created_at < before))
