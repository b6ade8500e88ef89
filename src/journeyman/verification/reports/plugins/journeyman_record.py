"""Writes what happens to tests of Python as lines of JSON; `settings.json` beside it says where.

Lines are collected and written between tests: while one runs, the file system may be a fake. A file is opened
for each write, because tests close descriptors that are not theirs. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import os
import signal
import sys
import unittest
from types import FrameType
from typing import Any, Callable, Iterator  # noqa: UP035 - also for older versions of Python

__unittest = True
"""Leaves the frames of this file out of tracebacks: `unittest` would end them here otherwise."""
_HERE = os.path.dirname(os.path.abspath(__file__))
_open, _write, _close, _getpid = os.open, os.write, os.close, os.getpid

with open(os.path.join(_HERE, "settings.json"), encoding="utf-8") as _file:
    SETTINGS: dict[str, Any] = json.load(_file)


class TestTookTooLong(BaseException):
    """Not an Exception, so that tests that catch those end too."""


class ReportWriter:
    def __init__(self, runner: str) -> None:
        self.owner = _getpid()
        self._path = os.path.join(SETTINGS["reports"], "%s.%d.jsonl" % (runner, self.owner))  # noqa: UP031
        self._lines: list[str] = []
        self._raised: set[str] = set()

    def add(self, **record: object) -> None:
        self._lines.append(json.dumps(record) + "\n")

    def ran(self, test_id: str, error: BaseException | None) -> None:
        """How a test ended by itself, whatever is reported of it. Of several attempts the last one counts."""
        if error is not None and not _is_skip(error):
            self._raised.add(test_id)
            self.add(raised=test_id)
        elif test_id in self._raised:
            self._raised.discard(test_id)
            self.add(returned=test_id)

    def flush(self) -> None:
        if not self._lines:
            return
        content = "".join(self._lines).encode("ascii", "backslashreplace")
        try:
            file = _open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError:
            return  # tried again after the next test
        try:
            while content:
                content = content[_write(file, content) :]
        finally:
            _close(file)
        self._lines = []


def is_nested() -> bool:
    """Whether a process above this one reports already: a runner that is the subject of a test."""
    process = os.getppid()
    while process > 1:
        if any(name.split(".")[1:2] == [str(process)] for name in os.listdir(SETTINGS["reports"])):
            return True
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                process = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False


class Limit:
    """Ends a test that takes too long, as far as a signal can; again and again where it goes on."""

    def __init__(self) -> None:
        self._seconds = float(SETTINGS["seconds_per_test"] or 0)
        self._before: Any = None

    def __enter__(self) -> None:
        if self._seconds:
            self._before = signal.signal(signal.SIGALRM, self._end)
            signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def __exit__(self, *_: object) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        raise TestTookTooLong(f"the test ran longer than {self._seconds:g} s")


def watch_unittest(ran: Callable[[str, BaseException | None], None]) -> None:
    """See how test methods of `unittest` end, below everything that reports it."""
    call = getattr(unittest.TestCase, "_callTestMethod", None)
    if call is None:
        return

    def watched(self: unittest.TestCase, method: Callable[[], object]) -> object:
        try:
            result = call(self, method)
        except BaseException as error:
            ran(self.id(), error)
            raise
        ran(self.id(), None)
        return result

    unittest.TestCase._callTestMethod = watched  # type: ignore[attr-defined]


def module_locations() -> Iterator[dict[str, object]]:
    """Where packages that the repository also holds were imported from, and whether it is the same code."""
    for name, directory in SETTINGS["packages"].items():
        location = getattr(sys.modules.get(name), "__file__", None)
        if not isinstance(location, str):
            continue
        own = os.path.join(SETTINGS["workspace"], directory)
        yield {"module": name, "location": location, "is_own": _is_same(os.path.realpath(location), own)}


def _is_same(location: str, own: str) -> bool:
    """Whether a module is a file of the repository, or a copy with equal content."""
    own = os.path.realpath(own)
    if location.startswith(os.path.join(os.path.realpath(SETTINGS["workspace"]), "")) and not (
        {"site-packages", "dist-packages"} & set(location.split(os.sep))
    ):
        return True
    if os.path.isfile(own):
        return _content(location) == _content(own)
    copy = os.path.dirname(location)
    for directory, _, files in os.walk(own):
        for file in files:
            path = os.path.join(directory, file)
            other = _content(os.path.join(copy, os.path.relpath(path, own)))
            if file.endswith(".py") and other is not None and other != _content(path):
                return False
    return _content(location) is not None


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _is_skip(error: BaseException) -> bool:
    """Skips and expected failures of both runners."""
    names = {"Skipped", "XFailed", "SkipTest", "_ShouldStop"}
    return bool(names & {one.__name__ for one in type(error).__mro__})
