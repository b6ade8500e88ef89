"""An attempt that outlived its own end leaves the order alone."""

from datetime import UTC, datetime

import pytest

from journeyman.engine.approvals import record_decision
from journeyman.engine.attempt import Attempt
from journeyman.engine.perform_step import begin_round
from journeyman.engine.resources import WorkerResources
from journeyman.work_orders.approvals import Approval
from journeyman.work_orders.order import WorkOrder
from tests.work_orders.orders import an_order


@pytest.mark.parametrize(
    "order",
    [
        an_order(attempt=2),
        an_order(round=2),
        an_order(status="paused"),
        an_order(status="cancelled"),
        an_order(status="awaiting_approval"),
    ],
    ids=["resumed", "later round", "paused", "cancelled", "waiting"],
)
async def test_an_attempt_that_is_over_begins_nothing(resources: WorkerResources, order: WorkOrder) -> None:
    await resources.orders.create(order)
    beginning = await begin_round(resources, Attempt(order.agent_work_order_id, 1, 1))
    assert beginning.status == "skipped"
    assert await resources.orders.get(order.agent_work_order_id) == order


async def test_a_decision_that_a_crash_kept_from_taking_effect_takes_it_when_repeated(
    resources: WorkerResources,
) -> None:
    order = an_order(status="awaiting_approval")
    await resources.orders.create(order)
    decided = Approval(
        agent_work_order_id=order.agent_work_order_id,
        round=1,
        step="release",
        commit_sha="a" * 40,
        decision="approved",
        requested_at=datetime.now(UTC),
    )
    await resources.orders.approvals.save(decided)
    changed = await record_decision(resources.orders, order.agent_work_order_id, "release", "approved", "")
    assert (changed.status, changed.attempt) == ("pending", 2)
    again = await record_decision(resources.orders, order.agent_work_order_id, "release", "approved", "")
    assert (again.status, again.attempt) == ("pending", 2)
