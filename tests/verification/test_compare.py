"""What counts against a change, and what was there before it."""

from journeyman.verification.compare import compare, without_base
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
