"""Reports each test of pytest, and how it ended below the hooks that a project can change.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import unittest
from typing import Any, Iterator  # noqa: UP035 - also for older versions of Python

import journeyman_record as record  # type: ignore[import-not-found]
import pytest

_NAME = "journeyman_reporter"
_reporting: list[int] = []
"""Processes in which a session reports; a session inside of one is the subject of a test."""


def pytest_configure(config: pytest.Config) -> None:
    if os.getpid() in _reporting:
        return
    is_worker = hasattr(config, "workerinput")  # of xdist: its controller gets all reports
    if not is_worker and record.is_nested():
        return
    _reporting.append(os.getpid())
    config.pluginmanager.register(_Reporter(config, is_worker), _NAME)


class _Reporter:
    def __init__(self, config: pytest.Config, is_worker: bool) -> None:
        self._config = config
        self._is_worker = is_worker
        self._recorder = record.ReportWriter("pytest-worker" if is_worker else "pytest")
        self._only = set(record.SETTINGS["only"])
        self._finished: set[str] = set()
        self._ids: dict[str, str] = {}
        """Of running tests of `unittest`, by their own ids."""
        self._recorder.add(begin="pytest", is_part=is_worker)
        self._recorder.flush()
        record.watch_unittest(self._ran_method)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if self._only:
            left_out = [item for item in items if item.nodeid not in self._only]
            items[:] = [item for item in items if item.nodeid in self._only]
            config.hook.pytest_deselected(items=left_out)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Iterator[None]:
        if self._only:
            # Files that cannot be read do not matter for tests that are in others.
            session.config.option.continue_on_collection_errors = True
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        case = getattr(item, "_testcase", None) or getattr(item, "instance", None)
        if isinstance(case, unittest.TestCase):
            self._ids[case.id()] = item.nodeid
        with record.Limit():
            yield

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        outcome: Any = yield
        self._recorder.ran(pyfuncitem.nodeid, outcome.excinfo[1] if outcome.excinfo else None)

    def _ran_method(self, test_id: str, error: BaseException | None) -> None:
        self._recorder.ran(self._ids.get(test_id, test_id), error)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = _outcome(report)
        if self._is_worker or (report.when != "call" and outcome == "passed") or outcome == "rerun":
            return
        root = getattr(self._config, "rootpath", None) or self._config.rootdir  # type: ignore[attr-defined]
        path = os.path.join(str(root), report.location[0])
        self._recorder.add(
            id=report.nodeid,
            outcome=outcome,
            message=_message(report) if outcome != "passed" else "",
            file=os.path.relpath(path, record.SETTINGS["workspace"]),
            seconds=report.duration,
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._finished.add(nodeid)
        self._recorder.flush()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self._is_worker:
            self._recorder.add(id=report.nodeid, outcome="failed", message=_message(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        for location in record.module_locations():
            self._recorder.add(**location)
        if not (self._is_worker or session.config.option.collectonly):
            collected = len({item.nodeid for item in getattr(session, "items", ())}) or session.testscollected
            self._recorder.add(left=max(collected - len(self._finished), 0))
        self._recorder.add(end=int(exitstatus))
        self._recorder.flush()


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "passed"
    return str(report.outcome)


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash else report.longrepr)[-4000:]
