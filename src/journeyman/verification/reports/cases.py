"""Put together what was reported of the same test, and the reports of one check.

A test is reported more than once: by its set-up and its end, in two sessions, by two binaries of one name. It
has failed when one of them says so, and it was skipped only when none ran it.
"""

from collections.abc import Iterable, Sequence

from journeyman.verification.per_test import CaseResult, SuiteReport

_WEIGHT = {"skipped": 0, "passed": 1, "failed": 2}


def merge_cases(cases: Iterable[CaseResult]) -> tuple[CaseResult, ...]:
    found: dict[str, CaseResult] = {}
    for case in cases:
        known = found.get(case.test_id)
        if known is None or _WEIGHT[case.outcome] > _WEIGHT[known.outcome]:
            found[case.test_id] = case
    return tuple(found.values())


def merge_reports(reports: Sequence[SuiteReport]) -> SuiteReport:
    return SuiteReport(
        runner=", ".join(dict.fromkeys(one.runner for one in reports)),
        tests=merge_cases(case for one in reports for case in one.tests),
        is_complete=all(one.is_complete for one in reports),
        rewritten=tuple(dict.fromkeys(name for one in reports for name in one.rewritten)),
        code_locations=tuple(dict.fromkeys(path for one in reports for path in one.code_locations)),
        foreign_modules=tuple(dict.fromkeys(module for one in reports for module in one.foreign_modules)),
        notes=tuple(dict.fromkeys(note for one in reports for note in one.notes)),
    )
