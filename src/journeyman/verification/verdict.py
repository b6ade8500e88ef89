"""What the results of checks mean for a change.

Success is what the checks show. Only what is new counts against a change: a test that failed on the base is
listed and does not decide. Where single tests cannot be told apart, a check that failed before shows
nothing either way. Linters and type checks are reported and do not decide.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from journeyman.environments.plan import CheckOutcome
from journeyman.verification.compare import Comparison, compare, without_base
from journeyman.verification.faults.fault import EnvironmentFault
from journeyman.verification.run import CheckResult

_FAILING = frozenset({"failed", "timed_out"})
_SHOWS_NOTHING = frozenset({"environment", "unavailable"})
_GOOD = frozenset({"passed", "flaky"})


@dataclass(frozen=True)
class Verdict:
    passed: bool | None
    """None when nothing could be shown either way."""
    checks: tuple[CheckResult, ...]
    reason: str

    @property
    def faults(self) -> tuple[EnvironmentFault, ...]:
        """What kept the checks that decide from being run."""
        found = (fault for result in self.checks if result.decides for fault in result.faults)
        return tuple(dict.fromkeys(found))


def judge(results: Iterable[CheckResult]) -> Verdict:
    """Good when everything that decides could be run and nothing new failed, and tests passed, or a build did
    where there are no test checks."""
    checks = tuple(results)
    deciding = [result for result in checks if result.decides]
    tests = [result for result in deciding if result.check.kind == "test"]
    summary = "; ".join(f"{result.check.name}: {result.summary}" for result in deciding)
    if any(result.outcome in _FAILING and not result.was_failing for result in deciding):
        return Verdict(False, checks, summary)
    undecided = any(
        result.outcome == "environment" or result.was_failing or result.lost_its_tests for result in deciding
    )
    if not undecided and any(result.outcome in _GOOD for result in tests or deciding):
        return Verdict(True, checks, summary)
    return Verdict(None, checks, summary or "no tests and no build were found")


def against_base(head: CheckResult, base: CheckResult | None, task: str = "") -> CheckResult:
    """The result on the head, as that of the same check on the base lets it be read.

    Old failures are excused only beside tests that pass, and where the task does not name them.
    """
    head = replace(head, base=base)
    if base is None or base.outcome in _SHOWS_NOTHING:
        return replace(head, comparison=without_base(head.report) if head.report else None)
    if head.report is None and base.report is not None and head.outcome == "passed":
        # The code under test can remove a report, and an exit code alone is its own word.
        summary = "passed, without the report of its tests that it wrote on the base"
        return replace(head, outcome="unavailable", summary=summary)
    if head.report is not None and base.report is not None and head.outcome != "timed_out":
        return _by_tests(head, base, compare(base.report, head.report, task))
    return _was_failing(head, base)


def without_lost_tests(head: CheckResult, changed: Collection[str]) -> CheckResult:
    """The result, unless tests of files that the change did not touch ran on the base and not on the head.

    Code under test that ends its process early, or hides tests from the runner, must not pass by that. Fewer
    cases of a test that still runs are honest: many are generated from what the project holds.
    """
    base = head.base.report if head.base else None
    if base is None or head.report is None or head.comparison is None or head.outcome not in _GOOD:
        return head
    removed, running = set(head.comparison.removed), {_function(one.test_id) for one in head.report.tests}
    lost = [
        one.test_id
        for one in base.tests
        if one.test_id in removed
        and one.outcome != "skipped"
        and _function(one.test_id) not in running
        and one.file is not None
        and one.file not in changed
    ]
    if not lost:
        return head
    tests = "1 test" if len(lost) == 1 else f"{len(lost)} tests"
    summary = f"{tests} of files that the change does not touch ran on the base and not now: {lost[0]}"
    return replace(head, outcome="unavailable", summary=summary)


def after_reruns(result: CheckResult, passed_again: Iterable[str]) -> CheckResult:
    """The result after some of its new failures passed in another run on the same files."""
    if result.comparison is None:
        return result
    comparison = result.comparison.with_flaky(passed_again)
    result = replace(result, comparison=comparison)
    if comparison.counting or not comparison.flaky or result.outcome != "failed":
        return result
    return replace(result, outcome="flaky", summary=_in_words(result, comparison))


def single_outcomes(results: Iterable[CheckResult]) -> dict[str, bool]:
    """Whether each test, or check without single results, is no new failure; only of checks that decide."""
    fine: dict[str, bool] = {}
    for result in results:
        if result.decides and result.report is not None and result.comparison is not None:
            new = set(result.comparison.counting)
            fine |= {
                f"{result.check.name}: {one.test_id}": one.test_id not in new for one in result.report.tests
            }
        elif result.decides:
            fine[result.check.name] = result.outcome not in _FAILING or result.was_failing
    return fine


def _by_tests(head: CheckResult, base: CheckResult, comparison: Comparison) -> CheckResult:
    head = replace(head, comparison=comparison)
    if head.outcome != "failed" or comparison.counting:
        return replace(head, summary=_in_words(head, comparison))
    if comparison.old_failures and head.report is not None and head.report.is_complete:
        passes = any(one.outcome == "passed" for one in head.report.tests)
        outcome: CheckOutcome = "passed" if passes else "failed"
        return replace(head, outcome=outcome, summary=_in_words(head, comparison))
    # It failed by something else than a test: a threshold, a linter before the tests, a crash.
    return _was_failing(head, base)


def _function(test_id: str) -> str:
    """A test without its parameters."""
    return test_id.partition("[")[0]


def _was_failing(head: CheckResult, base: CheckResult) -> CheckResult:
    if head.outcome not in _FAILING or base.outcome not in _FAILING:
        return head
    return replace(head, was_failing=True, summary=f"{head.summary}, as before the change")


def _in_words(result: CheckResult, comparison: Comparison) -> str:
    """`1,414 passed, 1 new failure, 4 failed before, 2 fixed, 1 flaky`."""
    new = len(comparison.new_failures)
    parts = [f"{result.counts.passed} passed" if result.counts else result.outcome]
    parts += [f"{new} new failure{'s' if new > 1 else ''}"] if new else []
    for tests, word in (
        (comparison.still_failing, "still failing"),
        (comparison.old_failures, "failed before the change, too"),
        (comparison.fixed, "fixed"),
        (comparison.flaky, "flaky"),
    ):
        parts += [f"{len(tests)} {word}"] if tests else []
    skipped = result.counts.skipped if result.counts else 0
    return ", ".join([*parts, *([f"{skipped} skipped"] if skipped else [])])
