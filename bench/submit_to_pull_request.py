"""From submission to the pull request, the agent being instant: what the platform itself adds.

A plain script does the same steps beside it: fetch, `worktree add`, edit, commit, push. One order and ten at
once, on a small and a django-size repository; the mirror is warm. Nothing is promised here.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bench.customers import Customer, customer
from bench.floor import Floor
from bench.measuring import Row, Table, asked_to_be_quick, large_repository, median_ms, small_repository
from tests.journeys.product import Product
from tests.journeys.repositories import calls, says


def main() -> int:
    repetitions = 1 if asked_to_be_quick(__doc__ or "") else 3
    table = Table("From submission to the pull request, with an instant agent")
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "home").mkdir()
        with Product(place / "home") as product:
            write = calls("write_file", path="notes.txt", content="done\n")
            instant = product.script("instant", {"replies": [write, says("Done.")]})
            for size, make in (("small", small_repository), ("django-size", large_repository)):
                repository = make(place / size)
                floor = Floor(repository, place / f"{size}-floor")
                for row in asyncio.run(_measure(product.url, repository, instant, floor, repetitions)):
                    table.add(Row(f"{size}, {row.what}", row.ours, row.other, row.other_name))
    return table.finish()


async def _measure(url: str, repository: Path, instant: str, floor: Floor, repetitions: int) -> list[Row]:
    rows = []
    async with customer(url) as someone:
        await _order(someone, repository, instant)  # makes the mirror
        for count in (1, 10):
            ours: list[float] = []
            theirs: list[float] = []
            for _ in range(repetitions):
                began = time.monotonic()
                orders = await asyncio.gather(*(_order(someone, repository, instant) for _ in range(count)))
                ours.append(max(at for _, at in orders) - began)
                await asyncio.gather(*(someone.finish(order_id) for order_id, _ in orders))
                began = time.monotonic()
                await asyncio.gather(*(floor.submit() for _ in range(count)))
                theirs.append(time.monotonic() - began)
            rows.append(Row(f"{count} at once", median_ms(ours), median_ms(theirs), "plain script"))
    return rows


async def _order(someone: Customer, repository: Path, model: str) -> tuple[str, float]:
    """An order, and when its pull request was there."""
    order_id = await someone.submit(repository, model)
    await someone.until(order_id, "github_pull_request_created")
    return order_id, time.monotonic()


if __name__ == "__main__":
    sys.exit(main())
