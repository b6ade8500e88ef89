"""What an agent is given to repair."""

from journeyman.environments.plan import Check
from journeyman.verification.compare import Comparison
from journeyman.verification.failure_report import describe_failures, failure_signature
from journeyman.verification.per_test import CaseResult, SuiteReport
from journeyman.verification.run import CheckResult

CHECK = Check(name="pytest", kind="test", command="pytest", tool="pytest", why="x", probe="true")


def failed(*tests: str, failing: str = "", old: tuple[str, ...] = ()) -> CheckResult:
    cases = tuple(CaseResult(test_id=test, outcome="failed", message=f"{test} is wrong") for test in tests)
    return CheckResult(
        check=CHECK,
        outcome="failed",
        summary="failed",
        report=SuiteReport(runner="pytest", tests=cases, is_complete=True),
        comparison=Comparison(new_failures=tests, old_failures=old),
        failing=failing,
    )


def test_the_agent_gets_ids_messages_and_its_own_change() -> None:
    text = describe_failures([failed("t.py::a")], diff="+x = 1")
    assert text.startswith("$ pytest\nFAILED t.py::a: t.py::a is wrong")
    assert text.endswith("The change since the base commit:\n+x = 1")


def test_frames_of_installed_packages_are_left_out() -> None:
    lines = "app.py:3: in add\n.venv/lib/python3.11/site-packages/x/y.py:9: in z\nE   TypeError"
    text = describe_failures([failed("t.py::a", failing=lines)])
    assert "site-packages" not in text
    assert "app.py:3: in add\nE   TypeError" in text


def test_old_failures_are_named_as_not_to_be_repaired() -> None:
    text = describe_failures([failed("t.py::a", old=("t.py::old",))])
    assert "not yours to repair: t.py::old" in text


def test_very_many_failures_are_cut() -> None:
    text = describe_failures([failed(*(f"t.py::{number}" for number in range(1000)))], diff="d" * 10**6)
    assert "and 980 more" in text
    assert len(text) < 60_000


def test_the_same_failing_tests_are_the_same_failure_whatever_they_print() -> None:
    first, second = failed("t.py::a", failing="took 1.2 s"), failed("t.py::a", failing="took 9 s at 0xff")
    assert failure_signature([first]) == failure_signature([second])
    assert failure_signature([first]) != failure_signature([failed("t.py::b", failing="took 1.2 s")])
