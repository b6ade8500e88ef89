"""What checks mean for a change: only what is new counts against it."""

from dataclasses import replace
from typing import Any

from journeyman.environments.plan import Check, CheckKind, CheckOutcome
from journeyman.verification.counts import Counts
from journeyman.verification.per_test import CaseResult, SuiteReport
from journeyman.verification.run import CheckResult
from journeyman.verification.verdict import (
    after_reruns,
    against_base,
    judge,
    single_outcomes,
    without_lost_tests,
)
from tests.verification.suites import id_of, ids, suite


def result(
    outcome: CheckOutcome, report: SuiteReport | None = None, kind: CheckKind = "test", **facts: Any
) -> CheckResult:
    check = Check(name=kind, kind=kind, command=f"make {kind}", tool="make", why="x", probe="true")
    counts = None
    if report is not None:
        outcomes = [one.outcome for one in report.tests]
        counts = Counts(*(outcomes.count(word) for word in ("passed", "failed", "skipped")))
    return CheckResult(check=check, outcome=outcome, summary=outcome, report=report, counts=counts, **facts)


def test_a_check_with_old_failures_only_has_passed_and_says_so() -> None:
    base, head = suite(a="failed", b="passed"), suite(a="failed", b="passed")
    read = against_base(result("failed", head), result("failed", base))
    assert (read.outcome, read.summary) == ("passed", "1 passed, 1 failed before the change, too")
    assert judge([read]).passed is True


def test_a_new_failure_fails_beside_old_ones() -> None:
    base, head = suite(a="failed", b="passed"), suite(a="failed", b="failed")
    read = against_base(result("failed", head), result("failed", base))
    assert read.outcome == "failed"
    assert read.summary == "0 passed, 1 new failure, 1 failed before the change, too"
    assert judge([read]).passed is False


def test_a_check_that_failed_before_without_single_results_shows_nothing() -> None:
    read = against_base(result("failed"), result("failed"))
    assert read.was_failing
    assert judge([read]).passed is None


def test_a_check_that_fails_only_now_fails_without_single_results_too() -> None:
    read = against_base(result("failed"), result("passed"))
    assert not read.was_failing
    assert judge([read]).passed is False


def test_a_failure_that_is_no_tests_failure_is_new_unless_it_was_there_before() -> None:
    """A threshold of coverage, or a linter before the tests."""
    passing = suite(a="passed")
    assert judge([against_base(result("failed", passing), result("passed", passing))]).passed is False
    assert judge([against_base(result("failed", passing), result("failed", passing))]).passed is None


def test_old_failures_do_not_excuse_a_run_that_broke_off() -> None:
    base, head = suite(a="failed", b="passed"), suite(is_complete=False, a="failed")
    read = against_base(result("failed", head), result("failed", base))
    assert judge([read]).passed is None


def test_a_base_that_shows_nothing_makes_every_failure_new() -> None:
    for base in (None, result("environment"), result("unavailable")):
        read = against_base(result("failed", suite(a="failed")), base)
        assert read.comparison is not None
        assert read.comparison.new_failures == ids("a")
        assert judge([read]).passed is False


def test_a_check_that_timed_out_before_too_shows_nothing() -> None:
    assert judge([against_base(result("timed_out"), result("timed_out"))]).passed is None
    assert judge([against_base(result("timed_out"), result("passed"))]).passed is False


def test_what_a_change_fixed_is_listed_in_a_passing_check() -> None:
    read = against_base(result("passed", suite(a="passed")), result("failed", suite(a="failed")))
    assert (read.outcome, read.summary) == ("passed", "1 passed, 1 fixed")


def test_a_check_whose_new_failures_are_all_flaky_does_not_fail() -> None:
    failed = against_base(
        result("failed", suite(a="failed", b="passed")), result("passed", suite(a="passed", b="passed"))
    )
    read = after_reruns(failed, ids("a"))
    assert (read.outcome, read.summary) == ("flaky", "1 passed, 1 flaky")
    assert judge([read]).passed is True


def test_a_flake_does_not_hide_a_failure() -> None:
    failed = against_base(result("failed", suite(a="failed", b="failed")), result("passed", suite()))
    read = after_reruns(failed, ids("a"))
    assert read.outcome == "failed"
    assert judge([read]).passed is False


def test_linters_do_not_decide() -> None:
    good = result("passed", suite(a="passed"))
    assert judge([good, result("failed", kind="lint")]).passed is True


def test_missing_environment_and_old_failures_never_make_a_verdict_good() -> None:
    good = result("passed", suite(a="passed"))
    assert judge([good, replace(result("failed", kind="build"), was_failing=True)]).passed is None
    assert judge([good, result("environment", kind="build")]).passed is None


def test_single_outcomes_tell_new_failures_from_the_rest() -> None:
    head = against_base(
        result("failed", suite(a="failed", b="failed", c="skipped")), result("failed", suite(b="failed"))
    )
    fine = single_outcomes([head, result("passed", kind="build"), result("failed", kind="lint")])
    assert fine == {
        f"test: {id_of('a')}": False,
        f"test: {id_of('b')}": True,
        f"test: {id_of('c')}": True,
        "build": True,
    }


def test_a_check_in_which_nothing_passes_has_failed_though_it_failed_before() -> None:
    read = against_base(result("failed", suite(a="failed")), result("failed", suite(a="failed")))
    assert judge([read]).passed is False


def test_an_old_failure_that_the_task_names_fails_the_check() -> None:
    both = suite(a="failed", b="passed")
    read = against_base(result("failed", both), result("failed", both), task=f"Make {id_of('a')} pass")
    assert read.summary == "1 passed, 1 still failing"
    assert judge([read]).passed is False


def test_a_pass_without_the_report_that_the_base_wrote_shows_nothing() -> None:
    read = against_base(result("passed"), result("passed", suite(a="passed")))
    assert (read.outcome, judge([read]).passed) == ("unavailable", None)
    assert judge([read, result("passed", suite(b="passed"))]).passed is None


def test_tests_that_vanish_are_no_pass_beside_others() -> None:
    gone = against_base(result("unavailable"), result("passed", suite(a="passed")))
    assert judge([gone, result("passed", suite(b="passed"))]).passed is None
    never = against_base(result("unavailable"), result("unavailable"))
    assert judge([never, result("passed", suite(b="passed"))]).passed is True


def in_files(**files: str) -> SuiteReport:
    cases = tuple(CaseResult(test_id=name, outcome="passed", file=file) for name, file in files.items())
    return SuiteReport(runner="node:test", tests=cases, is_complete=True)


def test_tests_of_untouched_files_that_vanish_show_nothing() -> None:
    """Code that ends its process early leaves a runner content."""
    before, after = in_files(a="a.js", b="b.js"), in_files(b="b.js")
    read = against_base(result("passed", after), result("passed", before))
    assert judge([without_lost_tests(read, {"calc.js"})]).passed is None
    assert judge([without_lost_tests(read, {"a.js"})]).passed is True


def test_fewer_cases_of_a_test_that_still_runs_are_honest() -> None:
    before = SuiteReport(
        runner="pytest",
        is_complete=True,
        tests=tuple(CaseResult(test_id=f"t.py::a[{n}]", outcome="passed", file="t.py") for n in range(3)),
    )
    after = replace(before, tests=before.tests[:2])
    read = against_base(result("passed", after), result("passed", before))
    assert judge([without_lost_tests(read, {"calc.py"})]).passed is True
