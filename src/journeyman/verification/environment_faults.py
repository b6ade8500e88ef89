"""Whether a check failed because of its environment, decided from what it printed.

Every failure must be explained: three hundred tests that pass beside two that lack a package are the
environment's, but one failed assertion among them is not, because it would fail for a developer
as well. Where the output does not say enough, the check has failed; nothing here ever makes it pass.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from journeyman.verification.counts import Counts
from journeyman.verification.failing import cut
from journeyman.verification.faults import machine, packages
from journeyman.verification.faults.fault import EnvironmentFault
from journeyman.verification.own_code import CodeUnderTest

_PATTERNS = tuple(
    (re.compile(pattern, re.MULTILINE), meaning)
    for pattern, meaning in (*packages.PATTERNS, *machine.PATTERNS)
)
_MOST = 20
_MOST_READ = 200_000
_ASSERTED = re.compile(r"(?m)^FAILED \S+ - (?:assert\b|AssertionError|Failed:)")
_KILLED = 137
_LONG_LINE = re.compile(r"(?m)^(.{1000}).+$")
_LEFT_OUT = re.compile(r"(?:bytes of output were|characters) left out")
_REAL_ERRORS = re.compile(r"(?m)^error\[E(?!0463)\d+\]")
_IGNORABLE = re.compile(r"(?m)^(?:npm (?:warn|WARN)|warning:|\S+Warning:|.*\bwarnings? summary\b).*$")

_PYTEST_HEAD = re.compile(r"(?m)^_+ (?!_)(.+?) _+$")
_PYTEST_END = re.compile(r"(?m)^=+ .+ =+$|^FAILED |^ERROR ")
_PYTEST_ERROR = re.compile(r"(?m)^E(?: .*)?$")
_ASSERTS = re.compile(r"^E\s+(?:assert\b|AssertionError|Failed:)")
_EXCEPTION = re.compile(
    r"^E\s+(?:assert\b|Failed:|fixture '"
    r"|[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning|NotFound\w*|Iteration)\b)"
)
_LEFT_BEHIND = re.compile(r"^E\s+pytest\.PytestUnraisableExceptionWarning\b")
"""What another test left open, found by whichever test ran when it was collected as garbage."""
_CONFTEST = re.compile(r"(?m)^ImportError while loading conftest")
_UNITTEST_HEAD = re.compile(r"(?m)^={70}\n(ERROR|FAIL): ")
_OTHER_HEADS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^\s+● (?!Console).+$",  # jest
        r"^ *(?:❯ )?FAIL  +\S.*$",  # vitest
        r"^---- \S.* stdout ----$",  # cargo
        r"^\s*--- FAIL: .+$",  # go
        r"^FAIL\s+\S+ \[(?:setup|build) failed\]$",
        r"^\S+\.pyi?:\d+(?::\d+)?: error: .*$",  # mypy
    )
)
_TAP = re.compile(r"(?m)^ +failureType: '(?!subtestsFailed)")
_TYPESCRIPT = re.compile(r"error TS(?:2307|2792|7016|2688|2875): .*")


class _Failure(NamedTuple):
    text: str
    """The lines that say why."""
    around: str
    is_left_behind: bool = False
    """It says nothing of its own: another failure is its cause."""


def environment_faults(
    exit_code: int | None, output: str, counts: Counts | None, code: CodeUnderTest
) -> tuple[EnvironmentFault, ...]:
    """What the environment lacks, if that alone explains why the check did not pass; else nothing."""
    if exit_code == 0:
        return ()
    output = cut(_LONG_LINE.sub(r"\1", output), _MOST_READ)
    if exit_code == _KILLED and counts is None:
        return (machine.OUT_OF_MEMORY,)
    if _REAL_ERRORS.search(output):
        return ()
    if unresolved := _TYPESCRIPT.findall(output):
        # A package that is missing makes errors all over the code that uses it.
        failures, counts = [_Failure(line, line) for line in unresolved], None
    else:
        failures = _failures(output, counts)
    found: dict[EnvironmentFault, None] = {}
    for failure in failures:
        if failure.is_left_behind:
            continue
        if not (faults := _explain(failure, code)):
            return ()
        found |= dict.fromkeys(faults)
    if counts is not None and len(failures) < counts.failed and not _is_cut(output):
        return ()
    return tuple(found)[:_MOST]


def _is_cut(output: str) -> bool:
    """Whether failures may be missing from a long output; pytest tells of each once more at its end."""
    return bool(_LEFT_OUT.search(output)) and not _ASSERTED.search(output)


def _explain(failure: _Failure, code: CodeUnderTest) -> list[EnvironmentFault]:
    """What a failure says is missing; nothing where one of its messages is about the code."""
    found: list[EnvironmentFault] = []
    for pattern, meaning in _PATTERNS:
        for match in pattern.finditer(failure.text):
            fault = meaning(match, code, failure.around)
            if fault is None:
                return []
            found.append(fault)
    return found


def _failures(output: str, counts: Counts | None) -> list[_Failure]:
    """Each failure that the output tells of; all of it as one where no tool that is known printed it."""
    if found := list(_of_pytest(output)):
        return found
    if found := list(_of_unittest(output)):
        return found
    for head in _OTHER_HEADS:
        if found := [_Failure(text, text) for text in _split(head, output)]:
            return found
    failing = len(_TAP.findall(output))
    if failing:
        # The reason of a file that could not be loaded is printed before its result.
        texts = re.findall(r"(?m)^# \S*Error\b.*$", output)
        return [_Failure(text, text) for text in texts] if len(texts) >= failing else [_Failure("", "")]
    if counts is not None and counts.failed:
        return [_Failure("", "")]
    plain = _IGNORABLE.sub("", output)
    return [_Failure(plain, plain)]


def _of_pytest(output: str) -> Iterator[_Failure]:
    if _CONFTEST.search(output):
        yield _Failure("\n".join(_PYTEST_ERROR.findall(output)), output)
        return
    for block in _split(_PYTEST_HEAD, output, _PYTEST_END):
        lines = _PYTEST_ERROR.findall(block)
        raised = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
        last = lines[raised[-1] :] if raised else lines
        if last and _ASSERTS.match(last[0]):
            last = []
        # An exception may hide the one that says more: a refused host behind an error of the client.
        said = lines if last else []
        yield _Failure("\n".join(said), block, bool(last and _LEFT_BEHIND.match(last[0])))


def _of_unittest(output: str) -> Iterator[_Failure]:
    for block in _split(_UNITTEST_HEAD, output):
        lines = [line for line in block.splitlines() if line.strip()]
        ends = [
            line
            for line in lines
            if re.match(r"[A-Za-z_][\w.]*(?:Error|Exception|NotFound\w*|\b)(?::|$)", line)
        ]
        said = "\n".join(ends) if "\nERROR: " in f"\n{block}" else ""
        yield _Failure(said, block)


def _split(head: re.Pattern[str], output: str, end: re.Pattern[str] | None = None) -> Iterator[str]:
    """The parts of an output that begin with a headline."""
    heads = list(head.finditer(output))
    for number, begin in enumerate(heads):
        stop = heads[number + 1].start() if number + 1 < len(heads) else len(output)
        if end is not None and (ended := end.search(output, begin.end(), stop)):
            stop = ended.start()
        yield output[begin.start() : stop]
