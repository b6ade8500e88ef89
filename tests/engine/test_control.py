"""Which steps are done again when an order is tried again."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from journeyman.engine.control import steps_to_redo, what_pauses
from journeyman.errors import Category
from journeyman.work_orders.order import StepRecord, StepStatus
from journeyman.workflows.loader import library
from journeyman.workflows.progress import Done

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


PAUSING: dict[Category, float] = {"budget": 0, "quota": 0, "transient": 301, "rate_limited": 301}
"""The categories that pause an order, with the seconds that the other side must have asked for."""


@pytest.mark.parametrize("category", get_args(Category))
@pytest.mark.parametrize("asked", [None, 300.0, 3600.0])
def test_what_is_not_the_orders_fault_pauses_it(category: Category, asked: float | None) -> None:
    end = Done(status="failed", error_category=category, retry_after=asked)
    expected = (asked or 0) >= PAUSING[category] if category in PAUSING else False
    assert (what_pauses([Done(status="completed"), end]) is end) is expected
