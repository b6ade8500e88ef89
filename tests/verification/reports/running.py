"""Checks on small projects, run as a verification runs them, with their reports."""

from collections.abc import Mapping
from pathlib import Path

from journeyman.environments.plan import Check
from journeyman.verification.own_code import code_under_test
from journeyman.verification.per_test import CaseResult, SuiteReport
from journeyman.verification.run import CheckResult, run_checks
from tests.verification.projects import ToolBox, equipped, files_of, project


def check_of(command: str) -> Check:
    return Check(name="test", kind="test", command=command, tool="x", why="x", probe="true")


async def checked(
    tmp_path: Path,
    files: Mapping[str, str],
    command: str,
    *,
    sandbox: ToolBox | None = None,
    seconds_per_test: float | None = None,
    only: tuple[str, ...] = (),
) -> CheckResult:
    tree = sandbox.tree if sandbox else project(tmp_path, files)
    found = files_of(tree)
    [result] = await run_checks(
        sandbox or equipped(tree),
        [check_of(command)],
        timeout=120,
        code=code_under_test(found, found, changed=(), diff=""),
        seconds_per_test=seconds_per_test,
        only=only,
    )
    return result


def report_of(result: CheckResult) -> SuiteReport:
    assert result.report is not None, result.output
    return result.report


def outcomes(result: CheckResult) -> dict[str, str]:
    return {case.test_id: case.outcome for case in report_of(result).tests}


def case(result: CheckResult, ends_with: str) -> CaseResult:
    (found,) = [one for one in report_of(result).tests if one.test_id.endswith(ends_with)]
    return found
