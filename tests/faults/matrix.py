"""The crash matrix: every boundary of an order's life, before, during and after, each victim, each store.

The server stops itself at the boundary's failpoint; the victim is ended from outside, at once or, for
`during`, a moment after the server was let go on. `make faults` plays all of it; the same SEED makes the same
choices.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from journeyman.failpoints import Moment
from tests.faults.halting import halted, is_still, let_go_on
from tests.faults.oracle import violations
from tests.faults.stage import Customer, Stage, Store, Story, staged
from tests.faults.victims import VICTIMS, Victim, strike
from tests.postgres import PrivatePostgres

When = Literal["before", "during", "after"]


@dataclass(frozen=True)
class Boundary:
    name: str
    before: Moment
    after: Moment
    story: Story = "plain"
    times: int = 1
    """How often an order passes it."""
    longest_ms: int = 20
    """How long it takes, about: `during` is somewhere in there."""
    has_jail: bool = True
    """Whether a jail is there to be ended."""
    at_the_door: bool = False
    """Whether it is the server's, and never passed by a worker."""


BOUNDARIES = (
    Boundary("accept", "order_accepted", "row_written", longest_ms=5, has_jail=False, at_the_door=True),
    Boundary("enqueue", "row_written", "enqueued", longest_ms=30, has_jail=False, at_the_door=True),
    Boundary("workspace", "workspace_started", "workspace_made", longest_ms=50, has_jail=False),
    Boundary("sandbox", "sandbox_started", "sandbox_created", longest_ms=80, has_jail=False),
    Boundary("agent turn", "agent_started", "agent_ended", times=2, longest_ms=200),
    Boundary("tool call", "tool_call_started", "tool_call_ended", times=4, longest_ms=100),
    Boundary("commit", "commit_started", "commit_made", times=3, longest_ms=40),
    Boundary("snapshot", "snapshot_started", "snapshot_taken", story="pause", longest_ms=40),
    Boundary("push", "push_sent", "push_acknowledged", times=2, longest_ms=60),
    Boundary("push record", "push_acknowledged", "push_recorded", times=2, longest_ms=5),
    Boundary("pull request", "pull_request_sent", "pull_request_answered", times=2, longest_ms=30),
    Boundary("pull request record", "pull_request_answered", "pull_request_recorded", longest_ms=5),
    Boundary(
        "approval",
        "approval_received",
        "approval_recorded",
        story="approval",
        longest_ms=5,
        has_jail=False,
        at_the_door=True,
    ),
    Boundary("teardown", "teardown_started", "teardown_ended", longest_ms=60),
)
_NO_JAIL_ANY_MORE = ("teardown_ended",)
_IN_A_COMMAND = 150
"""Milliseconds after which a command of the agent runs for sure."""


@dataclass(frozen=True)
class Cell:
    boundary: str
    when: When
    victim: Victim
    store: Store
    story: Story
    moment: Moment
    passing: int
    delay_ms: int

    def __str__(self) -> str:
        late = f" +{self.delay_ms} ms" if self.when == "during" else ""
        return f"{self.victim} {self.when} {self.boundary} ({self.moment}@{self.passing}{late}, {self.store})"


def cells(seed: int) -> list[Cell]:
    """Every cell there is, with what the seed leaves to chance."""
    chance = random.Random(seed)
    found: list[Cell] = []
    stores: tuple[Store, ...] = ("sqlite", "postgresql", "workers")
    moments: tuple[When, ...] = ("before", "during", "after")
    for store in stores:
        for boundary in BOUNDARIES:
            for when in moments:
                for victim in VICTIMS:
                    if (victim == "worker") == (store == "workers") and _is_there(victim, boundary, when):
                        found.append(_cell(chance, boundary, when, victim, store))
    return found


