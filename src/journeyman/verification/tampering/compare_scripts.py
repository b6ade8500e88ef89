"""Commands of a project in its own files: package scripts, recipes, checks of the environment file."""

import re
from collections import Counter
from collections.abc import Iterator

from journeyman.verification.tampering.commands import judge_command, runs_check
from journeyman.verification.tampering.findings import Severity, TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.settings_values import SettingValues, Value

_LIFECYCLE = re.compile(r"(?:pre|post)\w+|(?:pre)?prepare|install")
_RECIPES = re.compile(
    r"(?:.*/)?(?:(?:GNU)?[Mm]akefile|.*\.mk|[Jj]ustfile|Rakefile|noxfile\.py|.*\.(?:ba|z)?sh|tox\.ini)"
)
_MAX_LINES = 20_000


def has_recipes(path: str) -> bool:
    return bool(_RECIPES.fullmatch(path))


def compare_package_scripts(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    old, new = _scripts(base), _scripts(head)
    for name, value in new.items():
        before = old.get(name)
        if before is not None and before.text == value.text:
            continue
        if before is None:
            if _LIFECYCLE.fullmatch(name):
                detail = f"The script {as_code(name)} runs by itself: {as_code(value.text)}."
                yield _finding("startup_hook_added", path, value.line, detail)
            continue
        loosened = list(judge_command(before.text, value.text))
        for kind, meaning in loosened:
            detail = f"In the script {as_code(name)} {meaning}: {as_code(value.text)}."
            yield _finding(kind, path, value.line, detail)
        if not loosened:
            detail = f"The script {as_code(name)} was {as_code(before.text)} and is {as_code(value.text)}."
            is_check = runs_check(name) or runs_check(before.text)
            yield _finding("check_setting_changed", path, value.line, detail, "ask" if is_check else "notice")
    for name in old.keys() - new.keys():
        if runs_check(name) or runs_check(old[name].text):
            detail = f"The script {as_code(name)} of the base is gone: {as_code(old[name].text)}."
            yield _finding("check_setting_changed", path, None, detail)


def _scripts(values: SettingValues) -> dict[str, Value]:
    return {key[1]: value for key, value in values.items() if len(key) == 2 and key[0] == "scripts"}


def compare_recipes(path: str, base: str, head: str) -> Iterator[TamperFinding]:
    """Lines that the head adds. In make, a `-` before a command says that its failure does not count."""
    old = Counter(line.strip() for line in base.splitlines()[:_MAX_LINES])
    plain = {line.lstrip("-@ ") for line in old}
    for number, written in enumerate(head.splitlines()[:_MAX_LINES], 1):
        line = written.strip()
        if not line or line.startswith(("#", "//")) or old[line] > 0:
            old[line] -= 1
            continue
        if re.match(r"@?-", line) and line.lstrip("-@ ") in plain and runs_check(line):
            detail = f"A failure no longer counts: {as_code(line)}."
            yield _finding("failure_ignored", path, number, detail)
        for kind, meaning in judge_command("", line):
            severity: Severity = "ask" if runs_check(line) else "notice"
            yield _finding(kind, path, number, f"In a command {meaning}: {as_code(line)}.", severity)


def compare_environment_checks(
    path: str, base: SettingValues, head: SettingValues
) -> Iterator[TamperFinding]:
    old = {key: value for key, value in base.items() if key[0] == "checks"}
    new = {key: value for key, value in head.items() if key[0] == "checks"}
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before is not None and after is not None and before.text == after.text:
            continue
        name = as_code(".".join(key[1:]))
        if before is None and after is not None:
            detail = f"The check {name} is added: {as_code(after.text)}."
            yield _finding("environment_checks_changed", path, after.line, detail, "notice")
        elif before is not None:
            now = f"is {as_code(after.text)}" if after is not None else "is gone"
            detail = f"The check {name} was {as_code(before.text)} and {now}."
            yield _finding("environment_checks_changed", path, after.line if after else None, detail)


def _finding(
    kind: TamperKind, path: str, line: int | None, detail: str, severity: Severity = "ask"
) -> TamperFinding:
    return TamperFinding(
        kind=kind, path=path, lines=(line, line) if line else None, detail=detail, severity=severity
    )
