"""What a change did to single tests: the results on its head beside those on its base.

Only new failures count against a change. A test that is absent means something only where both reports are
complete: a runner that broke off says nothing about the tests it did not reach.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from journeyman.verification.per_test import SuiteReport

_LONG_NAME = 8
"""Characters of a test's name that no sentence has by chance."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Test ids, each sorted; a test is in one of the first five lists at the most."""

    new_failures: tuple[str, ...] = ()
    """Failed on the head; passed, was skipped or was absent on the base."""
    still_failing: tuple[str, ...] = ()
    """Failed on both, and the task names it: repairing it is what was asked for."""
    old_failures: tuple[str, ...] = ()
    """Failed on both otherwise."""
    fixed: tuple[str, ...] = ()
    """Failed on the base, passed on the head."""
    flaky: tuple[str, ...] = ()
    """Failed once on the head and passed when it was run again."""
    removed: tuple[str, ...] = ()
    """Ran on the base, absent on the head."""
    newly_skipped: tuple[str, ...] = ()
    """Passed on the base, skipped on the head."""

    @property
    def counting(self) -> tuple[str, ...]:
        """What counts against the change."""
        return (*self.new_failures, *self.still_failing)

    def with_flaky(self, passed_again: Iterable[str]) -> "Comparison":
        """The same after some of the new failures passed in another run."""
        flaky = {*self.flaky, *(set(passed_again) & set(self.new_failures))}
        still = tuple(one for one in self.new_failures if one not in flaky)
        return replace(self, new_failures=still, flaky=tuple(sorted(flaky)))


def compare(base: SuiteReport, head: SuiteReport, task: str = "") -> Comparison:
    """`task` is what was asked for, in words."""
    before, after = _outcomes(base), _outcomes(head)
    failing = {test for test, outcome in after.items() if outcome == "failed"}
    failed_before = {test for test, outcome in before.items() if outcome == "failed"}
    passed_before = {test for test, outcome in before.items() if outcome == "passed"}
    passing = {test for test, outcome in after.items() if outcome == "passed"}
    old = failing & failed_before
    asked_for = {test for test in old if names_test(task, test)}
    both_complete = base.is_complete and head.is_complete
    return Comparison(
        new_failures=_sorted(failing - failed_before),
        still_failing=_sorted(asked_for),
        old_failures=_sorted(old - asked_for),
        fixed=_sorted(failed_before & passing),
        removed=_sorted(before.keys() - after.keys()) if both_complete else (),
        newly_skipped=_sorted(passed_before - passing - failing - (before.keys() - after.keys())),
    )


def names_test(task: str, test_id: str) -> bool:
    """Whether a task names a test: by its id, its file, or its name where that is no common word."""
    parts = re.split(r"::| > ", test_id)
    name = parts[-1].partition("[")[0].rpartition(".")[2]
    words = {test_id, parts[0] if "." in parts[0] else test_id, *([name] if len(name) >= _LONG_NAME else [])}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", task) for word in words)


def without_base(head: SuiteReport) -> Comparison:
    """Where the base shows nothing, every failure counts as new."""
    return Comparison(new_failures=_sorted(one.test_id for one in head.tests if one.outcome == "failed"))


def _outcomes(report: SuiteReport) -> dict[str, str]:
    """The outcome of each test; one that raised counts as failed, whatever was reported of it."""
    outcomes: dict[str, str] = {one.test_id: one.outcome for one in report.tests}
    return {**outcomes, **dict.fromkeys(report.rewritten, "failed")}


def _sorted(tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(tests))