def _is_there(victim: Victim, boundary: Boundary, when: When) -> bool:
    if victim == "agent":  # the built-in agent has a process of its own only while it runs a command
        return (boundary.name, when) == ("tool call", "during")
    if victim == "git":  # it lives only while it has something to do
        return when == "during" and boundary.name in ("workspace", "commit", "snapshot", "push")
    gone = when == "after" and boundary.after in _NO_JAIL_ANY_MORE
    if victim == "worker":
        return not boundary.at_the_door
    return victim == "server" or (boundary.has_jail and not gone)


def _cell(chance: random.Random, boundary: Boundary, when: When, victim: Victim, store: Store) -> Cell:
    moment = boundary.after if when == "after" else boundary.before
    passing, delay = chance.randint(1, boundary.times), chance.randint(1, boundary.longest_ms)
    if boundary.after == "pull_request_recorded":
        passing = 1  # only the first of them is written down
    if victim == "agent":
        passing, delay = 4, _IN_A_COMMAND  # the command that takes its time
    return Cell(boundary.name, when, victim, store, boundary.story, moment, passing, delay)


def play(stage: Stage, cell: Cell) -> list[str]:
    """Play one cell on a stage whose server is down, and say what it broke. The server is down again then."""
    customer = Customer(stage, cell.story)
    broken: list[str] = []
    try:
        with halted(customer, cell.moment, cell.passing) as seen_through:
            if cell.when == "during":
                let_go_on(stage)
                time.sleep(cell.delay_ms / 1000)
            if not strike(stage, cell.victim) and not _may_be_gone(cell):
                broken.append(f"cell: there was no {cell.victim} to end")
            if is_still(stage):
                let_go_on(stage)
            seen_through.result()
    except AssertionError as error:
        broken.append(f"order: {error}")
    try:
        if customer.retries:
            broken.append("order: it failed and had to be retried by hand")
        return broken + violations(customer)
    finally:
        stage.stop()


def _may_be_gone(cell: Cell) -> bool:
    """What lives only for a moment may have ended before it was to be."""
    return cell.when == "during" and cell.victim in ("jail", "git")


@contextmanager
def stages(directory: Path, postgres: PrivatePostgres) -> Iterator[dict[Store, Stage]]:
    with ExitStack() as stack:
        urls: dict[Store, str] = {"sqlite": ""}
        urls |= {"postgresql": stack.enter_context(postgres.fresh_database())}
        urls |= {"workers": stack.enter_context(postgres.fresh_database())}
        yield {
            store: stack.enter_context(staged(_made(directory / store), url, own_worker=store == "workers"))
            for store, url in urls.items()
        }


def _made(path: Path) -> Path:
    path.mkdir()
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--store", choices=["sqlite", "postgresql", "workers"], help="one of the three")
    chosen = parser.parse_args()
    todo = [cell for cell in cells(chosen.seed) if chosen.only in str(cell)]
    todo = [cell for cell in todo if chosen.store in (None, cell.store)]
    print(f"seed {chosen.seed}: {len(todo)} cells", flush=True)
    broken: Counter[str] = Counter()
    postgres = PrivatePostgres.prepare()
    with tempfile.TemporaryDirectory(prefix="journeyman-faults-") as directory:
        try:
            with stages(Path(directory), postgres) as by_store, ThreadPoolExecutor(len(by_store)) as pool:
                lines = [
                    pool.submit(_play_all, stage, [cell for cell in todo if cell.store == store], broken)
                    for store, stage in by_store.items()
                ]
                for line in lines:
                    line.result()
        finally:
            postgres.discard()
    print(f"seed {chosen.seed}: {len(todo)} cells, {len(broken)} broken, {broken.total()} violations")
    return 1 if broken else 0


def _play_all(stage: Stage, todo: list[Cell], broken: Counter[str]) -> None:
    for cell in todo:
        found = play(stage, cell)
        broken.update([str(cell)] * len(found))
        print(
            f"{'BROKEN' if found else 'kept  '} {cell}", *(f"\n         {one}" for one in found), flush=True
        )


if __name__ == "__main__":
    sys.exit(main())
