"""Which checks are run: those of the base commit, what it lacks, and what a step of the workflow says.

The base decides, so that a change cannot replace the command that judges it. Where the base has no check of a
kind, that of the change is taken: a project that gets its first tests is tested by them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from journeyman.environments.plan import Check, CheckKind

_KINDS: dict[str, CheckKind] = {
    "build": "build",
    "test": "test",
    "tests": "test",
    "lint": "lint",
    "types": "types",
    "typecheck": "types",
}
_ORDER: dict[CheckKind, int] = {"build": 0, "types": 1, "test": 2, "lint": 3}
_SAID = "the workflow's step"


def choose_checks(
    base: Iterable[Check], head: Iterable[Check], commands: Mapping[str, str | None]
) -> list[Check]:
    """`commands` replace the check of the same name, or all checks of the kind that they name; None leaves
    them out."""
    checks = list(base)
    kinds = {check.kind for check in checks}
    checks += [check for check in head if check.kind not in kinds]
    for name, command in commands.items():
        checks = _with_command(checks, name, command)
    return sorted(checks, key=lambda check: _ORDER[check.kind])


def _with_command(checks: Sequence[Check], name: str, command: str | None) -> list[Check]:
    replaced = [check for check in checks if check.name == name]
    if not replaced and name in _KINDS:
        replaced = [check for check in checks if check.kind == _KINDS[name]]
    kept = [check for check in checks if check not in replaced]
    if command is None:
        return kept
    if len(replaced) == 1:
        said = replace(replaced[0], name=name, command=command, why=_SAID, probe="true", otherwise=None)
        return [*kept, said]
    kind = _KINDS.get(name, "test")
    return [*kept, Check(name=name, kind=kind, command=command, tool=name, why=_SAID, probe="true")]
