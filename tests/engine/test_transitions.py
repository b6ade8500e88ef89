"""Which steps are done again when an order is tried again."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from journeyman.engine.transitions import pauses_in_a_row, steps_to_redo, what_pauses, with_retry
from journeyman.errors import Category
from journeyman.events.types import (
    AgentWorkOrderPaused,
    AgentWorkOrderResumed,
    Event,
    PromptStarted,
    StepCompleted,
    StoredEvent,
)
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


PAUSED = AgentWorkOrderPaused(error_category="transient")


def stored(*events: Event) -> list[StoredEvent]:
    now = datetime.now(UTC)
    return [
        StoredEvent(agent_work_order_id="wo-1a2b3c4d", sequence=number, timestamp=now, event=event)
        for number, event in enumerate(events, 1)
    ]


PAUSING = ("budget", "quota", "environment", "approval", "transient", "rate_limited")


@pytest.mark.parametrize("category", get_args(Category))
@pytest.mark.parametrize("asked", [None, 300.0, 3600.0])
def test_what_is_not_the_orders_fault_pauses_it(category: Category, asked: float | None) -> None:
    end = Done(status="failed", error_category=category, retry_after=asked)
    assert (what_pauses([Done(status="completed"), end]) is end) is (category in PAUSING)


@pytest.mark.parametrize(
    ("number", "asked", "expected"),
    [(1, None, 60), (2, None, 120), (1, 600.0, 600), (9, None, 3600), (24, None, 3600), (25, 600.0, None)],
)
def test_a_fault_that_stays_is_tried_again_after_longer_and_longer_pauses(
    number: int, asked: float | None, expected: float | None
) -> None:
    end = Done(status="failed", error_category="transient", retry_after=asked, hint="Tried again.")
    paused = with_retry(end, stored(*[PAUSED] * (number - 1)))
    assert paused.retry_after == expected
    assert (paused.hint == "Tried again.") is (expected is not None)


def test_a_used_up_quota_waits_for_what_the_provider_said_and_else_for_a_person() -> None:
    for asked in (None, 4000.0):
        end = Done(status="failed", error_category="quota", retry_after=asked)
        assert with_retry(end, stored()).retry_after == asked


def test_only_pauses_since_the_order_last_got_anywhere_make_the_next_one_longer() -> None:
    by_hand = AgentWorkOrderPaused()
    ended = StepCompleted(step="build", kind="build", duration_seconds=1.0, output={})
    asked = PromptStarted(number=1, round=2)
    assert pauses_in_a_row(stored(PAUSED, PAUSED, by_hand, AgentWorkOrderResumed())) == 2
    assert pauses_in_a_row(stored(*[PAUSED] * 30, ended, PAUSED)) == 1
    assert pauses_in_a_row(stored(*[PAUSED] * 30, asked)) == 0
