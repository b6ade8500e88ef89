"""JUnit XML, which most runners can write: read strictly, and only as far as it agrees with itself."""

import math
from collections.abc import Iterable, Mapping

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message, clean_path
from journeyman.verification.reports.xml_events import parse_xml

_FAILED = frozenset({"failure", "error"})
_NOT_RUN = frozenset({"notrun", "disabled", "skipped"})


def read_junit(runner: str, files: Iterable[ReportFile], request: ReportRequest) -> SuiteReport:
    cases: list[CaseResult] = []
    problems: dict[str, None] = {}
    for file in files:
        document = _Document(request.workspace)
        try:
            parse_xml(file.content, document.start, document.end, is_cut=file.is_cut)
        except ValueError as error:
            problems[f"{clean_id(file.name)} {error}"] = None
        if file.is_cut:
            problems[f"{clean_id(file.name)} is too large to be read to its end"] = None
        elif document.announced > len(document.cases):
            problems[f"{clean_id(file.name)} announces more tests than it holds"] = None
        cases += document.cases
    return SuiteReport(
        runner=runner,
        tests=merge_cases(cases),
        is_complete=not problems,
        notes=tuple(problems),
    )


class _Document:
    def __init__(self, workspace: str) -> None:
        self.cases: list[CaseResult] = []
        self.announced = 0
        """Of the outermost suites, which count the tests of those in them."""
        self._workspace = workspace
        self._depth = 0
        self._case: Mapping[str, str] | None = None
        self._outcome: CaseOutcome = "passed"
        self._message = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "testsuite":
            self._depth += 1
            if self._depth == 1:
                self.announced += _number(attributes.get("tests"))
        elif name == "testcase":
            self._case, self._message = attributes, ""
            self._outcome = "skipped" if attributes.get("status", "").lower() in _NOT_RUN else "passed"
        elif self._case is not None and name in _FAILED:
            self._outcome, self._message = "failed", attributes.get("message", "")
        elif self._case is not None and name == "skipped" and self._outcome != "failed":
            self._outcome, self._message = "skipped", attributes.get("message", "")

    def end(self, name: str, text: str) -> None:
        if name == "testsuite":
            self._depth -= 1
        elif name in _FAILED and self._case is not None:
            self._message = self._message or text
        elif name == "testcase" and self._case is not None:
            self.cases.append(self._result(self._case))
            self._case = None

    def _result(self, case: Mapping[str, str]) -> CaseResult:
        names = [case.get("classname") or case.get("class", ""), case.get("name", "")]
        return CaseResult(
            test_id=clean_id("::".join(name for name in names if name)),
            outcome=self._outcome,
            message=clean_message(self._message),
            file=clean_path(case.get("file", ""), self._workspace),
            duration_seconds=_seconds(case.get("time")),
        )


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
