"""What checks printed comes back byte for byte, and a repeated attempt replaces its own."""

from dataclasses import replace

import pytest

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.errors import Superseded
from journeyman.events.feed import Feed
from journeyman.events.types import WorkflowPhaseStarted
from journeyman.work_orders.order import CheckOutput
from journeyman.work_orders.store import WorkOrders
from tests.verification.evidences import an_evidence
from tests.work_orders.orders import an_order

EVIDENCE = an_evidence()
LONG = CheckOutput(
    check_name="pytest",
    output=b"\xff\x00 every byte\n" * 100_000,
    truncated=True,
    results=[{"test_id": "a\ud800", "outcome": "passed"}],
)


@pytest.fixture
async def orders(database: Database) -> WorkOrders:
    orders = WorkOrders(database, Feed(database), Redactor([]))
    order = an_order(agent_work_order_id=EVIDENCE.agent_work_order_id)
    await orders.create(order, WorkflowPhaseStarted(phase="testing"))
    return orders


async def test_an_output_comes_back_byte_for_byte(orders: WorkOrders) -> None:
    await orders.check_outputs.save(EVIDENCE, [LONG, replace(LONG, check_name="ruff", results=None)])
    assert await orders.check_outputs.find(EVIDENCE, "pytest") == LONG
    assert await orders.check_outputs.find(EVIDENCE, "mypy") is None
    assert await orders.check_outputs.find(replace(EVIDENCE, attempt=2), "pytest") is None


async def test_a_repeated_attempt_replaces_its_outputs_and_no_others(orders: WorkOrders) -> None:
    first, second = EVIDENCE, replace(EVIDENCE, attempt=2)
    await orders.check_outputs.save(first, [LONG])
    await orders.check_outputs.save(second, [LONG])
    await orders.check_outputs.save(second, [CheckOutput(check_name="ruff", output=b"")])
    assert await orders.check_outputs.find(first, "pytest") == LONG
    assert await orders.check_outputs.find(second, "pytest") is None


async def test_a_worker_that_lost_the_order_keeps_nothing(orders: WorkOrders) -> None:
    with pytest.raises(Superseded):
        await orders.held_by("another worker").check_outputs.save(EVIDENCE, [LONG])
    assert await orders.check_outputs.find(EVIDENCE, "pytest") is None
