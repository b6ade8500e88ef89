"""Run new failures again: alone, and with the other tests of their file.

What passes once on the same files is flaky: it is named and counted, never given to an agent, and no reason
to fail. A test that a person trusts is not run again: its failure counts.

Safe to repeat because only tests are run.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator
from itertools import groupby

from journeyman.environments.plan import Check
from journeyman.verification.per_test import SuiteReport
from journeyman.verification.red_to_green import file_of
from journeyman.verification.run import CheckResult
from journeyman.verification.verdict import after_reruns

Rerun = Callable[[Check, tuple[str, ...]], Awaitable[CheckResult]]
"""Runs a check once more, with only these tests where its runner can choose."""

_MOST_TESTS = 10
"""More new failures than this are a broken change, not flakes."""
_LONGEST_SECONDS = 120.0
"""A check that cannot run single tests is run again as a whole only where it took no longer."""


async def rerun_new_failures(
    check: Check, result: CheckResult, rerun: Rerun, *, can_select: bool, trusted: Collection[str] = ()
) -> CheckResult:
    if result.outcome != "failed" or result.comparison is None or result.report is None:
        return result
    suspects = tuple(test for test in result.comparison.new_failures if test not in trusted)
    if not suspects or len(suspects) > _MOST_TESTS or result.report.rewritten:
        return result
    if not can_select and result.duration_seconds > _LONGEST_SECONDS:
        return result
    passed: set[str] = set()
    for tests in _runs(suspects, result.report, can_select):
        if set(suspects) & set(tests or suspects) - passed:
            passed |= _passed(await rerun(check, tests), suspects)
    return after_reruns(result, passed)


def _runs(suspects: tuple[str, ...], report: SuiteReport, can_select: bool) -> Iterator[tuple[str, ...]]:
    if not can_select:
        yield ()
        return
    yield from ((test,) for test in suspects)
    cases = sorted(report.tests, key=file_of)
    wanted = {file_of(report.by_id()[test]) for test in suspects if test in report.by_id()}
    for file, group in groupby(cases, key=file_of):
        if file in wanted:
            yield tuple(case.test_id for case in group)


def _passed(result: CheckResult, suspects: tuple[str, ...]) -> set[str]:
    cases = result.report.by_id() if result.report else {}
    return {test for test in suspects if test in cases and cases[test].outcome == "passed"}
