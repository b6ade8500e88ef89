"""Whether the tests of a change show it, and what its old tests say of the new code."""

from journeyman.verification.per_test import CaseResult, SuiteReport
from journeyman.verification.red_to_green import (
    RedToGreen,
    broken_old_tests,
    changed_cases,
    red_to_green,
    seconds_for,
)
from tests.verification.suites import id_of, ids, suite


def test_a_new_test_that_fails_on_the_old_code_shows_the_change() -> None:
    proofs = red_to_green(ids("a"), suite(a="passed"), suite(a="failed"), suite())
    assert proofs == (RedToGreen(test=id_of("a"), on_base="failed", on_head="passed"),)
    assert proofs[0].shows_the_change


def test_a_new_test_that_passes_on_the_old_code_shows_nothing_and_is_listed() -> None:
    (proof,) = red_to_green(ids("a"), suite(a="passed"), suite(a="passed"), suite())
    assert (proof.on_base, proof.shows_the_change) == ("passed", False)


def test_a_test_that_cannot_even_be_collected_on_the_old_code_shows_the_change() -> None:
    (proof,) = red_to_green(ids("a"), suite(a="passed"), suite(), suite())
    assert (proof.on_base, proof.shows_the_change) == ("not_run", True)


def test_an_unchanged_test_in_an_edited_file_is_not_listed() -> None:
    assert red_to_green(ids("a"), suite(a="passed"), suite(a="passed"), suite(a="passed")) == ()


def test_a_test_that_fails_on_both_sides_shows_nothing() -> None:
    (proof,) = red_to_green(ids("a"), suite(a="failed"), suite(a="failed"), suite())
    assert not proof.shows_the_change


def test_old_tests_that_passed_and_fail_on_the_new_code_are_named() -> None:
    baseline = suite(a="passed", b="passed", c="failed")
    assert broken_old_tests(baseline, suite(a="failed", b="passed", c="failed", d="failed")) == ids("a")


def test_a_test_belongs_to_the_file_that_its_runner_names_or_its_id_begins_with() -> None:
    report = SuiteReport(
        runner="vitest",
        is_complete=True,
        tests=(
            CaseResult(test_id="adds > zero", outcome="passed", file="src/add.test.ts"),
            CaseResult(test_id="src/sub.test.ts > zero", outcome="passed"),
            CaseResult(test_id="tests/test_a.py::test_a[x::y]", outcome="passed"),
        ),
    )
    files = {"src/add.test.ts", "src/sub.test.ts", "tests/test_a.py"}
    assert changed_cases(files, report, report) == tuple(one.test_id for one in report.tests)
    assert changed_cases({"elsewhere.py"}, report, report) == ()


def test_a_test_that_the_baseline_does_not_have_is_one_of_the_change() -> None:
    assert changed_cases((), suite(a="passed", b="passed"), suite(a="passed")) == ids("b")


def test_a_slow_test_gets_more_time_on_the_old_code() -> None:
    slow = CaseResult(test_id="t", outcome="passed", duration_seconds=20.0)
    report = SuiteReport(runner="pytest", is_complete=True, tests=(slow,))
    assert seconds_for(["t"], report) > 5 * 20.0
    assert 10 < seconds_for(["other"], report) < 20
