"""Many orders at once on SQLite: 100 of them, 10 shell calls each, on a model that takes 200 ms to answer.

The floor does the same git and jail operations with the same waits and nothing else, before and after. While
the orders run, one order is read again and again by somebody else, and the server's memory is looked at: its
growth is what the orders cost. The memory of the jails' own processes is told apart, with shared pages
divided among those who share them.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.customers import customer
from bench.floor import Floor
from bench.measuring import (
    MODEL,
    Row,
    Table,
    asked_to_be_quick,
    memory_mb,
    model,
    percentile_ms,
    program_of,
    small_repository,
    tree_of,
)
from bench.reading import reading
from tests.journeys.product import Product

_CALLS = 10
_LATENCY = 0.2
_COMMAND = "echo x >>notes.txt"
_PAUSE = 0.05
"""Between two readings while the orders run: more often, and the readings would be the load."""


@dataclass
class Memory:
    before_mb: float
    peak_mb: float = 0.0
    jails_mb: list[float] = field(default_factory=list)
    """Per jail, at the moments that were looked at."""

    async def watch(self, server: int, until: asyncio.Event) -> None:
        while not until.is_set():
            self.peak_mb = max(self.peak_mb, memory_mb(server, "VmRSS"))
            await asyncio.sleep(0.1)

    async def look_at_jails(self, server: int, after: float) -> None:
        await asyncio.sleep(after)
        programs = {pid: program_of(pid) for pid in tree_of(server)}
        supervised = {pid: program for pid, program in programs.items() if "/proc/self/fd/" in program}
        jails = sum(program.startswith("bwrap") for program in supervised.values())
        if jails:
            self.jails_mb.append(sum(memory_mb(pid, "Pss") for pid in supervised) / jails)


def main() -> int:
    count = 30 if asked_to_be_quick(__doc__ or "") else 100
    with (
        tempfile.TemporaryDirectory() as directory,
        model(calls=_CALLS, latency=_LATENCY, command=_COMMAND) as server,
    ):
        place = Path(directory)
        (place / "home").mkdir()
        repository = small_repository(place / "repository")
        floor = Floor(repository, place / "floor")
        settings = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.base_url,
            "JOURNEYMAN_MAX_CONCURRENT_ORDERS": str(count),
        }
        with Product(place / "home", **settings) as product:
            table = asyncio.run(_measure(product, repository, floor, count))
    return table.finish()


async def _measure(product: Product, repository: Path, floor: Floor, count: int) -> Table:
    before = await _time_floor(floor, count)
    async with customer(product.url) as someone:
        known = await someone.submit(repository, MODEL)
        await someone.finish(known)
        with reading(product.url, known, pause=0.005, most=400) as reader:
            idle = await asyncio.to_thread(reader.end)
        memory = Memory(memory_mb(product.pid, "VmRSS"))
        done = asyncio.Event()
        with reading(product.url, known, pause=_PAUSE) as reader:
            began = time.monotonic()
            watching = asyncio.gather(memory.watch(product.pid, done), memory.look_at_jails(product.pid, 5.0))
            await asyncio.gather(*(someone.submit(repository, MODEL) for _ in range(count)))
            await someone.until_completed(count + 1)
            ours = time.monotonic() - began
            busy = await asyncio.to_thread(reader.end)
        done.set()
        await watching
    theirs = (before + await _time_floor(floor, count)) / 2
    return _table(count, ours, theirs, idle, busy, memory)


async def _time_floor(floor: Floor, count: int) -> float:
    began = time.monotonic()
    work = (floor.work(calls=_CALLS, latency=_LATENCY, command=_COMMAND) for _ in range(count))
    await asyncio.gather(*work)
    return time.monotonic() - began


def _table(
    count: int, ours: float, theirs: float, idle: list[float], busy: list[float], memory: Memory
) -> Table:
    table = Table(f"{count} orders at once, {_CALLS} shell calls each, a model of {_LATENCY * 1000:.0f} ms")
    table.add(Row("until all are done", ours, theirs, "floor", "s", 2 * theirs))
    quiet = percentile_ms(idle, 0.99)
    table.add(Row("p99 of reading one order", percentile_ms(busy, 0.99), quiet, "idle", bar=10 * quiet))
    growth = (memory.peak_mb - memory.before_mb) / count
    table.add(Row("server's memory per order", growth, 3.0, "bar", "MB", 3.0))
    middle = percentile_ms(busy, 0.5), percentile_ms(idle, 0.5)
    table.notes.append(
        f"reading one order, median: {middle[0]:.1f} ms while they run, {middle[1]:.1f} ms idle"
    )
    table.notes.append(f"server: {memory.before_mb:.0f} MB before, {memory.peak_mb:.0f} MB at most")
    if memory.jails_mb:
        table.notes.append(f"each jail: {memory.jails_mb[0]:.1f} MB")
    return table


if __name__ == "__main__":
    sys.exit(main())
