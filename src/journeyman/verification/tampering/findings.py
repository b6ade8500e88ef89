"""What can be found, and what a reviewer reads of it."""

from dataclasses import dataclass
from typing import Literal

TamperKind = Literal[
    "test_removed",
    "test_skipped",
    "test_emptied",
    "assertions_removed",
    "assertion_weakened",
    "cases_removed",
    "expected_value_changed",
    "test_focused",
    "vacuous_assertion",
    "threshold_lowered",
    "check_setting_changed",
    "ci_changed",
    "snapshot_rewritten",
    "retry_added",
    "failure_ignored",
    "environment_checks_changed",
    "test_detection",
    "process_exit_added",
    "startup_hook_added",
    "trust_root_changed",
    "old_test_fails",
    "not_compared",
]
Severity = Literal["notice", "ask"]

_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class TamperFinding:
    kind: TamperKind
    path: str
    lines: tuple[int, int] | None
    """First and last line in the head's file, or in the base's for what is gone; `detail` says which."""
    detail: str
    """One sentence for a reviewer. It quotes the repository, so it is untrusted text."""
    severity: Severity
    """`ask`: a person is to approve it, where the policy says so."""


def as_code(text: str) -> str:
    """Text of the repository on one line, without control characters, cut."""
    line = " ".join(text.split())
    shown = "".join(character if character.isprintable() else "\ufffd" for character in line[:_SHOWN])
    return f"`{shown.replace('`', chr(39))}{'…' if len(line) > _SHOWN else ''}`"
