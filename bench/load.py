"""The product under load: a hundred orders run, a thousand come, five hundred people look.

Five parts, each on a server of its own. What a request costs under load is compared with what it costs that
same server when idle; two workers are compared with one. The model takes its time, as models do, so that the
orders are there to be counted; how fast they are carried out is for `orders.py` to say.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from bench.customers import Customer, customer
from bench.measuring import (
    MODEL,
    Model,
    Row,
    Table,
    asked_to_be_quick,
    memory_mb,
    model,
    percentile_ms,
    small_repository,
)
from bench.readers import Seen, read_to_the_end
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds
from tests.postgres import PrivatePostgres

_COMMAND = "echo x >>notes.txt"
_FLOOD_SECONDS = 10.0
_REFUSALS = (429, 503)
_GROWTH = 1.1
_IDLE_ORDERS = 52
"""More than a page of the list, so that it is as long as under load."""


@dataclass(frozen=True)
class Size:
    """How much load; the quick sizes are rougher, not easier."""

    running: int = 100
    samples: int = 100
    flood: int = 1000
    readers: int = 500
    warm_up: int = 100
    orders: int = 500
    queue: int = 32


_QUICK = Size(running=40, samples=40, flood=200, readers=200, warm_up=40, orders=120, queue=16)


def main() -> int:
    size = _QUICK if asked_to_be_quick(__doc__ or "") else Size()
    parts = (_while_orders_run, _when_many_come, _while_people_look, _over_time, _with_two_workers)
    return max(asyncio.run(part(size)).finish() for part in parts)


async def _while_orders_run(size: Size) -> Table:
    """Hand in and list while so many orders run, and when none does."""
    async with _shop(calls=10, latency=2.0, most=size.running) as shop:
        someone = shop.someone
        quick = shop.product.script("quick", builds(FIXED))
        idle_submits = []
        for _ in range(_IDLE_ORDERS):
            idle_submits.append(await _timed(lambda: shop.submit(quick)))
            await shop.until_all_end()
        del idle_submits[:2]  # they met a mirror that was not there, and code that was not loaded
        idle_lists = [await _timed(someone.read_list) for _ in range(size.samples)]
        starting = asyncio.gather(*(shop.submit() for _ in range(size.running)))
        storm = [await _timed(someone.read_list)]
        while len(shop.asked()) < size.running:
            storm.append(await _timed(someone.read_list))
            await asyncio.sleep(0.1)
        await starting
        submits, lists = [], []
        for _ in range(size.samples):
            submits.append(await _timed(shop.submit))
            lists.append(await _timed(someone.read_list))
            await asyncio.sleep(0.1)
        still = await someone.count("running")
        wrong = await shop.until_all_end()
    table = Table(f"{size.running} orders running, a model of 2 s")
    for name, busy, idle in (("handing one in", submits, idle_submits), ("the list", lists, idle_lists)):
        quiet = percentile_ms(idle, 0.95)
        table.add(Row(f"p95 of {name}", percentile_ms(busy, 0.95), quiet, "idle", bar=10 * quiet))
    table.add(Row("orders that failed", wrong, 0, "bar", "", 0))
    table.notes.append(f"the list while all of them start at once, p95: {percentile_ms(storm, 0.95):.0f} ms")
    table.notes.append(f"{still} ran at the last sample, and those handed in meanwhile waited behind them")
    return table


async def _when_many_come(size: Size) -> Table:
    """A flood of new orders within ten seconds: each is accepted and carried out, or refused politely."""
    answers: Counter[str] = Counter()
    times: list[float] = []

    async def come(after: float) -> None:
        await asyncio.sleep(after)
        began = time.monotonic()
        answer = await shop.offer()
        times.append(time.monotonic() - began)
        polite = answer.status_code in _REFUSALS and "retry-after" in answer.headers
        answers["accepted" if answer.status_code == 201 else "refused" if polite else "errors"] += 1

    async with _shop(calls=2, latency=0.2, JOURNEYMAN_MAX_QUEUED_ORDERS=str(size.flood // 2)) as shop:
        gap = _FLOOD_SECONDS / size.flood
        began = time.monotonic()
        await asyncio.gather(*(come(number * gap) for number in range(size.flood)))
        answered = time.monotonic() - began
        wrong = await shop.until_all_end()
        ended = await shop.someone.count("completed")
        lasted = time.monotonic() - began
    table = Table(f"{size.flood} orders handed in within {_FLOOD_SECONDS:.0f} s")
    table.add(Row("neither accepted nor told when to come again", answers["errors"], 0, "bar", "", 0))
    table.add(Row("accepted, and not completed", answers["accepted"] - ended + wrong, 0, "bar", "", 0))
    table.notes.append(f"{answers['accepted']} accepted, {answers['refused']} refused with Retry-After")
    table.notes.append(
        f"answered within {percentile_ms(times, 0.5):.0f} ms in the middle, "
        f"{percentile_ms(times, 1.0):.0f} ms at most, all after {answered:.1f} s; done after {lasted:.0f} s"
    )
    return table


async def _while_people_look(size: Size) -> Table:
    """So many readers of ten orders: every one sees every event of its order, once and in order."""
    async with _shop(calls=10, latency=0.5) as shop:
        alone = await _read_by(shop, 10)
        together = await _read_by(shop, size.readers)
        wrong = await shop.until_all_end()
    faults = sum(seen.faults for seen, _ in together.seen)
    lost = sum(seen.events != length for seen, length in together.seen)
    table = Table(f"{size.readers} readers of 10 orders that run")
    table.add(Row("gaps, repetitions, wrong order", faults, 0, "bar", "", 0))
    table.add(Row("readers that missed an end", lost + wrong, 0, "bar", "", 0))
    table.add(Row("until all have seen the end", together.seconds, alone.seconds, "10 readers", "s"))
    table.notes.append(f"{sum(seen.events for seen, _ in together.seen):,} events delivered")
    return table


@dataclass(frozen=True)
class _Reading:
    seen: list[tuple[Seen, int]]
    """What each reader saw, and how many events its order has."""
    seconds: float


async def _read_by(shop: "Shop", readers: int) -> _Reading:
    began = time.monotonic()
    orders = await asyncio.gather(*(shop.submit() for _ in range(10)))
    read = await asyncio.gather(
        *(read_to_the_end(shop.product.url, orders[number % 10]) for number in range(readers))
    )
    seconds = time.monotonic() - began
    lengths = [(await read_to_the_end(shop.product.url, order)).events for order in orders]
    return _Reading([(seen, lengths[number % 10]) for number, seen in enumerate(read)], seconds)


async def _over_time(size: Size) -> Table:
    """The server's memory after many orders, compared with its memory after the first of them."""
    figures: list[float] = []

    async def carry_out(count: int) -> None:
        for _ in range(0, count, 20):
            await asyncio.gather(*(shop.submit() for _ in range(20)))
            await shop.until_all_end()
            figures.append(memory_mb(shop.product.pid, "VmRSS"))

    async with _shop(calls=3, latency=0.05) as shop:
        await carry_out(size.warm_up)
        warm = max(figures)
        await carry_out(size.orders)
    table = Table(f"Memory over {size.orders} orders, twenty at a time")
    last = statistics.median(figures[-3:])
    table.add(
        Row("the server's memory in the end", last, warm, f"after {size.warm_up}", "MB", _GROWTH * warm)
    )
    return table


