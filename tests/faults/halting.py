"""Hold the server still at a moment of an order's life, do something to the world, and let it go on."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psutil

from journeyman.failpoints import Moment
from tests.faults.stage import Customer, Stage
from tests.faults.waiting import wait_for

SeenThrough = Future[dict[str, Any]]


@contextmanager
def halted(customer: Customer, moment: Moment, passing: int = 1, **environment: str) -> Iterator[SeenThrough]:
    """Start the product, hand in the customer's order, and wait until it stands still at the moment.

    Gives the order's end, to come. When the block is left, the customer has seen the order through.
    """
    customer.stage.start(JOURNEYMAN_FAILPOINTS=f"{moment}=stop@{passing}", **environment)
    with ThreadPoolExecutor(1) as pool:
        seen_through = pool.submit(customer.see_through)
        wait_for(lambda: is_still(customer.stage) or seen_through.done(), f"{moment} of an order")
        if seen_through.done():
            raise AssertionError(f"{moment}@{passing} never came: {seen_through.exception() or 'it ended'}")
        yield seen_through


def is_still(stage: Stage) -> bool:
    return psutil.Process(stage.worker.pid).status() == psutil.STATUS_STOPPED


def let_go_on(stage: Stage) -> None:
    os.kill(stage.worker.pid, signal.SIGCONT)
