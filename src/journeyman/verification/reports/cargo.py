"""cargo test: its test binaries are started through ours, which adds the harness's log of results.

The log is a file that tests do not print to; what they print cannot be taken for a result. Tests in
documentation have no log and are read from the output. nextest writes JUnit XML where it is set up to.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from journeyman.verification.per_test import CaseOutcome, CaseResult, SuiteReport
from journeyman.verification.reports.cases import merge_cases
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.junit import read_junit
from journeyman.verification.reports.text import clean_id, clean_message

_RUNNER = Path(__file__).parent / "plugins" / "cargo_runner.sh"
_OUTCOMES: dict[str, CaseOutcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
_COMMAND = re.compile(r"\bcargo((?: +\+\S+)?) +(test|t)\b(?!.*--no-fail-fast)")
_DOCUMENTED = re.compile(r"(?m)^test (\S+ - .*?)(?: \(line \d+\))?(?: - \S.*?)? \.\.\. (ok|FAILED|ignored)\b")
_STOPPED = "cargo ended with the first binary that failed"
_PRELUDE = """\
if triple=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p') && [ -n "$triple" ] \
    && ! grep -qs '^ *runner *=' .cargo/config .cargo/config.toml; then
  chmod +x {runner}
  triple=${{triple//[-.]/_}}
  export "CARGO_TARGET_${{triple^^}}_RUNNER={runner}"
fi
unset triple
"""


def _prelude(request: ReportRequest) -> str:
    return _PRELUDE.format(runner=f"{request.directory}/cargo/runner")


def _files(request: ReportRequest) -> Mapping[str, bytes]:
    names = (one.split("::", 2)[2:] for one in request.only)
    only = "".join(f"{name[0]}\n" for name in names if name)
    return {"cargo/runner": _RUNNER.read_bytes(), "cargo/only": only.encode()}


def _rewrite(command: str, _request: ReportRequest) -> str:
    """All binaries are run, also after one that failed: else their tests would be missing."""
    return _COMMAND.sub(r"cargo\1 \2 --no-fail-fast", command)


def _read(files: Sequence[ReportFile], request: ReportRequest, output: str) -> SuiteReport:
    if junit := [file for file in files if file.name == "junit.xml"]:
        return read_junit("nextest", junit, request)
    log = _Log()
    for file in files:
        for line in file.content.decode(errors="replace").splitlines():
            log.take(line)
    log.finish()
    if log.has_failed and not re.search(r"(?m)^error: \d+ targets? failed:", output):
        log.problems[_STOPPED] = None
    messages = dict(re.findall(r"(?ms)^---- (\S.*?) stdout ----\n(.*?)(?=^----|^failures:|\Z)", output))
    cases = [_with_message(case, messages) for case in log.cases]
    return SuiteReport(
        runner="cargo test",
        tests=merge_cases([*cases, *_documented(output)]),
        is_complete=not log.problems,
        notes=tuple(log.problems),
    )


class _Log:
    """Blocks of `binary`, results, `listed` and `end`."""

    def __init__(self) -> None:
        self.cases: list[CaseResult] = []
        self.problems: dict[str, None] = {}
        self.has_failed = False
        self._binary: str | None = None
        self._results = 0

    def take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "binary":
            self.finish()
            self._binary, self._results = rest, 0
        elif word in _OUTCOMES and self._binary is not None:
            self._results += 1
            name = rest.partition(" <- ")[0]
            self.cases.append(
                CaseResult(test_id=clean_id(f"{self._binary}::{name}"), outcome=_OUTCOMES[word])
            )
        elif word == "listed" and self._results < int(rest if rest.isdigit() else 0):
            self.problems[f"{clean_id(self._binary or '')} has tests without a result"] = None
        elif word == "end":
            self.has_failed |= rest != "0"
            self._binary = None

    def finish(self) -> None:
        if self._binary is not None:
            self.problems["the runner did not come to its end"] = None


def _documented(output: str) -> Iterator[CaseResult]:
    """Their lines change with the code above them, so that they are left out of the id."""
    for part in re.split(r"(?m)^ +Doc-tests ", output)[1:]:
        for name, outcome in _DOCUMENTED.findall(part):
            yield CaseResult(test_id=clean_id(name), outcome=_OUTCOMES[outcome.lower()])


def _with_message(case: CaseResult, messages: Mapping[str, str]) -> CaseResult:
    if case.outcome != "failed":
        return case
    message = messages.get(case.test_id.split("::", 2)[-1], "")
    return CaseResult(test_id=case.test_id, outcome="failed", message=clean_message(message))


FAMILY = Family(
    started_by=re.compile(r"\bcargo\b"),
    prelude=_prelude,
    files=_files,
    rewrite=_rewrite,
    can_select=True,
    refusals=("Unrecognized option: 'logfile'",),
    places=("*/target/nextest/*/junit.xml",),
    shows_code=True,
    reads=lambda file: file.name == "cargo.log" or "/target/nextest/" in file.path,
    read=_read,
)
