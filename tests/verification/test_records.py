"""What is kept of a verdict."""

import json

from journeyman.environments.plan import Check
from journeyman.verification import records
from journeyman.verification.counts import Counts
from journeyman.verification.faults.fault import EnvironmentFault
from journeyman.verification.run import CheckResult
from journeyman.verification.verdict import Verdict

PYTEST = Check(name="pytest", kind="test", command="python3 -m pytest", tool="pytest", why="x", probe="x")
RUFF = Check(name="ruff", kind="lint", command="ruff check .", tool="ruff", why="x", probe="x")
VERDICT = Verdict(
    True,
    (
        CheckResult(
            check=PYTEST,
            outcome="passed",
            summary="12 passed",
            counts=Counts(12, 0, 1),
            exit_code=0,
            duration_seconds=1.23456,
        ),
        CheckResult(check=RUFF, outcome="unavailable", summary="ruff is\nnot there"),
    ),
    "pytest: 12 passed",
)


def test_the_summary_is_one_line_that_names_every_check() -> None:
    assert records.summary(VERDICT) == "pytest: 12 passed; ruff: ruff is not there"
    assert records.summary(Verdict(None, (), "no tests and no build were found")) == (
        "no tests and no build were found"
    )


def test_the_record_binds_the_result_to_a_commit() -> None:
    record = json.loads(records.test_results(VERDICT, "abc123", 2, agent_work_order_id="wo-12345678"))
    assert (record["commit_sha"], record["attempt"], record["passed"]) == ("abc123", 2, True)
    assert record["checks"][0] == {
        "name": "pytest",
        "kind": "test",
        "command": "python3 -m pytest",
        "workdir": ".",
        "outcome": "passed",
        "summary": "12 passed",
        "tests": {"passed": 12, "failed": 0, "skipped": 1},
        "runner": None,
        "base": None,
        "was_failing": False,
        "new_failures": [],
        "still_failing": [],
        "old_failures": [],
        "fixed": [],
        "flaky": [],
        "removed": [],
        "newly_skipped": [],
        "faults": [],
        "exit_code": 0,
        "duration_seconds": 1.23,
        "failing": "",
    }


def test_the_record_is_the_same_text_every_time() -> None:
    first, second = (records.test_results(VERDICT, "a", 1, agent_work_order_id="wo-1") for _ in range(2))
    assert first == second
    assert first.startswith(b'{\n  "agent_work_order_id": "wo-1",\n  "commit_sha": "a"')
    assert first.endswith(b"}\n")


def test_a_verdict_that_shows_nothing_for_want_of_something_says_so_first() -> None:
    fault = EnvironmentFault(
        what="no pytest", remedy="Install it.", who="operator", command="pip install pytest"
    )
    lacks = CheckResult(check=PYTEST, outcome="environment", summary="no pytest", faults=(fault,))
    verdict = Verdict(None, (lacks,), "pytest: no pytest")
    assert records.summary(verdict) == "not verified: pytest: no pytest"
    assert records.as_dict(lacks)["faults"] == [
        {"what": "no pytest", "remedy": "Install it.", "who": "operator", "command": "pip install pytest"}
    ]


def test_records_of_earlier_versions_can_be_read() -> None:
    assert records.outcome_of({"name": "pytest", "status": "failed"}) == "failed"
    assert records.outcome_of({"name": "pytest", "outcome": "environment"}) == "environment"
