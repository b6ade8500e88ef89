"""Reports of our own plugins: one JSON object a line, the same for every runner that can load one.

A session begins with `begin` and ends with `end`; each file is one session, or the part that a worker of one
saw. What the lines claim is checked against each other, because the code under test can write them too.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from journeyman.verification.per_test import CaseOutcome, CaseResult, ForeignModule, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message, clean_path

_OUTCOMES: dict[str, CaseOutcome] = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
}
_MOST_LINES = 1_000_000
_MOST_MODULES = 200


def read_sessions(files: Iterable[ReportFile], request: ReportRequest, _output: str = "") -> SuiteReport:
    """What one runner wrote, in as many processes as it took."""
    session = _Sessions(request)
    for file in files:
        session.read(file)
    return session.report()


class _Sessions:
    def __init__(self, request: ReportRequest) -> None:
        self._request = request
        self._cases: list[CaseResult] = []
        self._expected: set[str] = set()
        """Tests that were meant to fail."""
        self._raised: set[str] = set()
        self._modules: dict[str, dict[str, Any]] = {}
        self._runners: dict[str, None] = {}
        self._problems: dict[str, None] = {}

    def read(self, file: ReportFile) -> None:
        has_begun = has_ended = is_part = False
        for number, record in enumerate(_records(file)):
            if record is None or number > _MOST_LINES:
                self._problem("a line of the report makes no sense")
                continue
            if isinstance(runner := record.get("begin"), str):
                if has_begun:
                    self._problem("the report begins twice")
                has_begun, is_part = True, record.get("is_part") is True
                self._runners[clean_id(runner)] = None
            elif has_ended:
                self._problem("the report goes on after its end")
            elif "end" in record:
                has_ended = True
            else:
                self._take(record)
        if file.is_cut:
            self._problem("the report is too large to be read to its end")
        elif not has_begun or not (has_ended or is_part):
            self._problem("the runner did not come to its end")

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"id": str(test_id), "outcome": str(outcome)} if outcome in _OUTCOMES:
                self._case(clean_id(test_id), outcome, record)
            case {"raised": str(test_id)}:
                self._raised.add(clean_id(test_id))
            case {"returned": str(test_id)}:
                self._raised.discard(clean_id(test_id))
            case {"left": int(left)}:
                if left:
                    self._problem(f"{left} of the collected tests have no result")
            case {"module": str(name), "location": str(), "is_own": bool()}:
                if len(self._modules) < _MOST_MODULES:
                    self._modules[clean_id(name)] = record
            case _:
                self._problem("a line of the report makes no sense")

    def _case(self, test_id: str, outcome: str, record: dict[str, Any]) -> None:
        if outcome == "xfailed":
            self._expected.add(test_id)
        message, file, seconds = record.get("message"), record.get("file"), record.get("seconds")
        self._cases.append(
            CaseResult(
                test_id=test_id,
                outcome=_OUTCOMES[outcome],
                message=clean_message(message) if isinstance(message, str) else "",
                file=clean_path(file, self._request.workspace) if isinstance(file, str) else None,
                duration_seconds=float(seconds) if isinstance(seconds, int | float) else None,
            )
        )

    def _problem(self, sentence: str) -> None:
        self._problems[sentence] = None

    def report(self) -> SuiteReport:
        tests = merge_cases(self._cases)
        failed = {case.test_id for case in tests if case.outcome == "failed"}
        known = {case.test_id for case in tests}
        silent = self._raised - known
        if silent:
            self._problem(
                f"{len(silent)} tests raised and were not reported: {', '.join(sorted(silent)[:3])}"
            )
        return SuiteReport(
            runner=", ".join(self._runners) or "unknown",
            tests=tests,
            is_complete=not self._problems,
            rewritten=tuple(sorted((self._raised & known) - failed - self._expected)),
            code_locations=tuple(clean_id(one["location"]) for one in self._modules.values()),
            foreign_modules=tuple(
                ForeignModule(name=name, location=clean_id(one["location"]))
                for name, one in self._modules.items()
                if not one["is_own"]
            ),
            notes=tuple(self._problems),
        )


def _records(file: ReportFile) -> Iterator[dict[str, Any] | None]:
    """Each line as an object, None for one that is not. The last line of a cut file is left out."""
    lines = file.content.split(b"\n")
    if lines and (file.is_cut or not lines[-1]):
        lines.pop()
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else None
