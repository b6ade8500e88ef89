"""New failures are run again, within bounds, and what passes once is flaky."""

from typing import Any

from journeyman.environments.plan import Check
from journeyman.steps.flakes import rerun_new_failures
from journeyman.verification.compare import compare
from journeyman.verification.per_test import CaseResult, SuiteReport
from journeyman.verification.run import CheckResult

CHECK = Check(name="pytest", kind="test", command="pytest", tool="pytest", why="x", probe="true")
A, B, C = "t.py::a", "t.py::b", "u.py::c"


def report(**outcomes: str) -> SuiteReport:
    names = {"a": A, "b": B, "c": C}
    tests = tuple(
        CaseResult(test_id=names.get(name, f"v.py::{name}"), outcome=outcome)  # type: ignore[arg-type]
        for name, outcome in outcomes.items()
    )
    return SuiteReport(runner="pytest", tests=tests, is_complete=True)


def failed(seconds: float = 1.0, **outcomes: str) -> CheckResult:
    head = report(**outcomes)
    return CheckResult(
        check=CHECK,
        outcome="failed",
        summary="failed",
        report=head,
        comparison=compare(report(), head),
        duration_seconds=seconds,
    )


class Runner:
    """Answers each run with the tests that pass in it, and remembers what was asked."""

    def __init__(self, *passes: set[str]) -> None:
        self.passes = list(passes)
        self.asked: list[tuple[str, ...]] = []

    async def __call__(self, check: Check, tests: tuple[str, ...]) -> CheckResult:
        self.asked.append(tests)
        passing = self.passes.pop(0) if self.passes else set()
        ran = tests or (A, B, C)
        cases = tuple(
            CaseResult(test_id=test, outcome="passed" if test in passing else "failed") for test in ran
        )
        made = SuiteReport(runner="pytest", tests=cases, is_complete=True)
        return CheckResult(check=check, outcome="failed", summary="", report=made)


async def test_a_failure_that_passes_alone_is_flaky() -> None:
    runner = Runner({A})
    found = await rerun_new_failures(CHECK, failed(a="failed", b="passed"), runner, can_select=True)
    assert found.comparison is not None
    assert (found.outcome, found.comparison.flaky) == ("flaky", (A,))
    assert runner.asked == [(A,)]


async def test_a_failure_that_passes_only_with_its_file_is_flaky() -> None:
    runner = Runner(set(), {A})
    found = await rerun_new_failures(
        CHECK, failed(a="failed", b="passed", c="passed"), runner, can_select=True
    )
    assert found.outcome == "flaky"
    assert runner.asked == [(A,), (A, B)]


async def test_a_failure_that_never_passes_stays_one() -> None:
    runner = Runner()
    found = await rerun_new_failures(CHECK, failed(a="failed"), runner, can_select=True)
    assert found.outcome == "failed"
    assert len(runner.asked) == 2


async def test_many_new_failures_are_a_broken_change() -> None:
    runner = Runner()
    many: dict[str, Any] = {f"x{number}": "failed" for number in range(11)}
    assert (await rerun_new_failures(CHECK, failed(**many), runner, can_select=True)).outcome == "failed"
    assert runner.asked == []


async def test_a_test_that_a_person_trusts_is_not_run_again() -> None:
    runner = Runner({A})
    found = await rerun_new_failures(CHECK, failed(a="failed"), runner, can_select=True, trusted={A})
    assert (found.outcome, runner.asked) == ("failed", [])


async def test_a_runner_that_cannot_choose_runs_all_again_where_that_is_short() -> None:
    runner = Runner({A})
    assert (await rerun_new_failures(CHECK, failed(a="failed"), runner, can_select=False)).outcome == "flaky"
    assert runner.asked == [()]
    long = failed(seconds=121, a="failed")
    assert (await rerun_new_failures(CHECK, long, Runner({A}), can_select=False)).outcome == "failed"
