"""Detect and run a project's checks in a clean sandbox, and decide the verdict.

Success is what the checks show. A check that could not be run, or that ran no tests, is neither passed
nor failed; it is reported with its reason, and it never makes a verdict good. Linters are reported and
do not decide: they may have failed before the change.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from journeyman.errors import VerificationFailed
from journeyman.sandboxes.base import Completed, Sandbox
from journeyman.verification.counts import count_tests
from journeyman.verification.detect import MANIFESTS, Check, ProjectFiles
from journeyman.verification.failing import cut, failing_lines

_READ_SECONDS = 60.0
_PROBE_SECONDS = 60.0
_MANIFEST_BYTES = 32_000
_OUTPUT_KEPT = 20_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# Tests import the code that is checked, not a copy that happens to be installed. Everything else is as a
# developer would find it: a variable more can make a test fail that passes for everybody else.
_OWN_CODE_FIRST = """\
for d in lib src; do
  for f in "$d"/*/__init__.py "$d"/*.py; do
    if [ -f "$f" ]; then export PYTHONPATH="$PWD/$d${PYTHONPATH:+:$PYTHONPATH}"; break; fi
  done
done
"""

# Lines of `name`, `file`, `test` and `unit`; a file's bytes are encoded, so that none can be taken for a
# line.
_READ_SCRIPT = f"""\
for tool in ls find grep sed head sort tr base64; do
  command -v "$tool" >/dev/null || {{ echo "there is no $tool"; exit 1; }}
done
ls -Ap | head -n 1000 | sed 's/^/name /'
for d in tests test; do [ -f "$d/__init__.py" ] && echo "name $d/__init__.py"; done
for f in {" ".join(MANIFESTS)}; do
  [ -f "$f" ] && [ -r "$f" ] && echo "file $f $(head -c {_MANIFEST_BYTES} -- "$f" | base64 | tr -d '\\n')"
done
find . -maxdepth 7 \\( -name '.?*' -o -name node_modules -o -name site-packages -o -name venv \\) -prune -o \
  -type f \\( -name 'test_*.py' -o -name '*_test.py' -o -name conftest.py \\) -print |
  LC_ALL=C sort | head -n 2000 |
while IFS= read -r f; do
  echo "test ${{f#./}}"
  grep -q 'TestCase' -- "$f" && ! grep -qE '^ *(import|from) +pytest|^(async +)?def +test' -- "$f" &&
    echo "unit ${{f#./}}"
done
exit 0
"""

_NO_NETWORK = re.compile(
    r"(?i)could not resolve host|failed to download from|failed to lookup address|dial tcp: lookup"
    r"|EAI_AGAIN|spurious network error|network is unreachable|temporary failure in name resolution"
)
_NOT_FOUND = re.compile(r"(?m)^.*\b(?:command )?not found$")


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    check: Check
    """The check as it was run in the end, which may be another way than the first."""
    status: Literal["passed", "failed", "unavailable"]
    summary: str
    """What came of it, in a few words: `12 passed`, or why there is nothing to say."""
    exit_code: int | None = None
    duration_seconds: float = 0.0
    failing: str = ""
    """The lines that say what is wrong; empty unless it failed."""
    output: str = ""
    """What it printed; of a long output the beginning and the end."""


@dataclass(frozen=True)
class Verdict:
    passed: bool | None
    """None when nothing could be shown either way."""
    checks: tuple[CheckResult, ...]
    reason: str


async def read_project(sandbox: Sandbox) -> ProjectFiles:
    """Read, inside the sandbox, the files that decide how the project is checked."""
    seen = await sandbox.execute_command(_READ_SCRIPT, timeout=_READ_SECONDS)
    if not seen.ok:
        why = "it took too long" if seen.timed_out else cut(seen.output.strip(), 500)
        raise VerificationFailed(
            f"the project's files could not be listed: {why}",
            hint="Use a sandbox image with the usual POSIX tools.",
        )
    found: dict[str, set[str]] = {"name": set(), "test": set(), "unit": set()}
    contents: dict[str, str] = {}
    for line in seen.output.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "file":
            name, _, encoded = rest.partition(" ")
            contents[name] = _decoded(encoded)
        elif kind in found:
            found[kind].add(rest)
    return ProjectFiles(
        names=frozenset(found["name"]),
        contents=contents,
        python_tests=frozenset(found["test"]),
        unittest_files=frozenset(found["unit"]),
    )


async def run_checks(
    sandbox: Sandbox, checks: Sequence[Check], *, timeout: float, may_install: bool
) -> Verdict:
    """Run the checks one after another, each for `timeout` seconds at the most."""
    run = _Run(sandbox, timeout, may_install)
    return judge([await run.check(check) for check in checks])


def judge(results: Iterable[CheckResult]) -> Verdict:
    """Good when nothing required failed and tests passed, or a build did where there are no test checks."""
    checks = tuple(results)
    required = [result for result in checks if result.check.kind != "lint"]
    tests = [result for result in required if result.check.kind == "test"]
    summary = "; ".join(f"{result.check.name}: {result.summary}" for result in required)
    if any(result.status == "failed" for result in required):
        return Verdict(False, checks, summary)
    if any(result.status == "passed" for result in tests or required):
        return Verdict(True, checks, summary)
    return Verdict(None, checks, summary or "no tests and no build were found")


class _Run:
    """One run of a project's checks: what could not be installed for one of them is not there for another."""

    def __init__(self, sandbox: Sandbox, timeout: float, may_install: bool) -> None:
        self._sandbox = sandbox
        self._timeout = timeout
        self._may_install = may_install
        self._failed_installs: dict[str, str] = {}

    async def check(self, check: Check) -> CheckResult:
        """Run it in the first way that can be run; if none can, say what every way lacks."""
        reasons: list[str] = []
        way: Check | None = check
        while way is not None:
            if (why := await self._missing(way)) is None:
                ended = await self._execute(_OWN_CODE_FIRST + way.command, self._timeout)
                return assess(way, ended, self._timeout)
            reasons.append(why)
            check, way = way, way.otherwise
        return CheckResult(check=check, status="unavailable", summary=_most_specific(reasons))

    async def _missing(self, check: Check) -> str | None:
        """Why it cannot be run, after what is missing was installed as far as that is allowed."""
        why = f"the sandbox has no {check.tool}"
        failed = self._failed_installs.get(check.install or "")
        if failed is None and await self._is_there(check):
            return None
        if not self._may_install or check.install is None:
            return why
        if failed is None:
            installed = await self._execute(check.install, self._timeout)
            if installed.ok:
                return None if await self._is_there(check) else why
            failed = "it took too long" if installed.timed_out else cut(installed.output.strip(), 500)
            self._failed_installs[check.install] = failed
        return f"{why}, and `{check.install}` did not bring it: {failed}"

    async def _is_there(self, check: Check) -> bool:
        return (await self._execute(check.probe, _PROBE_SECONDS)).ok

    async def _execute(self, script: str, timeout: float) -> Completed:
        return await self._sandbox.execute_command(script, timeout=timeout, stdin=b"")


def _most_specific(reasons: Sequence[str]) -> str:
    """An install that failed says more than a tool that is not there."""
    return max(dict.fromkeys(reasons), key=lambda reason: "did not bring it" in reason)


def assess(check: Check, ended: Completed, timeout: float) -> CheckResult:
    """The result of a check that has ended."""
    plain = replace(ended, output=_COLOUR.sub("", ended.output))
    status, summary = _meaning(check, plain, timeout)
    return CheckResult(
        check=check,
        status=status,
        summary=summary,
        exit_code=ended.exit_code,
        duration_seconds=ended.duration_seconds,
        failing=failing_lines(plain.output) if status == "failed" else "",
        output=cut(ended.output, _OUTPUT_KEPT),
    )


def _meaning(
    check: Check, ended: Completed, timeout: float
) -> tuple[Literal["passed", "failed", "unavailable"], str]:
    counts = count_tests(ended.output) if check.kind == "test" else None
    if ended.timed_out:
        return "failed", f"did not end within {timeout:g} seconds"
    if check.name == "pytest" and ended.exit_code == 5:
        return "unavailable", "no tests ran"
    if counts is not None and counts.ran == 0:
        return "unavailable", f"no tests ran ({counts})" if counts.skipped else "no tests ran"
    if ended.ok:
        return "passed", str(counts) if counts else "passed"
    if counts is None and ended.exit_code == 127:
        missing = _NOT_FOUND.search(ended.output)
        return (
            "unavailable",
            f"a command it needs is missing: {cut(missing[0], 200) if missing else 'see its output'}",
        )
    if counts is None and _NO_NETWORK.search(ended.output):
        return "unavailable", "what it depends on could not be fetched: there is no network"
    return "failed", str(counts) if counts else f"ended with exit code {ended.exit_code}"


def _decoded(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode(errors="replace")
    except binascii.Error:
        # The output was cut in the middle of this file.
        return ""
