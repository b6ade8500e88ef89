"""The soak: orders come in while something is killed every 5 to 40 seconds, on every store at once.

`make soak` with MINUTES and SEED; prints what was done and every violation, and ends with 1 if there was any.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.matrix import stages
from tests.faults.oracle import violations
from tests.faults.stage import Customer, Stage, Store, Story
from tests.faults.victims import Victim, strike
from tests.postgres import PrivatePostgres

_CUSTOMERS = 2
"""Of each store, at any time."""
_PAUSE_SECONDS = (5.0, 40.0)
_LONGEST_WAIT_SECONDS = 300.0
_WEIGHTS: dict[Victim, int] = {"server": 3, "worker": 3, "jail": 1, "agent": 1, "git": 1}
_STORIES: tuple[Story, ...] = ("plain", "plain", "approval", "pause")


@dataclass
class Soak:
    stage: Stage
    seed: int
    until: float
    customers: list[Customer] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def run(self) -> None:
        self.stage.start()
        with ThreadPoolExecutor(_CUSTOMERS) as pool:
            lines = [pool.submit(self._hand_in_orders, number) for number in range(_CUSTOMERS)]
            self._kill()
            for line in lines:
                line.result()
        for customer in self.customers:
            self.broken += [f"{customer.order_id} ({customer.story}) {one}" for one in violations(customer)]

    def _hand_in_orders(self, number: int) -> None:
        chance = random.Random(f"{self.seed}-{number}")
        while time.monotonic() < self.until:
            customer = Customer(self.stage, chance.choice(_STORIES), longest_wait=_LONGEST_WAIT_SECONDS)
            self.customers.append(customer)
            try:
                customer.see_through()
            except AssertionError as error:
                self.broken.append(f"{customer.order_id or 'an order'}: {error}")

    def _kill(self) -> None:
        chance = random.Random(self.seed)
        while (pause := chance.uniform(*_PAUSE_SECONDS)) < self.until - time.monotonic():
            time.sleep(pause)
            [victim] = chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            self.killed[victim] += strike(self.stage, victim)

    def __str__(self) -> str:
        helped = sum(customer.retries for customer in self.customers)
        killed = ", ".join(f"{count} {name}" for name, count in self.killed.items())
        return (
            f"{len(self.customers)} orders, killed: {killed or 'nothing'}; "
            f"{helped} failed and were retried, {len(self.broken)} violations"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}, {chosen.minutes:g} minutes", flush=True)
    until = time.monotonic() + 60 * chosen.minutes
    postgres = PrivatePostgres.prepare()
    with tempfile.TemporaryDirectory(prefix="journeyman-soak-") as directory:
        try:
            with stages(Path(directory), postgres) as by_store:
                soaks: dict[Store, Soak] = {
                    store: Soak(stage, chosen.seed + place, until)
                    for place, (store, stage) in enumerate(by_store.items())
                }
                with ThreadPoolExecutor(len(soaks)) as pool:
                    list(pool.map(Soak.run, soaks.values()))
        finally:
            postgres.discard()
    for store, soak in soaks.items():
        print(f"{store}: {soak}", *soak.broken, sep="\n  ")
    return 1 if any(soak.broken for soak in soaks.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
