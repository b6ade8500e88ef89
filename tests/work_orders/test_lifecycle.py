"""How orders move and rounds end."""

import pytest

from journeyman.errors import Conflict
from journeyman.work_orders.lifecycle import StepEnd, advance, conclude
from journeyman.work_orders.order import Status


def test_a_finished_order_cannot_run_without_being_asked_again() -> None:
    with pytest.raises(Conflict, match="completed cannot become running"):
        advance("completed", "running")


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_finished_order_can_wait_for_another_round(status: Status) -> None:
    assert advance(status, "pending") == "pending"


def test_a_round_without_failures_completes() -> None:
    conclusion = conclude([StepEnd("build", "build", "completed")])
    assert (conclusion.status, conclusion.verification) == ("completed", "none")


def test_a_round_whose_checks_passed_says_so() -> None:
    conclusion = conclude([StepEnd("verify", "verify", "completed", verification="passed")])
    assert (conclusion.status, conclusion.verification) == ("completed", "passed")


def test_failed_checks_fail_the_round_even_when_every_step_ended_well() -> None:
    conclusion = conclude(
        [
            StepEnd("verify", "verify", "completed", verification="failed", error_message="pytest: 1 failed"),
            StepEnd("publish", "open_pull_request", "completed"),
        ]
    )
    assert conclusion.status == "failed"
    assert conclusion.verification == "failed"
    assert conclusion.error_category == "verification"
    assert conclusion.error_message == "pytest: 1 failed"


def test_the_last_verdict_counts() -> None:
    conclusion = conclude(
        [
            StepEnd("first", "verify", "completed", verification="failed"),
            StepEnd("second", "verify", "completed", verification="passed"),
        ]
    )
    assert conclusion.status == "completed"


def test_a_failed_step_names_itself_and_its_category() -> None:
    broken = StepEnd("build", "build", "failed", error_message="no answer", error_category="agent")
    conclusion = conclude([broken])
    assert conclusion.status == "failed"
    assert conclusion.error_message == "step build: no answer"
    assert conclusion.error_category == "agent"


def test_a_failed_step_that_does_not_stop_the_round_does_not_fail_it() -> None:
    broken = StepEnd("draft", "open_pull_request", "failed", stops_round=False)
    assert conclude([broken]).status == "completed"
