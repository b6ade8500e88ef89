"""Pipelines of a forge: jobs and commands that are gone, failures that no longer count.

Steps are numbered and move when one is added, so commands are compared as a set and not by their place.
"""

import re
from collections import Counter
from collections.abc import Iterator

from journeyman.verification.tampering.commands import judge_command, runs_check
from journeyman.verification.tampering.findings import TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.settings_values import SettingValues, Value

_PIPELINE = re.compile(
    r"(?:\.github/(?:workflows|actions)|\.gitea/workflows|\.circleci|\.buildkite|\.woodpecker)/.+\.ya?ml"
    r"|(?:.*/)?(?:\.gitlab-ci|azure-pipelines|bitbucket-pipelines|\.travis|appveyor|\.appveyor|\.cirrus|\.drone)"
    r"\.ya?ml"
)
_COMMANDS = frozenset(
    {"run", "script", "before_script", "after_script", "command", "commands", "test_script"}
)
_FORGIVEN = frozenset(
    {"continue-on-error", "allow_failure", "continueOnError", "ignore_failure", "soft_fail"}
)
_NEVER = frozenset({"false", "${{ false }}", "${{false}}", "never", "never()"})
_GITLAB_WORDS = frozenset(
    {"stages", "variables", "default", "include", "image", "services", "workflow", "cache"}
)


def is_pipeline(path: str) -> bool:
    return bool(_PIPELINE.fullmatch(path))


def compare_pipelines(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    if not head:
        yield _asked("ci_changed", path, None, "The pipeline is removed.")
        return
    found = [*_missing_jobs(path, base, head), *_forgiven(path, base, head), *_commands(path, base, head)]
    yield from found
    if not found:
        detail = "The pipeline is different." if base else "A pipeline is added."
        yield TamperFinding(kind="ci_changed", path=path, lines=None, detail=detail, severity="notice")


def _missing_jobs(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    gone = _jobs(base) - _jobs(head)
    added = len(_jobs(head) - _jobs(base))
    for name in sorted(gone)[added:]:
        yield _asked("ci_changed", path, None, f"The job {as_code(name)} is gone from the pipeline.")
    for key in ("on", "true"):
        before = {name[1] for name in base if len(name) > 1 and name[0] == key}
        after = {name[1] for name in head if len(name) > 1 and name[0] == key}
        if head and before and before - after:
            lost = as_code(", ".join(sorted(before - after)))
            yield _asked("ci_changed", path, None, f"The pipeline no longer runs on {lost}.")


def _jobs(values: SettingValues) -> frozenset[str]:
    named_jobs = frozenset(key[1] for key in values if len(key) > 2 and key[0] == "jobs")
    if named_jobs:
        return named_jobs
    return frozenset(
        key[0] for key in values if len(key) > 1 and key[1] == "script" and key[0] not in _GITLAB_WORDS
    )


def _forgiven(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    for name in sorted(_FORGIVEN):
        before = sum(1 for key, value in base.items() if key[-1] == name and _is_on(value))
        after = [value for key, value in head.items() if key[-1] == name and _is_on(value)]
        if len(after) > before:
            line = after[-1].line
            yield _asked(
                "failure_ignored",
                path,
                line,
                f"A failure no longer counts in the pipeline: {as_code(name)}.",
            )
    never = [
        value for key, value in head.items() if key[-1] in ("if", "when") and value.text.strip() in _NEVER
    ]
    before = sum(
        1 for key, value in base.items() if key[-1] in ("if", "when") and value.text.strip() in _NEVER
    )
    if len(never) > before:
        yield _asked(
            "ci_changed", path, never[-1].line, "A part of the pipeline is never run: its condition is false."
        )


def _commands(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    old, new = _lines(base), _lines(head)
    gone = Counter(line for line, _ in old) - Counter(line for line, _ in new)
    kept = Counter(line for line, _ in old)
    added = []
    for line, number in new:
        if kept[line]:
            kept[line] -= 1
        else:
            added.append((line, number))
    for line, number in added:
        for kind, meaning in judge_command(_nearest(line, gone), line):
            yield _asked(kind, path, number, f"In a command of the pipeline {meaning}: {as_code(line)}.")
    lost = [line for line in gone if runs_check(line)]
    found = [line for line, _ in added if runs_check(line)]
    for line in lost[len(found) :]:
        yield _asked("ci_changed", path, None, f"The pipeline no longer runs {as_code(line)}.")


def _nearest(line: str, candidates: Counter[str]) -> str:
    """The removed command that shares most words with an added one."""
    words = set(line.split())
    return max(candidates, key=lambda other: len(words & set(other.split())), default="")


def _lines(values: SettingValues) -> list[tuple[str, int | None]]:
    return [
        (line.strip(), value.line)
        for key, value in values.items()
        if key[-1] in _COMMANDS
        for line in value.text.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]


def _is_on(value: Value) -> bool:
    return value.text.strip().lower() not in ("false", "no", "off", "")


def _asked(kind: TamperKind, path: str, line: int | None, detail: str) -> TamperFinding:
    return TamperFinding(
        kind=kind, path=path, lines=(line, line) if line else None, detail=detail, severity="ask"
    )
