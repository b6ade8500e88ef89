"""Somebody who reads one order again and again, in a process of their own, and keeps the times.

    python -m bench.reading http://127.0.0.1:8700 wo-abcdefgh --pause 0.05

Their own process, because whoever hands in a hundred orders meanwhile would make them wait. They read until
their standard input ends, or as often as they are asked to, and print the seconds of each reading as JSON.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.customers import Customer, customer
from bench.measuring import ROOT


class Reading:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def end(self) -> list[float]:
        """Let them stop; what each reading took, in seconds."""
        output, _ = self._process.communicate()
        times: list[float] = json.loads(output)
        return times


@contextmanager
def reading(url: str, order_id: str, *, pause: float, most: int = 0) -> Iterator[Reading]:
    arguments = [url, order_id, "--pause", str(pause), "--most", str(most)]
    program = [sys.executable, "-m", "bench.reading", *arguments]
    with subprocess.Popen(
        program, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        yield Reading(process)


async def _read(url: str, order_id: str, pause: float, most: int) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    if not most:
        loop.add_reader(sys.stdin, ended.set)
    times: list[float] = []
    async with customer(url) as someone:
        await _time(someone, order_id)  # the connection is made
        print("reading", flush=True)
        while not ended.is_set() and len(times) < (most or 1_000_000):
            times.append(await _time(someone, order_id))
            await asyncio.sleep(pause)
    print(json.dumps(times))


async def _time(someone: Customer, order_id: str) -> float:
    began = time.monotonic()
    await someone.read(order_id)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("order_id")
    parser.add_argument("--pause", type=float, required=True)
    parser.add_argument("--most", type=int, default=0)
    given = parser.parse_args()
    asyncio.run(_read(given.url, given.order_id, given.pause, given.most))


if __name__ == "__main__":
    main()
