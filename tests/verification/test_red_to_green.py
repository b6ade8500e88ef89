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


def test_a_test_whose_file_the_runner_does_not_name_may_be_in_any() -> None:
    report = SuiteReport(
        runner="vitest",
        is_complete=True,
        tests=(
            CaseResult(test_id="adds > zero", outcome="passed", file="src/add.test.ts"),
            CaseResult(test_id="adds", outcome="passed"),
        ),
    )
    assert changed_cases({"src/add.test.ts"}, report, report) == ("adds > zero", "adds")
    assert changed_cases({"elsewhere.ts"}, report, report) == ("adds",)


def test_a_test_that_the_baseline_does_not_have_is_one_of_the_change() -> None:
    known = CaseResult(test_id="a", outcome="passed", file="a.py")
    new = CaseResult(test_id="b", outcome="passed", file="a.py")
    before, after = (
        SuiteReport(runner="x", is_complete=True, tests=tests) for tests in ((known,), (known, new))
    )
    assert changed_cases((), after, before) == ("b",)


def test_a_slow_test_gets_more_time_on_the_old_code() -> None:
    slow = CaseResult(test_id="t", outcome="passed", duration_seconds=20.0)
    report = SuiteReport(runner="pytest", is_complete=True, tests=(slow,))
    assert seconds_for(["t"], report) > 5 * 20.0
    assert 10 < seconds_for(["other"], report) < 20


def test_a_test_that_is_skipped_shows_nothing_either_way() -> None:
    assert red_to_green(ids("a"), suite(a="skipped"), suite(a="skipped"), suite(a="passed")) == ()
