"""Look at a project inside its sandbox, run its checks there, and judge.

Success is what the checks show. A check that could not be run, or that ran no tests, is neither passed
nor failed; it is reported with its reason, and it never makes a verdict good. Linters are reported and
do not decide: they may have been red before we came.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from journeyman.errors import VerificationFailed
from journeyman.sandboxes.base import Completed, Sandbox
from journeyman.verification.counts import count_tests
from journeyman.verification.detect import MANIFESTS, Check, ProjectFiles
from journeyman.verification.failing import cut, failing_lines

_LOOK_SECONDS = 60.0
_PROBE_SECONDS = 60.0
_MANIFEST_BYTES = 32_000

_ENVIRONMENT = {
    "CI": "true",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "CARGO_TERM_COLOR": "never",
    "PYTHONDONTWRITEBYTECODE": "1",
    "RUFF_NO_CACHE": "true",
    "npm_config_update_notifier": "false",
}

# Verifying must leave the workspace as it was: what tools write beside their work goes to a directory
# that ends with the check. Cargo keeps its own directory where git ignores it, because it is slow without.
_SCRATCH = """\
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} -o cache_dir=$scratch/pytest --color=no"
export COVERAGE_FILE="$scratch/coverage" HYPOTHESIS_STORAGE_DIRECTORY="$scratch/hypothesis"
if [ -d src ]; then export PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}"; fi
if ! git check-ignore -q target 2>/dev/null; then export CARGO_TARGET_DIR="$scratch/target"; fi
"""

# Lines of `name`, `file`, `test` and `unit`; a file's bytes are encoded, so that none can pose as a line.
_LOOK = f"""\
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


@dataclass(frozen=True)
class Verdict:
    passed: bool | None
    """None when nothing could be shown either way."""
    checks: tuple[CheckResult, ...]
    reason: str


async def look(sandbox: Sandbox) -> ProjectFiles:
    """Read from inside what decides how the project is checked."""
    seen = await sandbox.execute_command(_LOOK, timeout=_LOOK_SECONDS)
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
    return judge([await _run(sandbox, check, timeout, may_install) for check in checks])


def judge(results: Iterable[CheckResult]) -> Verdict:
    """Good when nothing required failed and tests passed, or a build did where there are no test checks."""
    checks = tuple(results)
    required = [result for result in checks if result.check.kind != "lint"]
    tests = [result for result in required if result.check.kind == "test"]
    said = "; ".join(f"{result.check.name}: {result.summary}" for result in required)
    if any(result.status == "failed" for result in required):
        return Verdict(False, checks, said)
    if any(result.status == "passed" for result in tests or required):
        return Verdict(True, checks, said)
    return Verdict(None, checks, said or "no tests and no build were found")


async def _run(sandbox: Sandbox, check: Check, timeout: float, may_install: bool) -> CheckResult:
    ready, why = await _ready(sandbox, check, timeout, may_install)
    if not ready:
        if check.otherwise is not None:
            return await _run(sandbox, check.otherwise, timeout, may_install)
        return CheckResult(check=check, status="unavailable", summary=why)
    ended = await _execute(sandbox, _SCRATCH + check.command, timeout)
    return assess(check, ended, timeout)


async def _ready(sandbox: Sandbox, check: Check, timeout: float, may_install: bool) -> tuple[bool, str]:
    why = f"the sandbox has no {check.tool}"
    if (await _execute(sandbox, check.probe, _PROBE_SECONDS)).ok:
        return True, ""
    if not may_install or check.install is None:
        return False, why
    installed = await _execute(sandbox, check.install, timeout)
    if not installed.ok:
        return False, f"{why}, and `{check.install}` did not bring it: {cut(installed.output.strip(), 500)}"
    return (await _execute(sandbox, check.probe, _PROBE_SECONDS)).ok, why


def assess(check: Check, ended: Completed, timeout: float) -> CheckResult:
    """What the end of a check means."""
    status, summary = _meaning(check, ended, timeout)
    return CheckResult(
        check=check,
        status=status,
        summary=summary,
        exit_code=ended.exit_code,
        duration_seconds=ended.duration_seconds,
        failing=failing_lines(ended.output) if status == "failed" else "",
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


async def _execute(sandbox: Sandbox, script: str, timeout: float) -> Completed:
    return await sandbox.execute_command(script, timeout=timeout, env=_ENVIRONMENT, stdin=b"")


def _decoded(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode(errors="replace")
    except binascii.Error:
        # The output was cut in the middle of this file.
        return ""
