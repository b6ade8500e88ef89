"""What a person's decision on a step is worth while the branch moves on."""

import asyncio
from pathlib import Path

import pytest

from journeyman.engine.approvals import Siblings, apply_decisions, approved, record_decision
from journeyman.engine.resources import WorkerResources
from journeyman.engine.transitions import suspend
from journeyman.errors import Conflict, NotAllowed
from journeyman.git.commits import CommitMessage
from journeyman.work_orders.order import WorkOrder
from journeyman.workflows.loader import load_workflow
from tests.git.repositories import ADA, make_repository
from tests.work_orders.orders import an_order

WORKFLOW = load_workflow(
    """name: gated
steps:
  - {name: build, kind: build}
  - {name: beside, kind: shell, command: ls}
  - {name: gate, kind: shell, depends_on: [build], requires_approval: true, command: ls}
""",
    "gated.yaml",
)
GATE = WORKFLOW.steps[-1]


@pytest.fixture
async def order(resources: WorkerResources, tmp_path: Path) -> WorkOrder:
    """An order under way, of which a step waits for a person."""
    order = an_order(
        repository_url=make_repository(tmp_path / "source").as_uri(),
        workflow=WORKFLOW.model_dump(mode="json"),
        status="running",
    )
    await resources.orders.create(order)
    await resources.checkout.prepare(order)
    order = await resources.orders.get(order.agent_work_order_id)
    assert not await may_run(resources, order)
    return order


async def commit(resources: WorkerResources, order: WorkOrder, step: str) -> None:
    _, workspace = await resources.checkout.prepare(order)
    (workspace.tree / f"{step}.txt").write_text("new\n")
    order_id = order.agent_work_order_id
    message = CommitMessage(
        subject=step, order_id=order_id, phase="implementing", step=step, round=order.round
    )
    assert await workspace.commit(message, author=ADA)


async def may_run(resources: WorkerResources, order: WorkOrder) -> bool:
    return await approved(resources.orders, await resources.workspaces.open(order), order, GATE)


async def decisions(resources: WorkerResources, order: WorkOrder) -> list[str]:
    return [one.decision for one in await resources.orders.approvals.of_order(order.agent_work_order_id)]


async def test_a_decision_is_taken_while_the_order_is_under_way(
    resources: WorkerResources, order: WorkOrder
) -> None:
    decided = await record_decision(resources.orders, order.agent_work_order_id, "gate", "approved", "")
    assert (decided.status, decided.attempt) == ("running", 1)
    assert await may_run(resources, order)


async def test_work_beside_the_step_changes_nothing_about_the_answer(
    resources: WorkerResources, order: WorkOrder
) -> None:
    await record_decision(resources.orders, order.agent_work_order_id, "gate", "rejected", "no")
    await commit(resources, order, "beside")
    with pytest.raises(NotAllowed, match="no"):
        await may_run(resources, order)
    assert await decisions(resources, order) == ["rejected"]


async def test_work_before_the_step_that_is_done_again_asks_again(
    resources: WorkerResources, order: WorkOrder
) -> None:
    await record_decision(resources.orders, order.agent_work_order_id, "gate", "approved", "")
    await commit(resources, order, "build")
    assert not await may_run(resources, order)
    assert await decisions(resources, order) == ["approved", "waiting"]


async def test_what_is_sent_back_while_others_work_waits_for_them(
    resources: WorkerResources, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    await record_decision(resources.orders, order_id, "gate", "rework", "with sum()")
    assert not await may_run(resources, order)
    assert await decisions(resources, order) == ["rework"], "it is not asked again before that was done"
    await suspend(resources.orders, resources.teardown, order_id, "awaiting_approval")
    await apply_decisions(resources.orders, order_id, ["gate"])
    again = await resources.orders.get(order_id)
    assert (again.status, again.redo_after_sha) == ("pending", again.base_commit_sha)
    assert not await may_run(resources, again)
    assert await decisions(resources, order) == ["waiting"]


async def test_a_decision_that_came_while_the_order_went_to_rest_takes_effect(
    resources: WorkerResources, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    await record_decision(resources.orders, order_id, "gate", "approved", "")
    await suspend(resources.orders, resources.teardown, order_id, "awaiting_approval")
    await apply_decisions(resources.orders, order_id, ["gate"])
    assert (await resources.orders.get(order_id)).status == "pending"


async def test_an_order_that_has_ended_asks_nobody(resources: WorkerResources, order: WorkOrder) -> None:
    await resources.orders.change(order.agent_work_order_id, status="failed")
    with pytest.raises(Conflict, match="it is failed"):
        await record_decision(resources.orders, order.agent_work_order_id, "gate", "approved", "")


async def test_a_question_is_open_while_another_step_is_at_work() -> None:
    siblings = Siblings(["gate", "work"])
    siblings.rests("gate")
    waiting = asyncio.create_task(siblings.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    siblings.rests("work")
    assert await waiting is False
