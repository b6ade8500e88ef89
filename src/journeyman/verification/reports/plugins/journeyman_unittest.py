"""Starts a program that runs tests by `unittest`, and reports each of them.

Called as `journeyman_unittest.py -m unittest …` or `journeyman_unittest.py manage.py test …`. Everything but
the recording is left to the program itself.
"""

from __future__ import annotations

import atexit
import functools
import os
import runpy
import sys
import unittest
from typing import Any, Callable  # noqa: UP035 - also for older versions of Python

import journeyman_record as record  # type: ignore[import-not-found]

_OUTCOMES = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "failed",
    "addUnexpectedSuccess": "failed",
    "addSkip": "skipped",
    "addExpectedFailure": "xfailed",
}


class _Watch:
    """Records what results are given, in the process that was started, and how test methods end in all."""

    def __init__(self) -> None:
        self._recorder = record.ReportWriter("unittest")
        self._recorder.add(begin="unittest", is_part=False)
        self._recorder.flush()
        for name, outcome in _OUTCOMES.items():
            setattr(unittest.TestResult, name, self._recorded(getattr(unittest.TestResult, name), outcome))
        unittest.TestResult.addSubTest = self._subtest(unittest.TestResult.addSubTest)  # type: ignore[method-assign]
        unittest.TestResult.stopTest = self._stopped(unittest.TestResult.stopTest)  # type: ignore[method-assign]
        unittest.TestCase.run = _limited(unittest.TestCase.run)  # type: ignore[method-assign]
        record.watch_unittest(self._recorder.ran)

    def _recorded(self, add: Callable[..., Any], outcome: str) -> Callable[..., Any]:
        @functools.wraps(add)
        def recorded(result: unittest.TestResult, test: Any, *more: Any) -> Any:
            self._add(test, outcome, more)
            return add(result, test, *more)

        return recorded

    def _subtest(self, add: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(add)
        def recorded(result: unittest.TestResult, test: Any, subtest: Any, error: Any) -> Any:
            if error is not None:
                self._add(test, "failed", (error,))
            return add(result, test, subtest, error)

        return recorded

    def _stopped(self, stop: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(stop)
        def recorded(result: unittest.TestResult, test: Any) -> Any:
            stopped = stop(result, test)
            self._recorder.flush()
            return stopped

        return recorded

    def _add(self, test: Any, outcome: str, more: tuple[Any, ...]) -> None:
        if os.getpid() != self._recorder.owner:
            return
        cause = more[0] if more else ""
        message = f"{cause[0].__name__}: {cause[1]}" if isinstance(cause, tuple) else str(cause)
        file = getattr(sys.modules.get(type(test).__module__), "__file__", None)
        self._recorder.add(
            id=test.id(),
            outcome=outcome,
            message=message[:4000],
            file=os.path.relpath(file, record.SETTINGS["workspace"]) if file else "",
        )

    def finish(self) -> None:
        if os.getpid() == self._recorder.owner:
            for location in record.module_locations():
                self._recorder.add(**location)
            self._recorder.add(end=0)
            self._recorder.flush()


def _limited(run: Callable[..., Any]) -> Callable[..., Any]:
    only = set(record.SETTINGS["only"])

    @functools.wraps(run)
    def limited(test: unittest.TestCase, result: unittest.TestResult | None = None) -> Any:
        if only and test.id() not in only:
            return result
        with record.Limit():
            return run(test, result)

    return limited


def main() -> None:
    arguments = sys.argv[1:]
    if not record.is_nested():
        atexit.register(_Watch().finish)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
