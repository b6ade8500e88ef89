"""Extract the few lines of a long output that say what failed.

They go to the agent that must fix it and to a person who reads the result. Tools print the decisive lines in
known formats; where none is found, the end of the output is used.
"""

import re

LIMIT = 6_000
_TAIL_LINES = 40
_LONG_LINE = 400
_TRACEBACK = 20
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")

_PATTERNS = tuple(
    (re.compile(pattern), after)
    for pattern, after in (
        # pytest: the failing line, what it says, where, and the short summary
        (r"^(?:>|E) {2,}\S", 0),
        (r"^_{3,} .+ _{3,}$", 0),
        (r"^\S+\.py:\d+: (?:in |\w*(?:Error|Exception|Warning))", 0),
        (r"^(?:FAILED|ERROR) \S", 0),
        # unittest, and every traceback
        (r"^(?:FAIL|ERROR): \S", 0),
        (r"^Traceback \(most recent call last\):", _TRACEBACK),
        # jest and vitest
        (r"^\s+● .+", 14),
        (r"^\s*(?:✕|×|✖|not ok\b|FAIL\s).*", 4),
        (r"^\s*(?:AssertionError|Error|TypeError|ReferenceError)\b.*", 6),
        # cargo and rustc
        (r"^---- .+ stdout ----$", 8),
        (r"^error(?:\[E\d+\])?: ", 8),
        (r"^test .+ \.\.\. FAILED$", 0),
        # go
        (r"^\s*--- FAIL: ", 6),
        (r"^\S+\.go:\d+(?::\d+)?: ", 0),
        (r"^(?:panic: |fatal error: )", 10),
        # compilers and linters: file, line, what
        (r"^\S+\(\d+,\d+\): error ", 0),
        (r"^\S+:\d+(?::\d+)?:? (?:fatal )?error\b", 3),
        (r"^\S+:\d+:\d+: [A-Z]+\d+ ", 0),
        (r"^[A-Z]+\d+ (?:\[\*\] )?\S", 3),
        (r"^\s+\d+:\d+\s+error\s", 0),
        (r"^npm (?:ERR!|error) ", 0),
        (r"^make(?:\[\d+\])?: \*\*\*", 0),
        (r"(?i)^\s*(?:fatal|error)\s?:", 3),
    )
)


def failing_lines(output: str, limit: int = LIMIT) -> str:
    """The decisive lines, in their order, with `…` where lines were left out."""
    lines = [_short(line) for line in _ANSI.sub("", output).replace("\r\n", "\n").split("\n")]
    kept = _decisive(lines)
    if not kept:
        while lines and not lines[-1].strip():
            lines.pop()
        kept = set(range(max(0, len(lines) - _TAIL_LINES), len(lines)))
    pieces: list[str] = []
    before = -1
    for number in sorted(kept):
        if pieces and number != before + 1:
            pieces.append("…")
        pieces.append(lines[number])
        before = number
    return cut("\n".join(pieces), limit)


def cut(text: str, limit: int) -> str:
    """Head and tail of a text that is too long; the end says more than the beginning."""
    if len(text) <= limit:
        return text
    head, tail = limit * 4 // 10, limit // 2
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"


def _decisive(lines: list[str]) -> set[int]:
    kept: set[int] = set()
    for number, line in enumerate(lines):
        for pattern, after in _PATTERNS:
            if pattern.match(line):
                kept.update(_block(lines, number, after))
                break
    return kept


def _block(lines: list[str], number: int, after: int) -> list[int]:
    """A matching line and what belongs to it: so many lines, or a traceback up to its exception."""
    last = min(number + after, len(lines) - 1)
    if after == _TRACEBACK:
        last = next((at for at in range(number + 1, last) if lines[at][:1] not in ("", " ")), last)
    while last > number and not lines[last].strip():
        last -= 1
    return list(range(number, last + 1))


def _short(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= _LONG_LINE else line[:_LONG_LINE] + "…"
