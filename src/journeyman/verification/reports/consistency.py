"""What a report and an exit code mean together, decided without running anything.

Neither is believed alone: a report is written by a process in which the code under test runs, and an exit
code of 0 is also that of a runner which was ended in the middle. The worse of the two counts.
"""

from collections import Counter

from journeyman.verification.counts import Counts
from journeyman.verification.faults.fault import EnvironmentFault
from journeyman.verification.per_test import SuiteReport

_MOST_NAMED = 3
_REMEDY = (
    "Install the project in editable mode in .journeyman/environment.yaml, or put its source directory on "
    "the path of the tests, so that they import the code of the commit."
)


def counts_of(report: SuiteReport) -> Counts:
    found = Counter(case.outcome for case in report.tests)
    return Counts(found["passed"], found["failed"], found["skipped"])


def contradiction(report: SuiteReport, exit_code: int | None) -> str | None:
    """Why a check has failed although its exit code or its report says otherwise; None where they agree."""
    if report.rewritten:
        return f"reported as passed although they raised: {_named(report.rewritten)}"
    if exit_code != 0:
        return None
    if failed := [case.test_id for case in report.tests if case.outcome == "failed"]:
        return f"ended with exit code 0 although tests failed: {_named(failed)}"
    if not report.is_complete:
        return f"ended with exit code 0 without a complete report: {'; '.join(report.notes)}"
    return None


def foreign_code(report: SuiteReport) -> tuple[EnvironmentFault, ...]:
    """What keeps tests from showing anything of this commit: they ran other code."""
    return tuple(
        EnvironmentFault(
            what=f"the tests import {module.name} from {module.location}, not from this repository",
            remedy=_REMEDY,
            who="maintainer",
        )
        for module in report.foreign_modules
    )


def _named(tests: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(tests) - _MOST_NAMED} more" if len(tests) > _MOST_NAMED else ""
    return ", ".join(tests[:_MOST_NAMED]) + more
