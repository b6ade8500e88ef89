"""How long it takes until an agent begins: submit to first model request, on a mirror that is warm.

The floor is `git worktree add` and the start of a jail that runs `true`. Both take turns, so that they meet
the same machine. At the end, what `jm --help` costs beside an empty Python program.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.customers import Customer, customer
from bench.floor import Floor
from bench.measuring import (
    MODEL,
    Model,
    Row,
    Table,
    asked_to_be_quick,
    large_repository,
    median_ms,
    model,
    small_repository,
)
from tests.journeys.product import Product

_ALLOWED_MS = 50.0
_WORKFLOW = "agent_workflow_plan_build_test"


def main() -> int:
    repetitions = 3 if asked_to_be_quick(__doc__ or "") else 9
    table = Table("From submission to the first model request")
    with tempfile.TemporaryDirectory() as directory, model(calls=1, command="echo x >>notes.txt") as server:
        place = Path(directory)
        (place / "home").mkdir()
        settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url}
        with Product(place / "home", **settings) as product:
            for size, make in (("small", small_repository), ("django-size", large_repository)):
                repository = make(place / size)
                floor = Floor(repository, place / f"{size}-floor")
                ours, theirs = asyncio.run(
                    _starts(product.url, server, repository, floor, repetitions=repetitions)
                )
                bar = 2 * median_ms(theirs) + _ALLOWED_MS
                table.add(Row(f"{size} repository", median_ms(ours), median_ms(theirs), "floor", bar=bar))
    table.add(_help_row(repetitions))
    return table.finish()


async def _starts(
    url: str, server: Model, repository: Path, floor: Floor, *, repetitions: int
) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    theirs: list[float] = []
    async with customer(url) as someone:
        await _start(someone, server, repository)  # makes the mirror
        for _ in range(repetitions):
            ours.append(await _start(someone, server, repository))
            began = time.monotonic()
            await floor.start()
            theirs.append(time.monotonic() - began)
    return ours, theirs


async def _start(someone: Customer, server: Model, repository: Path) -> float:
    server.seen()
    began = time.monotonic()
    order_id = await someone.submit(repository, MODEL, _WORKFLOW)
    await someone.finish(order_id)
    return server.seen().asked[0] - began


def _help_row(repetitions: int) -> Row:
    jm = str(Path(sys.executable).with_name("jm"))
    python = (sys.executable, "-c", "pass")
    times = [(_timed(jm, "--help"), _timed(*python)) for _ in range(repetitions)]
    return Row("jm --help", median_ms(t for t, _ in times), median_ms(t for _, t in times), "python -c pass")


def _timed(*command: str) -> float:
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
