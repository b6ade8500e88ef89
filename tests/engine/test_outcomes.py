"""Step records are the only memory of what a round has done: a second reading answers from them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from journeyman.engine.approvals import Siblings
from journeyman.engine.attempt import Attempt
from journeyman.engine.perform_step import begin_round, perform
from journeyman.engine.resources import WorkerResources
from journeyman.engine.transitions import requeue
from journeyman.errors import Superseded
from journeyman.events.log import read_all
from journeyman.events.types import AgentNotice
from journeyman.work_orders.order import StepRecord, WorkOrder
from journeyman.workflows.progress import Done, Run, Skip
from journeyman.workflows.schema import StepSpec
from tests.journeys.repositories import make_repository
from tests.work_orders.orders import an_order

LINT = StepSpec(name="lint", kind="shell", command="false")


async def make(resources: WorkerResources, **fields: object) -> WorkOrder:
    order = an_order(**fields)
    await resources.orders.create(order, AgentNotice(step="", text="accepted"))
    return order


def a_record(order: WorkOrder, status: str) -> StepRecord:
    now = datetime.now(UTC)
    return StepRecord(
        agent_work_order_id=order.agent_work_order_id,
        round=1,
        step="lint",
        kind="shell",
        status=status,  # type: ignore[arg-type]
        attempts=1,
        started_at=now,
        completed_at=now,
        output={"exit_code": 1} if status == "failed" else None,
        error_message="the forge is busy" if status == "failed" else None,
        error_category="rate_limited" if status == "failed" else None,
        error_hint="Wait." if status == "failed" else None,
        retry_after=90.0 if status == "failed" else None,
    )


async def test_a_step_that_failed_answers_with_all_of_its_outcome(resources: WorkerResources) -> None:
    order = await make(resources, status="running")
    order_id = order.agent_work_order_id
    await resources.orders.steps.save(a_record(order, "failed"))
    before = await read_all(resources.orders.database, order_id)
    end = await perform(resources, order_id, Run(LINT), {}, Siblings(["lint"]))
    assert end == Done(
        kind="shell",
        status="failed",
        output={"exit_code": 1},
        error_message="the forge is busy",
        error_category="rate_limited",
        hint="Wait.",
        retry_after=90.0,
    )
    assert await read_all(resources.orders.database, order_id) == before


async def test_a_step_that_was_skipped_stays_so_for_the_whole_attempt(resources: WorkerResources) -> None:
    order = await make(resources, status="running")
    order_id, siblings = order.agent_work_order_id, Siblings(["lint"])
    first = await perform(resources, order_id, Skip(LINT, "nothing to lint"), {}, siblings)
    told = await read_all(resources.orders.database, order_id)
    assert await perform(resources, order_id, Run(LINT), {}, siblings) == first
    assert await read_all(resources.orders.database, order_id) == told


@pytest.mark.parametrize("status", ["failed", "skipped"])
async def test_the_next_attempt_asks_anew_about_what_was_not_completed(
    resources: WorkerResources, status: str
) -> None:
    workflow = {"name": "own", "description": "", "steps": [LINT.model_dump(mode="json")]}
    order = await make(resources, status="paused", workflow=workflow)
    await resources.orders.steps.save(a_record(order, status))
    await requeue(resources.orders, order.agent_work_order_id, after="pause")
    [record] = await resources.orders.steps.of_order(order.agent_work_order_id)
    assert record.status == "waiting"


async def test_what_is_prepared_is_remembered_by_the_claim_it_was_prepared_under(
    resources: WorkerResources, tmp_path: Path
) -> None:
    """A restart of the same worker does not ask the remote again; another claim prepares anew."""
    repository = make_repository(tmp_path / "adder")
    order = await make(resources, repository_url=str(repository), base_branch=None)
    order_id = order.agent_work_order_id
    await resources.claims.claim("worker-1", places=1)
    attempt = Attempt(order_id, 1, 1)
    first = resources.held_by(await resources.claims.holder(attempt, "worker-1"))
    prepared = await begin_round(first, attempt)
    assert prepared.status == "completed"
    assert await resources.orders.steps.of_order(order_id) == [], "it is shown to nobody"
    repository.rename(tmp_path / "away")
    restarted = resources.held_by(await resources.claims.holder(attempt, "worker-1"))
    assert await begin_round(restarted, attempt) == prepared
    [held] = await resources.claims.held_by("worker-1")
    await resources.claims.reclaim(held, "it gave no sign of life")
    await resources.claims.claim("worker-1", places=1)
    again = resources.held_by(await resources.claims.holder(attempt, "worker-1"))
    assert (await begin_round(again, attempt)).status == "failed"
    with pytest.raises(Superseded):
        await begin_round(first, attempt)
