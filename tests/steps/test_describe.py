"""What a pull request says of an order's work."""

from datetime import UTC, datetime
from typing import Any

from journeyman.steps.describe import pull_request_body
from journeyman.work_orders.order import Evidence, StepRecord
from tests.work_orders.orders import an_order

NOW = datetime.now(UTC)
PLAN = {"reasoning": "It subtracts.", "subtasks": [{"title": "Add", "instructions": "Do."}], "planned": True}


def record(round: int, kind: str, output: dict[str, Any]) -> StepRecord:
    return StepRecord(
        agent_work_order_id="wo-1",
        round=round,
        step=kind,
        kind=kind,
        status="completed",
        attempts=1,
        started_at=NOW,
        output=output,
    )


def test_the_plan_and_what_agents_said_stay_through_later_rounds() -> None:
    steps = [
        record(1, "plan", PLAN),
        record(1, "build", {"summary": "It adds now."}),
        record(2, "build", {"summary": "You are welcome, @ada.", "changed": False}),
        record(3, "build", {"summary": "Negative numbers too.", "changed": True}),
    ]
    body = pull_request_body(an_order(round=3), steps, [])
    assert "It subtracts." in body
    assert "> It adds now.\n\n> Negative numbers too." in body
    assert "welcome" not in body


def evidence_of(check: dict[str, Any], passed: bool | None, summary: str) -> Evidence:
    return Evidence(
        agent_work_order_id="wo-1",
        round=1,
        step="verify",
        attempt=1,
        commit_sha="a" * 40,
        passed=passed,
        checks=[check],
        summary=summary,
        created_at=NOW,
    )


def test_what_could_not_be_verified_is_said_once() -> None:
    check = {"command": "pytest", "outcome": "environment", "summary": "no freezegun"}
    evidence = evidence_of(check, None, "not verified: pytest: no freezegun")
    body = pull_request_body(an_order(verification="none"), [], [evidence])
    assert "⚪ Not verified: pytest: no freezegun\n" in body
    assert "| pytest | environment | no freezegun |" in body.splitlines()


def test_a_summary_of_many_lines_stays_in_its_cell() -> None:
    check = {"command": "a | b", "status": "failed", "summary": "1 failed\n| x | y |\nsee above"}
    evidence = evidence_of(check, False, "1 failed")
    body = pull_request_body(an_order(verification="failed"), [], [evidence])
    assert "| a \\| b | failed | 1 failed \\| x \\| y \\| see above |" in body.splitlines()
