"""What an agent is given when checks fail: the tests by name, what each says, and its own change.

Frames of installed packages are left out: the mistake is in the repository's own files.
"""

import re
from collections.abc import Sequence

from journeyman.verification.failing import cut
from journeyman.verification.run import CheckResult

_MOST_TESTS = 20
_MESSAGE_CHARACTERS = 1_500
_DIFF_CHARACTERS = 20_000
_FOREIGN_FRAME = re.compile(
    r"(?:site-packages|dist-packages|node_modules|/lib/python\d|\.cargo/registry|/go/pkg/mod)/"
)


def describe_failures(failed: Sequence[CheckResult], diff: str = "") -> str:
    """`diff` is the change since the base commit; empty leaves it out."""
    parts = [_of_check(one) for one in failed]
    if diff:
        parts.append(f"The change since the base commit:\n{cut(diff, _DIFF_CHARACTERS)}")
    return "\n\n".join(parts)


def failure_signature(failed: Sequence[CheckResult]) -> frozenset[str]:
    """What fails, to compare two attempts by: test ids, or a command and its lines without numbers."""
    found: set[str] = set()
    for one in failed:
        tests = one.comparison.counting if one.comparison else ()
        found |= set(tests) or {f"{one.check.command}\n{_NUMBERS.sub('', one.failing or one.summary)}"}
    return frozenset(found)


_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9.]+")


def _of_check(result: CheckResult) -> str:
    lines = [f"$ {result.check.command}", *_of_tests(result)]
    shown = "\n".join(line for line in result.failing.splitlines() if not _FOREIGN_FRAME.search(line))
    lines.append(shown or result.summary)
    if result.comparison and result.comparison.counting and (old := result.comparison.old_failures):
        lines.append(f"Failed before your change, and not yours to repair: {_named(old)}")
    return "\n".join(lines)


def _of_tests(result: CheckResult) -> list[str]:
    if result.comparison is None or result.report is None:
        return []
    cases = result.report.by_id()
    new = result.comparison.counting or result.comparison.old_failures
    lines = [
        f"FAILED {test}{_message(cases[test].message) if test in cases else ''}" for test in new[:_MOST_TESTS]
    ]
    return [*lines, *([f"and {len(new) - _MOST_TESTS} more"] if len(new) > _MOST_TESTS else [])]


def _message(text: str) -> str:
    return f": {cut(text, _MESSAGE_CHARACTERS)}" if text else ""


def _named(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - _MOST_TESTS} more" if len(tests) > _MOST_TESTS else ""
    return ", ".join(tests[:_MOST_TESTS]) + more