async def _with_two_workers(size: Size) -> Table:
    """The same queue on PostgreSQL, carried out by one worker and by two."""
    postgres = PrivatePostgres.prepare()
    try:
        one = await _drain(postgres, size.queue, workers=1)
        two = await _drain(postgres, size.queue, workers=2)
    finally:
        postgres.discard()
    table = Table(f"{size.queue} orders on PostgreSQL, four at once for each worker, a model of 2 s")
    table.add(Row("until all are done by 2 workers", two, one, "1 worker", "s", one / 1.7))
    return table


async def _drain(postgres: PrivatePostgres, count: int, *, workers: int) -> float:
    with postgres.fresh_database() as url:
        async with _shop(
            "serve", "--no-worker", calls=3, latency=2.0, most=4, DATABASE_URL=url, workers=workers
        ) as shop:
            # The first order of a worker makes its mirror; what is compared is what comes after it.
            await asyncio.gather(*(shop.submit() for _ in range(4 * workers)))
            await shop.until_all_end()
            began = time.monotonic()
            await asyncio.gather(*(shop.submit() for _ in range(count)))
            assert await shop.until_all_end() == 0, "an order failed"
            return time.monotonic() - began


@dataclass(frozen=True)
class Shop:
    """A running product, somebody who talks to it, and a repository to work on."""

    product: Product
    someone: Customer
    repository: Path
    model: Model
    _asked: list[float] = field(default_factory=list)

    def asked(self) -> list[float]:
        """When the model was asked, each time so far."""
        self._asked.extend(self.model.seen().asked)
        return self._asked

    async def offer(self) -> httpx2.Response:
        return await self.someone.offer(self.repository, MODEL)

    async def submit(self, model_name: str = MODEL) -> str:
        return await self.someone.submit(self.repository, model_name)

    async def until_all_end(self) -> int:
        """Wait until nothing waits or runs; returns how many orders failed."""
        while True:
            if not (await self.someone.count("pending") or await self.someone.count("running")):
                return await self.someone.count("failed")
            await asyncio.sleep(0.2)


@asynccontextmanager
async def _shop(
    *command: str, calls: int, latency: float, most: int = 20, workers: int = 0, **settings: str
) -> AsyncIterator[Shop]:
    with (
        tempfile.TemporaryDirectory() as directory,
        model(calls=calls, latency=latency, command=_COMMAND) as server,
        ExitStack() as hired,
    ):
        settings |= {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.base_url,
            "JOURNEYMAN_MAX_CONCURRENT_ORDERS": str(most),
        }
        product = hired.enter_context(_process(Path(directory, "server"), *command, **settings))
        for number in range(workers):
            hired.enter_context(_process(Path(directory, f"worker-{number}"), "worker", **settings))
        async with customer(product.url) as someone:
            yield Shop(product, someone, small_repository(Path(directory, "repository")), server)


def _process(place: Path, *command: str, **settings: str) -> Product:
    (place / "home").mkdir(parents=True)
    return Product(place / "home", *command, **settings)


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    began = time.monotonic()
    await act()
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
