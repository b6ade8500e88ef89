"""Run a project's checks in a clean sandbox, and decide the verdict.

Success is what the checks show. A check whose environment lacks something, or that ran no tests, is neither
passed nor failed; it is reported with its reason, and it never makes a verdict good. Linters and type checks
are reported and do not decide: they may have failed before the change.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from journeyman.environments.plan import Check, CheckOutcome
from journeyman.sandboxes.base import Completed, Sandbox
from journeyman.verification.counts import Counts, count_tests
from journeyman.verification.environment_faults import environment_faults
from journeyman.verification.failing import cut, failing_lines
from journeyman.verification.faults.fault import EQUIP, EnvironmentFault
from journeyman.verification.own_code import CodeUnderTest

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
    faults: tuple[EnvironmentFault, ...] = ()
    """What its environment lacks; empty unless that is the outcome."""
    exit_code: int | None = None
    duration_seconds: float = 0.0
    failing: str = ""
    """The lines that say what is wrong; empty unless it failed or its environment did."""
    output: str = ""
    """What it printed; of a long output the beginning and the end."""

    @property
    def decides(self) -> bool:
        return self.check.kind in _DECIDES


@dataclass(frozen=True)
class Verdict:
    passed: bool | None
    """None when nothing could be shown either way."""
    checks: tuple[CheckResult, ...]
    reason: str

    @property
    def faults(self) -> tuple[EnvironmentFault, ...]:
        """What kept the checks that decide from being run."""
        found = (fault for result in self.checks if result.decides for fault in result.faults)
        return tuple(dict.fromkeys(found))


async def run_checks(
    sandbox: Sandbox, checks: Sequence[Check], *, timeout: float, code: CodeUnderTest | None = None
) -> Verdict:
    """Run the checks one after another, each for `timeout` seconds at the most.

    `code` tells what is the repository's own from what should have been installed.
    """
    known = code or CodeUnderTest()
    return judge([await _check(sandbox, check, timeout, known) for check in checks])


def judge(results: Iterable[CheckResult]) -> Verdict:
    """Good when everything that decides could be run and none failed, and tests passed, or a build did where
    there are no test checks."""
    checks = tuple(results)
    deciding = [result for result in checks if result.decides]
    tests = [result for result in deciding if result.check.kind == "test"]
    summary = "; ".join(f"{result.check.name}: {result.summary}" for result in deciding)
    outcomes = {result.outcome for result in deciding}
    if outcomes & {"failed", "timed_out"}:
        return Verdict(False, checks, summary)
    if "environment" not in outcomes and any(result.outcome == "passed" for result in tests or deciding):
        return Verdict(True, checks, summary)
    return Verdict(None, checks, summary or "no tests and no build were found")


async def _check(sandbox: Sandbox, check: Check, timeout: float, code: CodeUnderTest) -> CheckResult:
    """Run it in the first way that can be run; if none can, say what the last way lacks."""
    way: Check | None = check
    while way is not None:
        if (await _execute(sandbox, way, way.probe, _PROBE_SECONDS)).ok:
            ended = await _execute(sandbox, way, _OWN_CODE_FIRST + way.command, timeout)
            return assess(way, ended, timeout, code)
        check, way = way, way.otherwise
    what = f"the sandbox has no {check.tool}"
    fault = EnvironmentFault(what=what, remedy=EQUIP, who="operator")
    return CheckResult(check=check, outcome="environment", summary=what, faults=(fault,))


async def _execute(sandbox: Sandbox, check: Check, script: str, timeout: float) -> Completed:
    return await sandbox.execute_command(script, timeout=timeout, cwd=check.workdir, stdin=b"")


def assess(check: Check, ended: Completed, timeout: float, code: CodeUnderTest) -> CheckResult:
    """The result of a check that has ended."""
    plain = replace(ended, output=_COLOUR.sub("", ended.output))
    counts = count_tests(plain.output) if check.kind == "test" else None
    faults = () if ended.timed_out else environment_faults(ended.exit_code, plain.output, counts, code)
    outcome, summary = _meaning(check, plain, timeout, counts, faults)
    return CheckResult(
        check=check,
        outcome=outcome,
        summary=summary,
        counts=counts,
        faults=faults,
        exit_code=ended.exit_code,
        duration_seconds=ended.duration_seconds,
        failing=failing_lines(plain.output) if outcome in ("failed", "environment", "timed_out") else "",
        output=cut(ended.output, _OUTPUT_KEPT),
    )


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
