"""How many tests ran, parsed from the output of test tools.

A run of no tests often ends with exit code 0; only the numbers tell it from success. Tests that were
skipped, or that were expected to fail, did not show that anything works: they are not counted as run.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def ran(self) -> int:
        return self.passed + self.failed

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        parts = [(self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]
        return ", ".join(f"{number} {word}" for number, word in parts if number) or "no tests"


def count_tests(output: str) -> Counts | None:
    """The tests that all known tools in this output report; None when none of them reports any number."""
    found = [counts for tool in _TOOLS if (counts := tool(output)) is not None]
    return sum(found[1:], found[0]) if found else None


_MEANING = {
    **dict.fromkeys(("passed", "pass", "passing", "xpassed"), "passed"),
    **dict.fromkeys(("failed", "fail", "failing", "error", "errors", "cancelled"), "failed"),
    **dict.fromkeys(("skipped", "xfailed", "ignored", "pending", "todo"), "skipped"),
}


def _tally(pairs: list[tuple[str, str]]) -> Counts:
    """Counts from pairs of number and word; words without a meaning here are left out."""
    sums = {"passed": 0, "failed": 0, "skipped": 0}
    for number, word in pairs:
        if word in _MEANING:
            sums[_MEANING[word]] += int(number)
    return Counts(**sums)


def _last(pattern: str, output: str) -> re.Match[str] | None:
    match = None
    for match in re.finditer(pattern, output, re.MULTILINE):  # noqa: B007
        pass
    return match


def _numbers(text: str) -> Counts:
    return _tally(re.findall(r"(\d+) (\w+)", text))


def _pytest(output: str) -> Counts | None:
    ended = _last(r"^(?:=+ )?(no tests (?:ran|collected)|\d+ \w+)([^\n]*?) in \d+\.\d+s", output)
    return _numbers(ended[1] + ended[2]) if ended else None


def _unittest(output: str) -> Counts | None:
    ended = _last(r"^Ran (\d+) tests? in [\d.]+s\s+(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", output)
    if not ended:
        return None
    extra = {word: int(number) for word, number in re.findall(r"([a-z ]+)=(\d+)", ended[3] or "")}
    extra = {word.strip(): number for word, number in extra.items()}
    failed = extra.get("failures", 0) + extra.get("errors", 0) + extra.get("unexpected successes", 0)
    skipped = extra.get("skipped", 0) + extra.get("expected failures", 0)
    return Counts(max(int(ended[1]) - failed - skipped, 0), failed, skipped)


def _cargo(output: str) -> Counts | None:
    results = re.findall(r"^test result: \w+\. ([^\n]*)", output, re.MULTILINE)
    return _numbers("; ".join(results)) if results else None


def _go(output: str) -> Counts | None:
    """Go names packages, not tests: a package counts as one."""
    passed = re.findall(r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests to run\])", output, re.MULTILINE)
    failed = re.findall(r"^FAIL\s+\S+\s+(?:[\d.]+s|\[)", output, re.MULTILINE)
    empty = re.search(r"\[no test(?: file)?s(?: to run)?\]\s*$", output, re.MULTILINE)
    return Counts(len(passed), len(failed)) if passed or failed or empty else None


def _jest(output: str) -> Counts | None:
    if re.search(r"^No tests found, exiting with code", output, re.MULTILINE):
        return Counts()
    ended = _last(r"^Tests: +(\d+ \w[^\n]*)", output)
    return _numbers(ended[1]) if ended else None


def _vitest(output: str) -> Counts | None:
    if re.search(r"^\s*No test files found", output, re.MULTILINE):
        return Counts()
    ended = _last(r"^\s*Tests  +(\d[^\n]*)", output)
    return _numbers(ended[1]) if ended else None


def _node(output: str) -> Counts | None:
    pairs = re.findall(r"^[#ℹ] (tests|pass|fail|cancelled|skipped|todo) (\d+)$", output, re.MULTILINE)
    return _tally([(number, word) for word, number in pairs]) if "tests" in dict(pairs) else None


def _mocha(output: str) -> Counts | None:
    pairs = re.findall(r"^\s+(\d+) (passing|failing|pending)\b", output, re.MULTILINE)
    return _tally(pairs) if pairs else None


def _meson(output: str) -> Counts | None:
    if re.search(r"^No tests defined\.$", output, re.MULTILINE):
        return Counts()
    pairs = re.findall(
        r"^(Ok|Fail|Unexpected Pass|Timeout|Skipped|Expected Fail): +(\d+)", output, re.MULTILINE
    )
    words = {"Ok": "passed", "Skipped": "skipped", "Expected Fail": "skipped"}
    return _tally([(number, words.get(word, "failed")) for word, number in pairs]) if pairs else None


def _automake(output: str) -> Counts | None:
    pairs = re.findall(r"^# (PASS|SKIP|XFAIL|FAIL|XPASS|ERROR): +(\d+)", output, re.MULTILINE)
    words = {"PASS": "passed", "SKIP": "skipped", "XFAIL": "skipped"}
    return _tally([(number, words.get(word, "failed")) for word, number in pairs]) if pairs else None


def _ava(output: str) -> Counts | None:
    pairs = re.findall(r"^\s+(\d+) tests? (passed|failed|skipped|todo)$", output, re.MULTILINE)
    return _tally(pairs) if pairs else None


_SUMMARIES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # ctest
        r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)",
        # Maven's surefire; the line of a single class goes on with its time
        r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+),"
        r" Skipped: (?P<skipped>\d+)(?:, Flakes: \d+)?$",
        # Gradle, which counts only where some failed
        r"^(?P<total>\d+) tests? completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?",
        # minitest, test-unit, RSpec
        r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors, "
        r"(?P<skipped>\d+) (?:skips|pendings)",
        r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?",
        # PHPUnit
        r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)",
        r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
        r"(?:, Failures: (?P<failed>\d+))?(?:, [A-RT-Z]\w+: \d+)*(?:, Skipped: (?P<skipped>\d+))?",
        # .NET
        r"^\s*(?:Passed|Failed|Skipped)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+\d+,"
        r" Skipped:\s+(?P<skipped>\d+), Total:\s+(?P<total>\d+)",
        # small runners of C, bats
        r"^(?P<total>\d+) tests?, \d+ passed, (?P<failed>\d+) failed",
        r"^(?P<total>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) skipped)?$",
        # ctest, surefire and PHPUnit where there are none
        r"^(?:\[\w+\] )?No tests (?:were found!!!|to run\.|executed!)$",
    )
)


def _summary(output: str) -> Counts | None:
    """Lines that say how many there were, and how many of these failed; each package may have its own."""
    found = [line.groupdict() for pattern in _SUMMARIES for line in pattern.finditer(output)]
    if not found:
        return None
    total, failed, errors, skipped = (
        sum(int(one.get(name) or 0) for one in found) for name in ("total", "failed", "errors", "skipped")
    )
    return Counts(max(total - failed - errors - skipped, 0), failed + errors, skipped)


_TOOLS: tuple[Callable[[str], Counts | None], ...] = (
    _pytest,
    _unittest,
    _cargo,
    _go,
    _jest,
    _vitest,
    _node,
    _mocha,
    _ava,
    _meson,
    _automake,
    _summary,
)
