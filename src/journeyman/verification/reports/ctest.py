"""CTest: the results that it prints, checked against the log that it keeps in the build directory.

Its JUnit file needs an option, which `make test` and `ninja test` of a generated build cannot be given. The
log alone does not do: it calls a test passed that was skipped, or whose program does not exist.
"""

import re
from collections.abc import Sequence

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message

_PRINTED = re.compile(
    r"(?m)^ *\d+/\d+ Test +#\d+: (.+?) \.+(?: +|\*\*\*)"
    r"(Passed|Not Run \(Disabled\)|Skipped|[A-Z][\w ]*?) +([\d.]+) sec"
)
_LOGGED = re.compile(r"(?m)^\d+/\d+ Test: (.*)$")
_OUTCOMES: dict[str, CaseOutcome] = {
    "Passed": "passed",
    "Skipped": "skipped",
    "Not Run (Disabled)": "skipped",
}


def _read(files: Sequence[ReportFile], _request: ReportRequest, output: str) -> SuiteReport | None:
    printed = _PRINTED.findall(output)
    if not printed:
        return None
    logged: dict[str, str] = {}
    has_ended = True
    for file in files:
        log = file.content.decode(errors="replace")
        has_ended &= "\nEnd testing: " in log
        parts = _LOGGED.split(log)
        logged |= dict(zip(parts[1::2], parts[2::2], strict=True))
    if has_ended and logged.keys() - {name for name, _, _ in printed}:
        return None  # of a long output, a part is missing
    return SuiteReport(
        runner="ctest",
        tests=merge_cases(_case(name, word, time, logged.get(name, "")) for name, word, time in printed),
        is_complete=has_ended,
        notes=() if has_ended else ("the runner did not come to its end",),
    )


def _case(name: str, word: str, time: str, log: str) -> CaseResult:
    outcome = _OUTCOMES.get(word, "failed")
    text = log.partition("Output:\n")[2].partition("\n")[2].rpartition("<end of output>")[0]
    return CaseResult(
        test_id=clean_id(name),
        outcome=outcome,
        message=clean_message(text or word) if outcome != "passed" else "",
        duration_seconds=float(time) if time.count(".") == 1 else None,
    )


FAMILY = Family(
    started_by=re.compile(r"\bctest\b"),
    places=("*/Testing/Temporary/LastTest.log",),
    reads=lambda file: file.name == "LastTest.log",
    read=_read,
)
