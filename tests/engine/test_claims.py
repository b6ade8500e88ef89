"""Who may write: an order has one worker at a time, and one that lost it is stopped."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.engine.attempt import Attempt
from journeyman.engine.store import Bundle, Claims
from journeyman.errors import Superseded
from journeyman.events.feed import Feed
from journeyman.events.log import read
from journeyman.events.types import AgentNotice, AgentWorkOrderStarted
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from tests.engine.line_rule import Waiting, next_to_start, positions
from tests.work_orders.orders import an_order


@pytest.fixture
def orders(database: Database) -> WorkOrders:
    return WorkOrders(database, Feed(database), Redactor([]))


@pytest.fixture
def claims(database: Database, orders: WorkOrders) -> Claims:
    return Claims(database, orders)


async def take(claims: Claims, worker_id: str, places: int = 10) -> list[WorkOrder]:
    return await claims.claim(worker_id, places=places)


async def accept(orders: WorkOrders, **fields: object) -> str:
    order = an_order(**fields)
    await orders.create(order, AgentNotice(step="", text="accepted"))
    return order.agent_work_order_id


async def test_an_order_is_taken_up_once(orders: WorkOrders, claims: Claims) -> None:
    order_id = await accept(orders)
    assert [one.agent_work_order_id for one in await take(claims, "a")] == [order_id]
    assert await take(claims, "b") == []
    assert (await orders.get(order_id)).worker_id == "a"


async def test_a_worker_takes_no_more_than_it_has_places_for(orders: WorkOrders, claims: Claims) -> None:
    for number in range(3):
        await accept(orders, agent_work_order_id=f"wo-0000000{number}")
    assert len(await take(claims, "a", places=2)) == 2
    assert await take(claims, "a", places=2) == []
    assert len(await take(claims, "b", places=2)) == 1


async def test_whoever_lost_an_order_can_write_nothing_more(
    database: Database, orders: WorkOrders, claims: Claims
) -> None:
    order_id = await accept(orders)
    [order] = await take(claims, "a")
    as_worker = orders.held_by(await claims.holder(Attempt.current(order), "a"))
    await as_worker.change(order_id, AgentWorkOrderStarted(round=1), status="running")
    [held] = await claims.held_by("a")
    assert await claims.reclaim(held, "it gave no sign of life")
    before = await orders.get(order_id)
    for write in (
        as_worker.emit(order_id, AgentNotice(step="", text="a ghost")),
        as_worker.change(order_id, status="completed"),
        as_worker.change(order_id, title="a ghost's"),
        as_worker.steps.reopen(order_id, 1, ["plan"]),
        as_worker.check_held(order_id),
        claims.save_bundle(as_worker, order_id, Bundle("a", {}, b"")),
    ):
        with pytest.raises(Superseded):
            await write
    assert await orders.get(order_id) == before
    assert await claims.bundle(order_id) is None
    assert (before.status, before.attempt, before.worker_id) == ("pending", 1, None)
    told = [one.event.type for one in await read(database, order_id)]
    assert told == ["agent_notice", "agent_work_order_started", "agent_work_order_requeued"]


async def test_an_order_is_taken_from_a_worker_once(orders: WorkOrders, claims: Claims) -> None:
    await accept(orders)
    await take(claims, "a")
    [held] = await claims.held_by("a")
    assert await claims.reclaim(held, "why")
    assert not await claims.reclaim(held, "why")
    assert len(await take(claims, "b")) == 1
    assert not await claims.reclaim(held, "why")


async def test_an_earlier_claim_of_the_same_worker_is_worth_nothing(
    orders: WorkOrders, claims: Claims
) -> None:
    """A worker that was frozen may claim again what it lost, while what it ran before has not noticed."""
    order_id = await accept(orders)
    [order] = await take(claims, "a")
    before = orders.held_by(await claims.holder(Attempt.current(order), "a"))
    [held] = await claims.held_by("a")
    await claims.reclaim(held, "it gave no sign of life")
    [again] = await take(claims, "a")
    assert again.attempt == order.attempt
    now = orders.held_by(await claims.holder(Attempt.current(again), "a"))
    await now.check_held(order_id)
    with pytest.raises(Superseded):
        await before.check_held(order_id)


async def test_an_attempt_that_came_to_no_good_is_followed_by_another(
    orders: WorkOrders, claims: Claims
) -> None:
    order_id = await accept(orders)
    await take(claims, "a")
    [held] = await claims.held_by("a")
    await claims.reclaim(held, "it stood still", new_attempt=True)
    assert (await orders.get(order_id)).attempt == 2


async def test_a_stop_that_a_dead_worker_was_asked_for_is_fulfilled(
    orders: WorkOrders, claims: Claims
) -> None:
    order_id = await accept(orders)
    [order] = await take(claims, "a")
    as_worker = orders.held_by(await claims.holder(Attempt.current(order), "a"))
    await as_worker.change(order_id, AgentWorkOrderStarted(round=1), status="running")
    await orders.change(order_id, stop_requested="cancelled")
    [held] = await claims.held_by("a")
    await claims.reclaim(held, "it gave no sign of life")
    after = await orders.get(order_id)
    assert (after.status, after.stop_requested, after.worker_id) == ("cancelled", None, None)


async def test_an_order_that_rests_is_nobodys(orders: WorkOrders, claims: Claims) -> None:
    order_id = await accept(orders)
    [order] = await take(claims, "a")
    as_worker = orders.held_by(await claims.holder(Attempt.current(order), "a"))
    await as_worker.change(order_id, AgentWorkOrderStarted(round=1), status="running")
    with pytest.raises(Superseded):
        await orders.change_if_unclaimed(order, status="paused")
    await as_worker.change(order_id, status="paused")
    assert (await orders.get(order_id)).worker_id is None
    with pytest.raises(Superseded):
        await as_worker.check_held(order_id)


async def test_a_sign_of_life_keeps_a_worker_from_being_struck_off(claims: Claims) -> None:
    assert not await claims.heartbeat("a", "here")
    assert await claims.heartbeat("a", "here")
    seen = await claims.heartbeats()
    await claims.heartbeat("a", "here")
    assert not await claims.expire("a", seen["a"])
    assert await claims.expire("a", seen["a"] + 1)
    assert not await claims.heartbeat("a", "here"), "it learns that it was given up"


@pytest.mark.parametrize("seed", range(12))
async def test_the_store_chooses_as_the_rule_does(
    database: Database, orders: WorkOrders, claims: Claims, seed: int
) -> None:
    """Orders that run, wait or rest, of several repositories, priorities and ages, ties among them."""
    chance, noon = random.Random(seed), datetime(2026, 1, 1, 12, tzinfo=UTC)
    waiting: list[Waiting] = []
    running: list[Waiting] = []
    for number in range(chance.randrange(40)):
        order = an_order(
            agent_work_order_id=f"wo-{number:08}",
            priority=chance.choice([-1, 0, 0, 0, 5]),
            repository_url=chance.choice(["https://github.com/acme/" + name for name in "abc"]),
            created_at=noon + timedelta(minutes=chance.randrange(6)),
            status=chance.choice(["pending", "pending", "pending", "running", "paused", "completed"]),
        )
        holder = "elsewhere" if order.status == "running" else None
        await orders.create(replace(order, worker_id=holder), AgentNotice(step="", text="accepted"))
        seen = Waiting(order.agent_work_order_id, order.priority, order.created_at, order.repository_url)
        if order.status in ("pending", "running"):
            (running if holder else waiting).append(seen)
    assert await claims.positions() == positions(waiting, running)
    places, limit = chance.randrange(1, 20), chance.choice([None, 1, 2, 4])
    expected = next_to_start(waiting, running, free=places, per_repository=limit)
    taken = await claims.claim("here", places=places, per_repository=limit)
    assert [one.agent_work_order_id for one in taken] == expected
