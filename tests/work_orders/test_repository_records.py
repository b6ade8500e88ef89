"""Repositories and grants on SQLite and PostgreSQL: one row for each address, and no grant twice."""

import asyncio

import pytest

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.errors import NotFound, Superseded
from journeyman.events import log
from journeyman.events.feed import Feed
from journeyman.events.types import WorkflowPhaseStarted
from journeyman.work_orders.repository_record import (
    ENVIRONMENT_CHECK,
    definition_in_force,
    is_repository_id,
    new_repository_id,
)
from journeyman.work_orders.store import OrderFilter, WorkOrders
from tests.work_orders.orders import an_order

URL = "https://github.com/acme/thing"


@pytest.fixture
def orders(database: Database) -> WorkOrders:
    return WorkOrders(database, Feed(database), Redactor([]))


async def test_many_who_name_a_repository_at_once_make_one_row(orders: WorkOrders) -> None:
    made = await asyncio.gather(*(orders.repositories.ensure(URL) for _ in range(8)))
    assert len({record.repository_id for record, _ in made}) == 1
    assert [was_made for _, was_made in made].count(True) == 1
    assert is_repository_id(made[0][0].repository_id)
    assert made[0][0].environment_state == "unknown"


async def test_the_first_order_of_a_repository_makes_it_known(orders: WorkOrders) -> None:
    await orders.create(an_order(repository_url=URL))
    await orders.create(an_order(repository_url=URL))
    [record], total = await orders.repositories.page(limit=10, offset=0)
    assert (record.repository_url, total) == (URL, 1)


async def test_facts_of_a_repository_are_replaced_and_its_definition_stays(orders: WorkOrders) -> None:
    record, _ = await orders.repositories.ensure(URL, default_branch="main", rights={"push": False})
    await orders.repositories.store_definition(record.repository_id, "install: []\n")
    again, was_made = await orders.repositories.ensure(URL, rights={"push": True})
    assert not was_made
    assert (again.default_branch, again.rights, again.definition) == (
        "main",
        {"push": True},
        "install: []\n",
    )


async def test_an_unknown_repository_is_not_found(orders: WorkOrders) -> None:
    with pytest.raises(NotFound):
        await orders.repositories.get(new_repository_id())
    with pytest.raises(NotFound):
        await orders.repositories.store_definition(new_repository_id(), "x")
    assert await orders.repositories.find(URL) is None


async def test_only_the_newest_check_reports(orders: WorkOrders) -> None:
    record, _ = await orders.repositories.ensure(URL)
    for order_id in ("wo-aaaaaaaa", "wo-bbbbbbbb"):
        await orders.repositories.begin_check(record.repository_id, order_id)
    late = await orders.repositories.finish_check(URL, "wo-aaaaaaaa", state="ready", report={"score": 1})
    assert not late
    assert (await orders.repositories.get(record.repository_id)).environment_state == "checking"
    assert await orders.repositories.finish_check(
        URL, "wo-bbbbbbbb", state="needs_attention", report={"score": 40}
    )
    now = await orders.repositories.get(record.repository_id)
    assert (now.environment_state, now.report) == ("needs_attention", {"score": 40})


async def test_a_worker_that_lost_the_check_cannot_report(orders: WorkOrders) -> None:
    order = an_order(repository_url=URL)
    await orders.create(order)
    record, _ = await orders.repositories.ensure(URL)
    order_id = order.agent_work_order_id
    await orders.repositories.begin_check(record.repository_id, order_id)
    await orders.emit(order_id, WorkflowPhaseStarted(phase="testing"))
    cut_off = orders.held_by("a worker that was frozen")
    with pytest.raises(Superseded):
        await cut_off.repositories.finish_check(URL, order_id, state="ready", report={})
    assert (await orders.repositories.get(record.repository_id)).environment_state == "checking"


