"""The store on SQLite and PostgreSQL: changes and events are one."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.errors import Conflict, NotFound
from journeyman.events import log
from journeyman.events.feed import Feed
from journeyman.events.types import AgentText, AgentWorkOrderStarted, WorkflowPhaseStarted
from journeyman.work_orders.approvals import Approval
from journeyman.work_orders.changes import DecidedChange
from journeyman.work_orders.order import Evidence, StepRecord, Usage, WorkOrder
from journeyman.work_orders.store import OrderFilter, WorkOrders
from tests.work_orders.orders import an_order


@pytest.fixture
def orders(database: Database) -> WorkOrders:
    return WorkOrders(database, Feed(database), Redactor(["s3cret-token-value"]))


async def test_an_order_comes_back_as_it_was_stored(orders: WorkOrders) -> None:
    order = an_order(budget_usd=1.5, github_issue_number="42")
    await orders.create(order)
    assert await orders.get(order.agent_work_order_id) == order


async def test_what_agents_said_is_counted_by_its_room_and_nothing_else_is(orders: WorkOrders) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    await orders.emit(order_id, WorkflowPhaseStarted(phase="planning"))
    assert await orders.chatter_bytes(order_id) == 0
    await orders.emit(order_id, AgentText(step="build", text="word " * 1000))
    assert 5000 <= await orders.chatter_bytes(order_id) < 5200


async def test_an_unknown_order_is_not_found(orders: WorkOrders) -> None:
    with pytest.raises(NotFound):
        await orders.get("wo-nothere0")


async def test_a_change_and_its_event_are_written_together(orders: WorkOrders, database: Database) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    await orders.change(order_id, AgentWorkOrderStarted(round=1), status="running")
    assert (await orders.get(order_id)).status == "running"
    assert [stored.event.type for stored in await log.read(database, order_id)] == [
        "agent_work_order_started"
    ]


async def test_a_refused_change_leaves_neither_change_nor_event(
    orders: WorkOrders, database: Database
) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    with pytest.raises(Conflict):
        await orders.change(order_id, AgentWorkOrderStarted(round=1), status="completed")
    assert (await orders.get(order_id)).status == "pending"
    assert await log.read(database, order_id) == []


async def test_sequence_numbers_are_dense_when_many_write_at_once(
    orders: WorkOrders, database: Database
) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    texts = [AgentText(step="build", text=str(n)) for n in range(40)]
    await asyncio.gather(*(orders.emit(order_id, text, text) for text in texts))
    sequences = [stored.sequence for stored in await log.read(database, order_id)]
    assert sequences == list(range(1, 81))


async def test_an_id_is_given_to_one_order_only(orders: WorkOrders) -> None:
    first = an_order()
    await orders.create(first)
    with pytest.raises(Conflict, match=first.agent_work_order_id):
        await orders.create(an_order(agent_work_order_id=first.agent_work_order_id, title="Another"))
    assert (await orders.get(first.agent_work_order_id)).title == first.title


async def test_orders_are_found_by_every_filter(orders: WorkOrders) -> None:
    now = datetime.now(UTC)
    old = an_order(title="Old 100% thing", created_at=now - timedelta(days=2))
    new = an_order(repository_url="https://github.com/acme/other", workflow_type="agent_workflow_plan")
    for order in (old, new):
        await orders.create(order)
    await orders.change(new.agent_work_order_id, status="running")

    async def found(**wanted: object) -> list[str]:
        page, total = await orders.find(OrderFilter(**wanted))  # type: ignore[arg-type]
        assert total == len(page)
        return [order.agent_work_order_id for order in page]

    assert await found() == [new.agent_work_order_id, old.agent_work_order_id]
    assert await found(statuses=("running",)) == [new.agent_work_order_id]
    assert await found(repository_url="https://github.com/acme/other") == [new.agent_work_order_id]
    assert await found(workflow_type="agent_workflow_plan") == [new.agent_work_order_id]
    assert await found(text="100% THING") == [old.agent_work_order_id]
    assert await found(text="100_") == []
    assert await found(created_after=now - timedelta(days=1)) == [new.agent_work_order_id]
    assert await found(created_before=now - timedelta(days=1)) == [old.agent_work_order_id]


async def test_pages_follow_each_other_without_gap_or_overlap(orders: WorkOrders) -> None:
    for n in range(5):
        await orders.create(an_order(title=f"order {n}"))
    pages = [await orders.find(OrderFilter(), limit=2, offset=offset, sort="title") for offset in (0, 2, 4)]
    assert [order.title for page, _ in pages for order in page] == [f"order {n}" for n in range(5)]
    assert {total for _, total in pages} == {5}


async def test_usage_adds_up_on_step_and_order_and_unknown_cost_stays_unknown(orders: WorkOrders) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    record = StepRecord(
        agent_work_order_id=order_id,
        round=1,
        step="build",
        kind="build",
        status="running",
        attempts=1,
        started_at=datetime.now(UTC),
    )
    await orders.steps.save(record)
    await orders.usage.add(order_id, 1, "build", Usage(10, 2, 1, None))
    assert (await orders.get(order_id)).cost_usd is None
    await orders.usage.add(order_id, 1, "build", Usage(5, 1, 0, 0.25))
    await orders.steps.save(replace(record, status="completed", output={"x": 1}))
    order = await orders.get(order_id)
    [step] = await orders.steps.of_order(order_id)
    assert (order.tokens_in, order.tokens_out, order.tokens_cache_read, order.cost_usd) == (15, 3, 1, 0.25)
    assert (step.tokens_in, step.cost_usd, step.status, step.output) == (15, 0.25, "completed", {"x": 1})


async def test_evidence_of_the_same_attempt_is_replaced(orders: WorkOrders) -> None:
    order = an_order()
    await orders.create(order)
    record = Evidence(
        agent_work_order_id=order.agent_work_order_id,
        round=1,
        step="verify",
        attempt=1,
        commit_sha="a" * 40,
        passed=False,
        checks=[{"name": "pytest"}],
        summary="1 failed",
        created_at=datetime.now(UTC),
    )
    await orders.evidence.save(record)
    await orders.evidence.save(replace(record, passed=True), verification="passed")
    assert [one.passed for one in await orders.evidence.of_order(order.agent_work_order_id)] == [True]
    assert (await orders.get(order.agent_work_order_id)).verification == "passed"


async def test_no_secret_reaches_the_event_log(orders: WorkOrders, database: Database) -> None:
    order = an_order()
    await orders.create(order)
    await orders.emit(order.agent_work_order_id, AgentText(step="build", text="key: s3cret-token-value!"))
    [stored] = await log.read(database, order.agent_work_order_id)
    assert stored.event == AgentText(step="build", text="key: [redacted]!")


async def test_only_orders_that_are_not_at_their_end_are_unfinished(orders: WorkOrders) -> None:
    waiting, failed = an_order(), an_order()
    for order in (waiting, failed):
        await orders.create(order, WorkflowPhaseStarted(phase="planning"))
    await orders.change(failed.agent_work_order_id, status="failed")
    assert [o.agent_work_order_id for o in await orders.unfinished()] == [waiting.agent_work_order_id]


async def test_only_the_time_that_an_order_is_worked_on_counts(orders: WorkOrders) -> None:
    order = an_order()
    order_id = order.agent_work_order_id
    await orders.create(order)
    begun = await orders.change(order_id, status="running")
    assert begun.active_since is not None
    assert (await orders.change(order_id, status="running")).active_since == begun.active_since
    rests = await orders.change(order_id, status="awaiting_approval")
    assert rests.active_since is None
    assert rests.active_seconds == (rests.updated_at - begun.active_since).total_seconds()
    waits = await orders.change(order_id, status="pending")
    assert waits.active_seconds == rests.active_seconds
    again = await orders.change(order_id, status="running")
    ended = await orders.change(order_id, status="completed")
    assert again.active_since is not None
    passed = (ended.updated_at - again.active_since).total_seconds()
    assert ended.active_seconds == pytest.approx(rests.active_seconds + passed)


async def test_only_a_step_of_the_current_round_counts_as_begun(orders: WorkOrders) -> None:
    order = an_order(round=2)
    order_id = order.agent_work_order_id
    await orders.create(order)
    now = datetime.now(UTC)
    record = StepRecord(
        agent_work_order_id=order_id,
        round=2,
        step="build",
        kind="build",
        status="running",
        attempts=1,
        started_at=now,
    )
    await orders.steps.save(replace(record, round=1, status="completed", completed_at=now))
    assert await orders.steps.current(order_id, "build") is None
    await orders.steps.save(record)
    assert await orders.steps.current(order_id, "build") == record


async def test_a_decision_takes_the_place_of_its_question(orders: WorkOrders) -> None:
    approval = Approval(
        agent_work_order_id="wo-1",
        round=1,
        step="release",
        commit_sha="a" * 40,
        requested_at=datetime.now(UTC),
    )
    await orders.approvals.save(approval)
    await orders.approvals.save(replace(approval, decision="approved", comment="yes"))
    [known] = await orders.approvals.of_order("wo-1")
    assert (known.decision, known.comment) == ("approved", "yes")


async def test_a_change_is_decided_by_what_the_order_is_in_that_moment(orders: WorkOrders) -> None:
    order = an_order()
    await orders.create(order)
    await orders.change(order.agent_work_order_id, title="Meanwhile")

    def refuse(now: WorkOrder) -> DecidedChange:
        raise Conflict(f"it is called {now.title}")

    with pytest.raises(Conflict, match="Meanwhile"):
        await orders.change_with(order.agent_work_order_id, refuse)
    changed = await orders.change_with(
        order.agent_work_order_id, lambda now: ([], {"title": f"{now.title}, again"})
    )
    assert changed.title == "Meanwhile, again"
