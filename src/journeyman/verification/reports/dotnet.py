"""dotnet test: MSBuild takes properties from variables, those of VSTest's logger too; the report is TRX."""

import re
from collections.abc import Mapping, Sequence

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message
from journeyman.verification.reports.xml_events import parse_xml

_OUTCOMES: dict[str, CaseOutcome] = {
    "Passed": "passed",
    "NotExecuted": "skipped",
    "Pending": "skipped",
    "Inconclusive": "skipped",
}
_DURATION = re.compile(r"(\d{1,4}):(\d\d):(\d\d(?:\.\d+)?)")


def _prelude(request: ReportRequest) -> str:
    return (
        'export VSTestLogger="${VSTestLogger:+$VSTestLogger;}trx"\n'
        f'export VSTestResultsDirectory="${{VSTestResultsDirectory:-{request.reports}}}"\n'
    )


def _read(files: Sequence[ReportFile], _request: ReportRequest, _output: str) -> SuiteReport:
    cases: list[CaseResult] = []
    problems: dict[str, None] = {}
    for file in files:
        document = _Document()
        try:
            parse_xml(file.content, document.start, document.end, is_cut=file.is_cut)
        except ValueError as error:
            problems[f"{clean_id(file.name)} {error}"] = None
        if document.total is None or document.total > len(document.cases):
            problems["the runner did not come to its end"] = None
        cases += document.cases
    return SuiteReport(
        runner="dotnet test",
        tests=merge_cases(cases),
        is_complete=not problems,
        notes=tuple(problems),
    )


class _Document:
    def __init__(self) -> None:
        self.cases: list[CaseResult] = []
        self.total: int | None = None
        """As the summary counts them, which is written last."""
        self._case: Mapping[str, str] | None = None
        self._message = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "UnitTestResult":
            self._case, self._message = attributes, ""
        elif name == "Counters" and attributes.get("total", "").isdigit():
            self.total = int(attributes["total"][:9])

    def end(self, name: str, text: str) -> None:
        if self._case is None:
            return
        if name == "Message":
            self._message = text
        elif name == "UnitTestResult":
            self.cases.append(self._result(self._case))
            self._case = None

    def _result(self, case: Mapping[str, str]) -> CaseResult:
        time = _DURATION.fullmatch(case.get("duration", ""))
        return CaseResult(
            test_id=clean_id(case.get("testName", "")),
            outcome=_OUTCOMES.get(case.get("outcome", ""), "failed"),
            message=clean_message(self._message),
            duration_seconds=int(time[1]) * 3600 + int(time[2]) * 60 + float(time[3]) if time else None,
        )


FAMILY = Family(
    started_by=re.compile(r"\bdotnet\b"),
    prelude=_prelude,
    reads=lambda file: file.name.endswith(".trx"),
    read=_read,
)
