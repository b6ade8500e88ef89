"""CTest: the log that it keeps in the build directory, whatever starts it.

Its JUnit file needs an option, which `make test` and `ninja test` of a generated build cannot be given.
"""

import re
from collections.abc import Iterator, Sequence

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message

_TEST = re.compile(r"(?m)^(\d+)/(\d+) Test: (.*)$")
_TIME = re.compile(r"(?m)^Test time = +([\d.]+) sec$")
_OUTCOME = re.compile(r"(?m)^Test (Passed|Failed|Skipped|Not Run|Timeout)\b.*$|^\*\*\*(Not Run|Skipped).*$")
_OUTCOMES: dict[str, CaseOutcome] = {"Passed": "passed", "Skipped": "skipped", "Not Run": "skipped"}


def _read(files: Sequence[ReportFile], _request: ReportRequest, _output: str) -> SuiteReport:
    cases: list[CaseResult] = []
    problems: dict[str, None] = {}
    for file in files:
        log = file.content.decode(errors="replace")
        found = list(_cases(log))
        total = max((int(one[2]) for one in _TEST.finditer(log)), default=0)
        if len(found) < total or "\nEnd testing: " not in log:
            problems["the runner did not come to its end"] = None
        cases += found
    return SuiteReport(
        runner="ctest",
        tests=merge_cases(cases),
        is_complete=not problems,
        is_cut=any(file.is_cut for file in files),
        notes=tuple(problems),
    )


def _cases(log: str) -> Iterator[CaseResult]:
    heads = list(_TEST.finditer(log))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        block = log[head.end() : following.start() if following else len(log)]
        ends = list(_OUTCOME.finditer(block))
        if not ends:
            continue
        outcome = _OUTCOMES.get(ends[-1][1] or ends[-1][2], "failed")
        time = _TIME.search(block)
        printed = block.partition("\n---")[2].partition("\n")[2].partition("<end of output>")[0]
        yield CaseResult(
            test_id=clean_id(head[3]),
            outcome=outcome,
            message=clean_message(printed) if outcome == "failed" else "",
            duration_seconds=float(time[1]) if time else None,
        )


FAMILY = Family(
    started_by=re.compile(r"\bctest\b"),
    places=("*/Testing/Temporary/LastTest.log",),
    reads=lambda file: file.name == "LastTest.log",
    read=_read,
)
