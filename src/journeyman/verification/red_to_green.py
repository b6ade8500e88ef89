"""Whether the tests of a change show it: new tests on the old code must fail, and pass on the new code.

Old tests on the new code, the other half, show what was edited, skipped or deleted to get green.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from journeyman.verification.per_test import CaseResult, SuiteReport

_SECONDS_PER_TEST = 15.0

BaseOutcome = Literal["passed", "failed", "skipped", "not_run"]
"""`not_run`: the runner did not get to it, as where the code that it imports is not there yet."""


@dataclass(frozen=True, kw_only=True)
class RedToGreen:
    """One test of the change, on the old code and on the new."""

    test: str
    on_base: BaseOutcome
    on_head: str

    @property
    def shows_the_change(self) -> bool:
        return self.on_head == "passed" and self.on_base in ("failed", "not_run")


def changed_cases(
    files: Collection[str], report: SuiteReport, baseline: SuiteReport | None
) -> tuple[str, ...]:
    """The tests of a report that stand, or may stand, in these files, and those that the baseline lacks."""
    known = baseline.by_id() if baseline else {}
    return tuple(
        one.test_id
        for one in report.tests
        if one.file is None or one.file in files or one.test_id not in known
    )


def seconds_for(tests: Collection[str], report: SuiteReport) -> float:
    """A limit for each of the tests: the fix of an endless loop has a test that hangs without it."""
    wanted = set(tests)
    durations = [one.duration_seconds or 0.0 for one in report.tests if one.test_id in wanted]
    return _SECONDS_PER_TEST + 5 * max(durations, default=0.0)


def red_to_green(
    tests: Collection[str], head: SuiteReport, on_old_code: SuiteReport | None, baseline: SuiteReport | None
) -> tuple[RedToGreen, ...]:
    """Those of the tests that are new, or that do not pass on the old code. `tests` are of changed files."""
    before = on_old_code.by_id() if on_old_code else {}
    known = baseline.by_id() if baseline else {}
    after = head.by_id()
    found = []
    for test in sorted(tests):
        on_base: BaseOutcome = before[test].outcome if test in before else "not_run"
        runs = test in after and after[test].outcome != "skipped"
        if runs and (on_base != "passed" or test not in known):
            found.append(RedToGreen(test=test, on_base=on_base, on_head=after[test].outcome))
    return tuple(found)


def broken_old_tests(baseline: SuiteReport, on_new_code: SuiteReport) -> tuple[str, ...]:
    """Tests that passed before the change and, as they were then, fail on the new code."""
    passed = {one.test_id for one in baseline.tests if one.outcome == "passed"}
    return tuple(sorted(passed & {one.test_id for one in on_new_code.tests if one.outcome == "failed"}))


def file_of(case: CaseResult) -> str:
    """Where a test stands; runners that name no file often begin its id with one."""
    return case.file or case.test_id.partition("::")[0].partition(" > ")[0]
