"""Baselines and flaky tests on SQLite and PostgreSQL."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.errors import NotFound
from journeyman.events.feed import Feed
from journeyman.work_orders.store import WorkOrders

URL = "https://github.com/acme/thing"


@pytest.fixture
def orders(database: Database) -> WorkOrders:
    return WorkOrders(database, Feed(database), Redactor([]))


async def test_a_baseline_is_found_by_its_key_and_the_later_one_stays(orders: WorkOrders) -> None:
    await orders.baselines.save("a", URL, b"first")
    await orders.baselines.save("a", URL, b"second")
    assert await orders.baselines.find(["a", "b"]) == {"a": b"second"}


async def test_old_baselines_are_forgotten(orders: WorkOrders) -> None:
    await orders.baselines.save("a", URL, b"result")
    now = datetime.now(UTC)
    earlier, later = now - timedelta(days=1), now + timedelta(days=1)
    assert (await orders.baselines.count_before(earlier), await orders.baselines.count_before(later)) == (
        0,
        1,
    )
    await orders.baselines.forget_before(earlier)
    assert await orders.baselines.find(["a"])
    await orders.baselines.forget_before(later)
    assert not await orders.baselines.find(["a"])


async def test_a_flaky_test_is_counted_for_its_repository_by_orders_that_end_together(
    orders: WorkOrders,
) -> None:
    await asyncio.gather(*(orders.flaky_tests.count("rp-1", ["t::a", "t::b"]) for _ in range(4)))
    await orders.flaky_tests.count("rp-1", ["t::b"])
    await orders.flaky_tests.count("rp-2", ["t::a"])
    found = await orders.flaky_tests.of_repository("rp-1")
    assert [(one.test_id, one.times_seen) for one in found] == [("t::b", 5), ("t::a", 4)]


async def test_a_person_says_that_a_test_counts_and_it_stays_said(orders: WorkOrders) -> None:
    await orders.flaky_tests.count("rp-1", ["t::a"])
    (seen,) = await orders.flaky_tests.of_repository("rp-1")
    assert (await orders.flaky_tests.trust("rp-1", seen.test_digest, True)).is_trusted
    await orders.flaky_tests.count("rp-1", ["t::a"])
    (seen,) = await orders.flaky_tests.of_repository("rp-1")
    assert (seen.is_trusted, seen.times_seen) == (True, 2)
    with pytest.raises(NotFound):
        await orders.flaky_tests.trust("rp-2", seen.test_digest, True)
