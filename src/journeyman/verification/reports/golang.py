"""go test: its test binaries are started through ours, which makes them name every test and keeps that.

`-exec` in GOFLAGS does so, through every script and wrapper; the output stays what it would be. The other
way, `-json`, changes the output and has a meaning for other commands of Go too.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.text import clean_id, clean_message

_RUNNER = Path(__file__).parent / "plugins" / "go_runner.sh"
_OUTCOMES: dict[str, CaseOutcome] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_CURRENT = re.compile(r"\x16?=== (RUN|CONT|NAME) +(\S+)$")
_RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d+\.\d\d)s\)$")
_NOT_BUILT = re.compile(r"(?m)^FAIL\t(\S+) \[(?:build|setup) failed\]$")
_MOST_MESSAGE = 4_000


def _prelude(request: ReportRequest) -> str:
    runner = f"{request.directory}/go/runner"
    return (
        f"if flags=$(go env GOFLAGS 2>/dev/null); then chmod +x {runner}; "
        f'export GOFLAGS="${{flags:+$flags }}-exec={runner}"; fi\nunset flags\n'
    )


def _files(request: ReportRequest) -> Mapping[str, bytes]:
    """Go chooses by a pattern for each level of names: of subtests, their whole test is run."""
    tops = dict.fromkeys(one.rpartition(": ")[2].partition("/")[0] for one in request.only)
    only = f"^({'|'.join(map(re.escape, tops))})$" if tops else ""
    return {"go/runner": _RUNNER.read_bytes(), "go/only": only.encode()}


def _read(files: Sequence[ReportFile], request: ReportRequest, output: str) -> SuiteReport:
    packages = [_Package(file, request.workspace) for file in files]
    problems = dict.fromkeys(problem for one in packages for problem in one.problems())
    broken = [
        CaseResult(test_id=clean_id(name), outcome="failed", message="the package was not built")
        for name in _NOT_BUILT.findall(output)
    ]
    return SuiteReport(
        runner="go test",
        tests=merge_cases([*(case for one in packages for case in one.cases), *broken]),
        is_complete=not problems,
        notes=tuple(problems),
    )


class _Package:
    """What one test binary printed, behind a line with its directory."""

    def __init__(self, file: ReportFile, workspace: str) -> None:
        place, _, log = file.content.decode(errors="replace").partition("\n")
        self._directory = posixpath.relpath(place, workspace) if place.startswith("/") else "."
        self._begun: set[str] = set()
        self._printed: dict[str, str] = {}
        self._current = ""
        self._has_ended = False
        self.cases: list[CaseResult] = []
        for line in log.splitlines():
            self._take(line)

    def _take(self, line: str) -> None:
        self._has_ended = bool(re.fullmatch(r"end \d+", line)) or (self._has_ended and not line)
        if current := _CURRENT.match(line):
            self._current = current[2]
            if current[1] == "RUN":
                self._begun.add(current[2])
        elif result := _RESULT.search(line):
            self._begun.discard(result[2])
            self.cases.append(self._case(result))
        elif len(printed := self._printed.get(self._current, "")) < _MOST_MESSAGE:
            self._printed[self._current] = f"{printed}{line.strip()}\n"

    def _case(self, result: re.Match[str]) -> CaseResult:
        name = result[2] if self._directory == "." else f"{self._directory}: {result[2]}"
        outcome = _OUTCOMES[result[1]]
        return CaseResult(
            test_id=clean_id(name),
            outcome=outcome,
            message="" if outcome == "passed" else clean_message(self._printed.get(result[2], "")),
            duration_seconds=float(result[3]),
        )

    def problems(self) -> list[str]:
        found = [] if self._has_ended else ["the runner did not come to its end"]
        if self._begun:
            named = ", ".join(sorted(map(clean_id, self._begun))[:3])
            found.append(f"tests began and have no result: {named}")
        return found


FAMILY = Family(
    started_by=re.compile(r"\b(?:go|gotestsum|richgo|ginkgo)\b(?![./-])"),
    prelude=_prelude,
    files=_files,
    can_select=True,
    shows_code=True,
    reads=lambda file: file.name.startswith("go.") and file.name.endswith(".log"),
    read=_read,
)
