"""The suite's own claim: the same server, run by root and by somebody who can do nothing else."""

from pathlib import Path

import psutil

from tests.hostile.frame import AS_ROOT, give_to
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, make_repository


def test_each_user_carries_an_order_to_a_verified_end(product: Product, user: str, place: Path) -> None:
    repository = give_to(user, make_repository(place / "adder"))
    order = product.finish(product.submit(repository, product.script("fixes", PLANS, builds(FIXED))))
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert (psutil.Process(product.pid).uids().real == 0) == (user == AS_ROOT)
