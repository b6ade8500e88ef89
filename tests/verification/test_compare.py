"""What counts against a change, and what was there before it."""

import pytest

from journeyman.verification.compare import compare, names_test, without_base
from tests.verification.suites import ids, suite


def test_a_failure_that_the_base_has_too_is_old() -> None:
    found = compare(suite(a="failed", b="passed"), suite(a="failed", b="passed"))
    assert (found.old_failures, found.new_failures, found.fixed) == (ids("a"), (), ())


def test_a_failure_is_new_where_the_base_passed_skipped_or_had_no_such_test() -> None:
    found = compare(suite(a="passed", b="skipped"), suite(a="failed", b="failed", c="failed"))
    assert found.new_failures == ids("a", "b", "c")


def test_what_failed_before_and_passes_now_is_fixed() -> None:
    assert compare(suite(a="failed"), suite(a="passed")).fixed == ids("a")


def test_a_failing_test_that_is_gone_or_skipped_is_not_fixed() -> None:
    found = compare(suite(a="failed", b="failed"), suite(b="skipped"))
    assert found.fixed == ()
    assert found.removed == ids("a")


def test_a_test_is_missed_only_where_both_runs_came_to_their_end() -> None:
    base, head = suite(a="passed", b="passed"), suite(a="passed")
    assert compare(base, head).removed == ids("b")
    assert compare(base, suite(is_complete=False, a="passed")).removed == ()
    assert compare(suite(is_complete=False, a="passed", b="passed"), head).removed == ()


def test_a_test_that_passed_and_is_skipped_now_is_named() -> None:
    found = compare(suite(a="passed", b="skipped", c="passed"), suite(a="skipped", b="skipped"))
    assert found.newly_skipped == ids("a")


def test_a_test_that_raised_has_failed_whatever_was_reported() -> None:
    assert compare(suite(a="passed"), suite(a="passed", rewritten=("a",))).new_failures == ids("a")


def test_without_a_base_every_failure_is_new() -> None:
    assert without_base(suite(a="failed", b="passed", c="skipped")).new_failures == ids("a")


def test_what_passes_when_it_is_run_again_is_flaky_and_no_new_failure() -> None:
    found = compare(suite(), suite(a="failed", b="failed")).with_flaky(ids("b", "z"))
    assert (found.new_failures, found.flaky) == (ids("a"), ids("b"))


def test_an_old_failure_that_the_task_names_is_still_failing() -> None:
    found = compare(suite(a="failed", b="failed"), suite(a="failed", b="failed"), "Repair tests/test_a.py.")
    assert (found.still_failing, found.old_failures) == (ids("a"), ids("b"))
    assert found.counting == ids("a")


@pytest.mark.parametrize(
    ("task", "test", "named"),
    [
        ("Make tests/test_a.py::test_add[1] pass", "tests/test_a.py::test_add[1]", True),
        ("Make test_subtract pass", "tests/test_a.py::TestMath::test_subtract[2]", True),
        ("`test_subtract` fails", "pkg.test_a.MathTest.test_subtract", True),
        ("src/add.test.ts is red", "src/add.test.ts > adds > zero", True),
        ("Make test_subtraction pass", "tests/test_a.py::test_subtract", False),
        ("Let it add", "tests/test_a.py::add", False),
        ("Repair the parser", "tests/test_a.py::test_subtract", False),
        ("", "tests/test_a.py::test_subtract", False),
    ],
)
def test_a_task_names_a_test_by_its_id_its_file_or_its_name(task: str, test: str, named: bool) -> None:
    assert names_test(task, test) is named
