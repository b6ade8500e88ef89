"""Run a project's checks in a clean sandbox, and say how each of them ended.

A check whose environment lacks something, or that ran no tests, is neither passed nor failed; it is reported
with its reason.

Where the project's runner can report per test it is made to; the report and the exit code must agree.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from journeyman.environments.plan import Check, CheckOutcome
from journeyman.sandboxes.base import Completed, Sandbox
from journeyman.verification.compare import Comparison
from journeyman.verification.counts import Counts, count_tests
from journeyman.verification.environment_faults import environment_faults
from journeyman.verification.failing import cut, failing_lines
from journeyman.verification.faults.fault import EQUIP, EnvironmentFault
from journeyman.verification.own_code import CodeUnderTest
from journeyman.verification.per_test import SuiteReport
from journeyman.verification.reports import collect
from journeyman.verification.reports.consistency import contradiction, counts_of, foreign_code
from journeyman.verification.reports.family import Instrumented, ReportRequest
from journeyman.verification.reports.own_packages import own_packages

_PROBE_SECONDS = 60.0
_OUTPUT_KEPT = 20_000
_NO_TESTS_COLLECTED = 5
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DECIDES = frozenset({"build", "test"})

# Tests import the code that is checked, not a copy that happens to be installed. An editable install sees to
# that by itself; every other variable is as a developer would find it, because one more can make a test fail
# that passes for everybody else.
_OWN_CODE_FIRST = """\
if ! grep -qsF -- "$PWD" "${VIRTUAL_ENV:-/nonexistent}"/lib/python*/site-packages/*.pth \
    "${VIRTUAL_ENV:-/nonexistent}"/lib/python*/site-packages/__editable__*; then
  for d in lib src; do
    for f in "$d"/*/__init__.py "$d"/*.py; do
      if [ -f "$f" ]; then export PYTHONPATH="$PWD/$d${PYTHONPATH:+:$PYTHONPATH}"; break; fi
    done
  done
fi
"""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    check: Check
    """The check as it was run in the end, which may be another way than the first."""
    outcome: CheckOutcome
    summary: str
    """What came of it, in a few words: `12 passed`, or why there is nothing to say."""
    counts: Counts | None = None
    report: SuiteReport | None = None
    """Results per test; None where the runner wrote none, and only its exit code counts."""
    base: "CheckResult | None" = None
    """The result of the same check on the base commit, where that was measured."""
    comparison: Comparison | None = None
    """What the change did to single tests; None where there are no single results."""
    was_failing: bool = False
    """Whether it fails, and failed on the base, and nothing tells whether it fails for the same reason."""
    faults: tuple[EnvironmentFault, ...] = ()
    """What its environment lacks; empty unless that is the outcome."""
    exit_code: int | None = None
    duration_seconds: float = 0.0
    failing: str = ""
    """The lines that say what is wrong; empty unless it failed or its environment did."""
    output: str = ""
    """What it printed; of a long output the beginning and the end."""
    full_output: str = field(default="", repr=False)
    """Everything that the sandbox kept of what it printed."""
    truncated: bool = False
    """Whether the sandbox dropped the middle of it."""

    @property
    def decides(self) -> bool:
        return self.check.kind in _DECIDES

    @property
    def lost_its_tests(self) -> bool:
        """Whether it ran tests on the base, and shows none on the head."""
        ran_before = self.base is not None and self.base.outcome in ("passed", "failed")
        return self.outcome == "unavailable" and ran_before


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """How far a run of checks goes."""

    seconds: float
    """For each check."""
    seconds_per_test: float | None = None
    """For each test, where its runner can have a limit."""
    only: tuple[str, ...] = ()
    """Ids of the tests to run, where the runner can choose; empty: all."""


async def run_checks(
    sandbox: Sandbox,
    checks: Sequence[Check],
    *,
    timeout: float,
    code: CodeUnderTest | None = None,
    seconds_per_test: float | None = None,
    only: tuple[str, ...] = (),
) -> list[CheckResult]:
    """Run the checks one after another, each for `timeout` seconds at the most.

    `code` tells what is the repository's own from what should have been installed. `only` names tests; a
    runner that cannot choose runs all of them, and its report says so.
    """
    known = code or CodeUnderTest()
    limits = RunLimits(seconds=timeout, seconds_per_test=seconds_per_test, only=only)
    return [await _check(sandbox, check, limits, known) for check in checks]


async def _check(sandbox: Sandbox, check: Check, limits: RunLimits, code: CodeUnderTest) -> CheckResult:
    """Run it in the first way that can be run; if none can, say what the last way lacks."""
    way: Check | None = check
    while way is not None:
        if (await _execute(sandbox, way, way.probe, _PROBE_SECONDS)).ok:
            ended, report = await _run(sandbox, way, limits, code)
            return assess(way, ended, limits.seconds, code, report)
        check, way = way, way.otherwise
    what = f"the sandbox has no {check.tool}"
    fault = EnvironmentFault(what=what, remedy=EQUIP, who="operator")
    return CheckResult(check=check, outcome="environment", summary=what, faults=(fault,))


async def _run(
    sandbox: Sandbox, check: Check, limits: RunLimits, code: CodeUnderTest
) -> tuple[Completed, SuiteReport | None]:
    """Run a check so that it reports per test, or as it is where its tools refuse that."""
    if check.kind == "test" and (request := await _request(sandbox, limits, code)) is not None:
        instrumented = collect.instrument(check, request)
        for name, content in instrumented.files.items():
            await sandbox.write_file(f"{request.directory}/{name}", content)
        ended = await _execute(sandbox, check, _OWN_CODE_FIRST + instrumented.script, limits.seconds)
        if not _is_refused(instrumented, ended):
            return ended, await collect.read_report(sandbox, request, check, ended.output)
    return await _execute(sandbox, check, _OWN_CODE_FIRST + check.command, limits.seconds), None


async def _request(sandbox: Sandbox, limits: RunLimits, code: CodeUnderTest) -> ReportRequest | None:
    made = await sandbox.execute_command(["mktemp", "-d"], timeout=_PROBE_SECONDS, stdin=b"")
    directory = made.output.strip()
    if not made.ok or not directory.startswith("/"):
        return None
    return ReportRequest(
        directory=directory,
        workspace=sandbox.workspace,
        seconds_per_test=limits.seconds_per_test,
        only=limits.only,
        packages=own_packages(code.paths),
    )


def _is_refused(instrumented: Instrumented, ended: Completed) -> bool:
    """Whether a tool could not be started with our part in it: a command that sets PYTHONPATH by itself."""
    return not ended.ok and any(text in ended.output for text in instrumented.refusals)


async def _execute(sandbox: Sandbox, check: Check, script: str, timeout: float) -> Completed:
    return await sandbox.execute_command(script, timeout=timeout, cwd=check.workdir, stdin=b"")


def assess(
    check: Check, ended: Completed, timeout: float, code: CodeUnderTest, report: SuiteReport | None = None
) -> CheckResult:
    """The result of a check that has ended."""
    plain = replace(ended, output=_COLOUR.sub("", ended.output))
    counts = _counts(plain.output, report) if check.kind == "test" else None
    faults = () if ended.timed_out else environment_faults(ended.exit_code, plain.output, counts, code)
    if report is not None and not ended.timed_out:
        faults = foreign_code(report) or faults
    outcome, summary = _meaning(check, plain, timeout, counts, faults)
    why = contradiction(report, ended.exit_code) if report is not None else None
    if why is not None and outcome in ("passed", "unavailable"):
        outcome, summary = "failed", why
    return CheckResult(
        check=check,
        outcome=outcome,
        summary=summary,
        counts=counts,
        report=report,
        faults=faults,
        exit_code=ended.exit_code,
        duration_seconds=ended.duration_seconds,
        failing=failing_lines(plain.output) if outcome in ("failed", "environment", "timed_out") else "",
        output=cut(ended.output, _OUTPUT_KEPT),
        full_output=ended.output,
        truncated=ended.truncated,
    )


def _counts(output: str, report: SuiteReport | None) -> Counts | None:
    """Of a complete report; else, and where it knows of no test, of what was printed."""
    if report is not None and report.is_complete and report.tests:
        return counts_of(report)
    return count_tests(output)


def _meaning(
    check: Check,
    ended: Completed,
    timeout: float,
    counts: Counts | None,
    faults: Sequence[EnvironmentFault],
) -> tuple[CheckOutcome, str]:
    if ended.timed_out:
        return "timed_out", f"did not end within {timeout:g} seconds"
    if faults:
        return "environment", _lacking(faults, counts)
    if "pytest" in check.command and ended.exit_code == _NO_TESTS_COLLECTED:
        return "unavailable", "no tests ran"
    if counts is not None and counts.ran == 0:
        return "unavailable", f"no tests ran ({counts})" if counts.skipped else "no tests ran"
    if ended.ok:
        return "passed", str(counts) if counts else "passed"
    return "failed", str(counts) if counts else f"ended with exit code {ended.exit_code}"


def _lacking(faults: Sequence[EnvironmentFault], counts: Counts | None) -> str:
    """`the Python package freezegun is not installed (300 passed, 2 could not be run)`."""
    what = "; ".join(fault.what for fault in faults)
    if counts is None or not counts.ran:
        return what
    return f"{what} ({counts.passed} passed, {counts.failed} could not be run)"
