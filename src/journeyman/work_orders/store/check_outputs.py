"""What checks printed, in full, and the results of single tests: too much for the rows of evidence."""

import asyncio
import json
import zlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, select

from journeyman.work_orders.order import CheckOutput, Evidence
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import check_outputs as table


class CheckOutputs:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def save(self, evidence: Evidence, outputs: Sequence[CheckOutput]) -> None:
        """Keep the outputs of an attempt; those of the same attempt, from before a crash, are replaced."""
        rows = await asyncio.to_thread(lambda: [_row(evidence, one) for one in outputs])
        async with self._transactions.writing() as writing:
            await writing.execute(delete(table).where(_is(evidence)))
            if rows:
                await writing.execute(insert(table), rows)
            await writing.append(evidence.agent_work_order_id)  # only while this worker holds the order

    async def find(self, evidence: Evidence, check_name: str) -> CheckOutput | None:
        query = select(table).where(_is(evidence), table.c.check_name == check_name)
        async with self._transactions.reading() as connection:
            found = (await connection.execute(query)).first()
        return None if found is None else await asyncio.to_thread(_output_of, found)


def _is(evidence: Evidence) -> ColumnElement[bool]:
    return and_(
        table.c.agent_work_order_id == evidence.agent_work_order_id,
        table.c.round == evidence.round,
        table.c.step == evidence.step,
        table.c.attempt == evidence.attempt,
    )


def _row(evidence: Evidence, kept: CheckOutput) -> dict[str, Any]:
    results = None if kept.results is None else zlib.compress(json.dumps(kept.results).encode())
    return {
        "agent_work_order_id": evidence.agent_work_order_id,
        "round": evidence.round,
        "step": evidence.step,
        "attempt": evidence.attempt,
        "check_name": kept.check_name,
        "output": zlib.compress(kept.output),
        "truncated": kept.truncated,
        "results": results,
    }


def _output_of(row: dict[str, Any]) -> CheckOutput:
    results = row["results"]
    return CheckOutput(
        check_name=row["check_name"],
        output=zlib.decompress(row["output"]),
        truncated=row["truncated"],
        results=None if results is None else json.loads(zlib.decompress(results)),
    )