async def test_a_new_definition_makes_the_state_unknown(orders: WorkOrders) -> None:
    record, _ = await orders.repositories.ensure(URL)
    await orders.repositories.begin_check(record.repository_id, "wo-aaaaaaaa")
    await orders.repositories.finish_check(URL, "wo-aaaaaaaa", state="ready", report={"score": 100})
    changed = await orders.repositories.store_definition(record.repository_id, "checks: {}\n")
    assert (changed.environment_state, changed.report) == ("unknown", {"score": 100})
    removed = await orders.repositories.store_definition(record.repository_id, None)
    assert removed.definition is None


async def test_repositories_come_in_pages_the_last_changed_first(orders: WorkOrders) -> None:
    urls = [f"https://github.com/acme/{name}" for name in ("one", "two", "three")]
    made = [(await orders.repositories.ensure(url))[0] for url in urls]
    await orders.repositories.store_definition(made[0].repository_id, "env: {}\n")
    first, total = await orders.repositories.page(limit=2, offset=0)
    rest, _ = await orders.repositories.page(limit=2, offset=2)
    assert total == 3
    assert [one.repository_url for one in (*first, *rest)] == [urls[0], urls[2], urls[1]]


async def test_a_check_tries_its_own_definition_and_other_orders_the_stored_one(orders: WorkOrders) -> None:
    record, _ = await orders.repositories.ensure(URL)
    stored = await orders.repositories.store_definition(record.repository_id, "stored: 1\n")
    check = an_order(workflow_type=ENVIRONMENT_CHECK, initial_prompt="tried: 1\n")
    assert definition_in_force(check, stored) == "tried: 1\n"
    assert definition_in_force(an_order(workflow_type=ENVIRONMENT_CHECK, initial_prompt=""), stored) == (
        "stored: 1\n"
    )
    assert definition_in_force(an_order(), stored) == "stored: 1\n"
    assert definition_in_force(an_order(), record) is None
    assert definition_in_force(an_order(), None) is None


async def test_a_list_can_leave_out_the_orders_of_a_workflow(orders: WorkOrders) -> None:
    kept, check = an_order(), an_order(workflow_type=ENVIRONMENT_CHECK)
    for order in (kept, check):
        await orders.create(order)
    found, total = await orders.find(OrderFilter(without_workflow_type=ENVIRONMENT_CHECK))
    assert ([one.agent_work_order_id for one in found], total) == ([kept.agent_work_order_id], 1)
    assert (await orders.find(OrderFilter()))[1] == 2


async def test_a_grant_is_written_once_with_its_event(orders: WorkOrders, database: Database) -> None:
    order = an_order()
    await orders.create(order)
    made = await asyncio.gather(*(orders.grants.add(order, "packages.example", "order") for _ in range(4)))
    assert made.count(True) == 1
    events = await log.read(database, order.agent_work_order_id)
    assert [stored.event.type for stored in events] == ["network_allowed"]


async def test_a_grant_to_a_repository_reaches_all_its_orders_and_no_others(orders: WorkOrders) -> None:
    first, second = an_order(repository_url=URL), an_order(repository_url=URL)
    other = an_order(repository_url="https://github.com/acme/other")
    for order in (first, second, other):
        await orders.create(order)
    await orders.grants.add(first, "packages.example", "repository")
    await orders.grants.add(first, "only.example", "order")
    of_first = {(grant.host, grant.scope) for grant in await orders.grants.of_order(first)}
    assert of_first == {("packages.example", "repository"), ("only.example", "order")}
    assert [grant.host for grant in await orders.grants.of_order(second)] == ["packages.example"]
    assert await orders.grants.of_order(other) == []


async def test_a_host_that_is_granted_twice_counts_as_the_repositorys(orders: WorkOrders) -> None:
    order = an_order()
    await orders.create(order)
    await orders.grants.add(order, "packages.example", "repository")
    await orders.grants.add(order, "packages.example", "order")
    assert [grant.scope for grant in await orders.grants.of_order(order)] == ["repository"]
