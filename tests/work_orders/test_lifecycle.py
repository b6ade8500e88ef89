"""How orders move and rounds end."""

from typing import get_args

import pytest

from journeyman.errors import Conflict
from journeyman.work_orders.lifecycle import (
    Action,
    StepEnd,
    advance,
    allowed_actions,
    conclude,
    pull_request_actions,
    statuses_allowing,
    verification_of_head,
)
from journeyman.work_orders.order import PullRequestState, Status, Verification
from tests.verification.evidences import an_evidence
from tests.work_orders.orders import an_order


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


ALLOWED: dict[Status, set[Action]] = {
    "pending": {"pause", "cancel", "approve", "prompt", "fork", "change_model"},
    "running": {"pause", "cancel", "approve", "prompt", "fork"},
    "paused": {"resume", "cancel", "approve", "prompt", "fork", "change_model"},
    "awaiting_approval": {"cancel", "approve", "prompt", "fork", "change_model"},
    "completed": {"retry_from_step", "prompt", "fork", "change_model"},
    "failed": {"retry", "retry_from_step", "prompt", "fork", "change_model"},
    "cancelled": {"retry", "retry_from_step", "prompt", "fork", "change_model"},
}


@pytest.mark.parametrize("status", get_args(Status))
def test_each_status_allows_its_actions_and_no_others(status: Status) -> None:
    actions = allowed_actions(an_order(status=status))
    assert len(actions) == len(set(actions))
    assert set(actions) == ALLOWED[status]


@pytest.mark.parametrize(
    ("state", "is_local", "expected"),
    [
        ("draft", True, ["mark_ready"]),
        ("draft", False, ["mark_ready"]),
        ("open", True, ["merge"]),
        ("open", False, []),
        ("closed", True, []),
        ("merged", True, []),
    ],
)
def test_a_pull_request_is_made_ready_and_then_merged_where_it_is_kept(
    state: PullRequestState, is_local: bool, expected: list[Action]
) -> None:
    url = "file:///code/thing" if is_local else "https://github.com/acme/thing"
    order = an_order(
        status="completed", repository_url=url, github_pull_request_number=7, pull_request_state=state
    )
    assert pull_request_actions(state, is_local=is_local) == expected
    assert [one for one in allowed_actions(order) if one in ("mark_ready", "merge")] == expected


def test_an_order_without_a_pull_request_has_none_to_merge() -> None:
    assert set(allowed_actions(an_order(status="completed"))) == ALLOWED["completed"]


@pytest.mark.parametrize(
    ("action", "to"),
    [("pause", "paused"), ("cancel", "cancelled"), ("resume", "pending"), ("retry", "pending")],
)
def test_an_action_that_is_allowed_leads_to_a_status_that_may_follow(action: Action, to: Status) -> None:
    for status in statuses_allowing(action):
        assert advance(status, to) == to


_OWN = ".journeyman/wo-1a2b3c4d/test_results.json"


@pytest.mark.parametrize(
    ("claimed", "passed", "changed", "counts_as"),
    [
        ("passed", True, [], "passed"),
        ("passed", True, [_OWN], "passed"),
        ("passed", True, [_OWN, "adder.py"], "outdated"),
        ("passed", True, [".journeyman/wo-other000/plan.md"], "outdated"),
        ("passed", True, [".journeyman/environment.yaml"], "outdated"),
        ("passed", False, [], "none"),
        ("passed", None, [], "none"),
        ("failed", False, [], "failed"),
        ("failed", False, ["adder.py"], "outdated"),
        ("none", None, ["adder.py"], "none"),
        ("outdated", True, [], "outdated"),
    ],
)
def test_a_verdict_counts_for_the_commit_that_was_checked_and_no_other(
    claimed: Verification, passed: bool | None, changed: list[str], counts_as: Verification
) -> None:
    assert verification_of_head(claimed, an_evidence(passed=passed), changed) == counts_as


@pytest.mark.parametrize("claimed", ["passed", "failed"])
def test_a_verdict_without_evidence_counts_for_nothing(claimed: Verification) -> None:
    assert verification_of_head(claimed, None, []) == "none"
