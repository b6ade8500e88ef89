"""Which steps are done again when an order is tried again."""

from datetime import UTC, datetime
from typing import Any

from journeyman.engine.control import steps_to_redo
from journeyman.work_orders.order import StepRecord, StepStatus
from journeyman.workflows.loader import library

WORKFLOW = library()["agent_workflow_plan_build_test"]


def record(step: str, status: StepStatus = "completed", **output: Any) -> StepRecord:
    return StepRecord(
        agent_work_order_id="wo-1",
        round=1,
        step=step,
        kind=step,
        status=status,
        attempts=1,
        started_at=datetime.now(UTC),
        output=output,
    )


def test_everything_after_the_step_that_failed_is_done_again() -> None:
    records = [record("plan"), record("draft"), record("build", "failed")]
    assert steps_to_redo(WORKFLOW, records) == {"build", "verify", "publish"}


def test_checks_that_did_not_pass_are_run_again() -> None:
    records = [record("plan"), record("draft"), record("build"), record("verify", verification="failed")]
    assert steps_to_redo(WORKFLOW, [*records, record("publish")]) == {"verify", "publish"}


def test_a_step_that_was_cut_off_is_done_again() -> None:
    assert "build" in steps_to_redo(WORKFLOW, [record("plan"), record("build", "running")])


def test_what_ended_well_is_not_done_again() -> None:
    done = [record(step.name) for step in WORKFLOW.steps]
    assert steps_to_redo(WORKFLOW, done) == set()
