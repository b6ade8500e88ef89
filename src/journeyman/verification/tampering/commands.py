"""What a changed command line gives away: a failure that no longer counts, retries, tests left out.

Used for scripts of packages, recipes, runner options, CI and the checks of an environment alike.
"""

import re
from collections.abc import Iterator

from journeyman.verification.tampering.findings import TamperKind

MAX_LINE = 4_000
_MARKS: tuple[tuple[TamperKind, str, re.Pattern[str]], ...] = (
    (
        "failure_ignored",
        "its failure no longer counts",
        re.compile(
            r"\|\| *(?:true|:|exit 0|echo\b|/bin/true)|; *(?:true|exit 0|:) *$|--exit-zero\b"
            r"|--passWithNoTests\b|\bset \+e\b|--continue-on-collection-errors\b|--no-fail\b|--warn-only\b"
        ),
    ),
    ("retry_added", "what fails is run again", re.compile(r"--reruns?\b|--retr(?:y|ies)\b|--rerun-except\b")),
    (
        "check_setting_changed",
        "tests are left out",
        re.compile(
            r"--deselect\b|--ignore(?:-glob)?[= ]|(?<![\w-])-k[ =]|(?<![\w-])-m ?[\"']?not "
            r"|--testPathIgnorePatterns|--testNamePattern|--grep\b|(?<![\w-])-skip[ =]|--skip\b"
            r"|(?<![\w-])-run[ =]|--exclude\b|--lf\b"
        ),
    ),
    (
        "snapshot_rewritten",
        "snapshots are written instead of compared",
        re.compile(r"--updateSnapshot\b|--update-snapshots?\b|--snapshot-update\b|(?:jest|vitest)\b.* -u\b"),
    ),
)
_FLOORS = re.compile(r"--(?:cov-fail-under|fail-under|min-coverage|coverage-threshold)[= ]([\d.]+)")
_CEILINGS = re.compile(r"--max-warnings[= ](\d+)")
_CHECKS = re.compile(
    r"\b(?:pytest|unittest|tox|nox|ruff|flake8|mypy|pyright|pylint|coverage|jest|vitest|mocha|ava|eslint|tsc|biome"
    r"|prettier|cypress|playwright|clippy|nextest|golangci-lint|staticcheck|rspec|rubocop|phpunit|ctest|vet"
    r"|tests?|lint|typecheck|checks?|verify)\b"
)
_CHORES = re.compile(
    r"[-@]*(?:sudo )?(?:mv|mkdir|find|cp|rm|cat|cd|printf|export|curl|wget|tar|git|\w+ *[:?+]?=|"
    r"(?:python -m )?(?:pip|npm|go|cargo|apt|apt-get|yarn|pnpm|gem|brew) (?:install|get|ci|add|i)\b)"
)
"""Commands that only name a check, or put its tools into place."""


def judge_command(base: str, head: str) -> Iterator[tuple[TamperKind, str]]:
    """What the head's command does that the base's did not."""
    base, head = base[:MAX_LINE], head[:MAX_LINE]
    for kind, meaning, pattern in _MARKS:
        if len(pattern.findall(head)) > len(pattern.findall(base)):
            yield kind, meaning
    floor, new_floor = _number(_FLOORS, base), _number(_FLOORS, head)
    if floor is not None and (new_floor is None or new_floor < floor):
        yield "threshold_lowered", f"the least coverage was {floor:g}"
    ceiling, new_ceiling = _number(_CEILINGS, base), _number(_CEILINGS, head)
    if ceiling is not None and (new_ceiling is None or new_ceiling > ceiling):
        yield "threshold_lowered", f"at most {ceiling:g} warnings were allowed"


def runs_check(command: str) -> bool:
    command = command[:MAX_LINE]
    return bool(_CHECKS.search(command)) and not _CHORES.match(command)


def _number(pattern: re.Pattern[str], command: str) -> float | None:
    found = pattern.search(command)
    return float(found[1].rstrip(".") or 0) if found and found[1].count(".") < 2 else None
