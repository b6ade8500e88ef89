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


def evidence_of(
    check: dict[str, Any] | None = None, passed: bool | None = True, summary: str = "", **facts: Any
) -> Evidence:
    return Evidence(
        agent_work_order_id="wo-1",
        round=1,
        step="verify",
        attempt=1,
        commit_sha="a" * 40,
        passed=passed,
        checks=[check] if check else [],
        summary=summary,
        created_at=NOW,
        **facts,
    )


def body_of(evidence: Evidence, verification: Any = "passed") -> str:
    return pull_request_body(an_order(verification=verification), [], [evidence])


def test_what_could_not_be_verified_is_said_once() -> None:
    check = {"command": "pytest", "outcome": "environment", "summary": "no freezegun"}
    body = body_of(evidence_of(check, None, "not verified: pytest: no freezegun"), "none")
    assert "⚪ Not verified: pytest: no freezegun\n" in body
    assert "| pytest | – | environment | 0 | 0 | 0 | no freezegun |" in body.splitlines()


def test_a_summary_of_many_lines_stays_in_its_cell() -> None:
    check = {"command": "a | b", "status": "failed", "summary": "1 failed\n| x | y |\nsee above"}
    body = body_of(evidence_of(check, False, "1 failed"), "failed")
    assert "| a \\| b | – | failed | 0 | 0 | 0 | 1 failed \\| x \\| y \\| see above |" in body.splitlines()


def test_the_table_says_what_was_before_and_what_is_new() -> None:
    check = {
        "command": "pytest",
        "outcome": "failed",
        "summary": "9 passed",
        "base": {"outcome": "failed", "summary": "1 failed"},
        "new_failures": ["t::new"],
        "old_failures": ["t::old"],
        "fixed": ["t::a", "t::b"],
        "flaky": [],
    }
    body = body_of(evidence_of(check, False), "failed")
    assert "| pytest | failed | failed | 1 | 2 | 0 | 9 passed |" in body.splitlines()
    assert "New failures (1)</summary>\n\n- `t::new`" in body
    assert "Failed before the change, too (1)" in body


def test_a_test_id_of_markup_and_lines_stays_in_its_line() -> None:
    hostile = "t::x`\n</details><script>@ada|\n# heading " + "y" * 10_000
    check = {"command": "pytest", "outcome": "failed", "summary": "", "new_failures": [hostile]}
    body = body_of(evidence_of(check, False), "failed")
    (line,) = [one for one in body.splitlines() if "t::x" in one]
    assert line.startswith("- `t::x'")
    assert line.count("`") == 2
    assert len(line) < 500
    assert "<script>" not in body
    assert "@ada" not in body


def test_tests_that_fail_without_the_change_show_it() -> None:
    proofs = [
        {"test": "t::a", "on_base": "failed", "on_head": "passed"},
        {"test": "t::b", "on_base": "passed", "on_head": "passed"},
    ]
    body = body_of(evidence_of(red_to_green=proofs))
    assert "1 test fails without this change and passes with it:" in body
    assert "- `t::a`" in body
    assert "t::b" not in body


def test_tests_that_pass_without_the_change_are_said_to_show_nothing() -> None:
    body = body_of(evidence_of(red_to_green=[{"test": "t::b", "on_base": "passed", "on_head": "passed"}]))
    assert "they do not show it" in body


def test_what_a_change_touches_of_its_judges_is_listed_with_its_line() -> None:
    finding = {"kind": "test_skipped", "path": "tests/test_a.py", "lines": [3, 4], "detail": "skipped now"}
    body = body_of(evidence_of(tampering=[finding]))
    assert "⚠️ The change touches what judges it:\n- tests/test_a.py:3: skipped now" in body


def test_a_body_with_very_many_tests_stays_short() -> None:
    many = [f"tests/test_{n}.py::test_{n}" for n in range(5_000)]
    check = {"command": "pytest", "outcome": "failed", "summary": "", "new_failures": many, "fixed": many}
    body = body_of(evidence_of(check, False), "failed")
    assert "- and 4,990 more" in body
    assert len(body) < 4_000
