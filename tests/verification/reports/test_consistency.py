"""What a report and an exit code mean together, what the repository's code is, and what a command starts."""

import pytest

from journeyman.environments.plan import Check
from journeyman.sandboxes.base import Completed
from journeyman.verification.own_code import CodeUnderTest
from journeyman.verification.per_test import CaseResult, ForeignModule, SuiteReport
from journeyman.verification.reports.collect import families_of, instrument
from journeyman.verification.reports.consistency import contradiction
from journeyman.verification.reports.family import ReportRequest
from journeyman.verification.reports.own_packages import own_packages
from journeyman.verification.run import assess
from tests.verification.reports.running import check_of

PASSED = CaseResult(test_id="a", outcome="passed")
FAILED = CaseResult(test_id="b", outcome="failed")
CHECK: Check = check_of("make test")


def report(
    *tests: CaseResult,
    is_complete: bool = True,
    rewritten: tuple[str, ...] = (),
    foreign: tuple[ForeignModule, ...] = (),
) -> SuiteReport:
    return SuiteReport(
        runner="pytest",
        tests=tests,
        is_complete=is_complete,
        rewritten=rewritten,
        foreign_modules=foreign,
        notes=() if is_complete else ("the runner did not come to its end",),
    )


@pytest.mark.parametrize(
    ("found", "exit_code", "why"),
    [
        (report(PASSED), 0, None),
        (report(PASSED), 1, None),
        (report(PASSED, FAILED), 1, None),
        (report(PASSED, FAILED), 0, "ended with exit code 0 although tests failed: b"),
        (report(PASSED, is_complete=False), 0, "ended with exit code 0 without a complete report"),
        (report(PASSED, is_complete=False), 1, None),
        (report(PASSED, rewritten=("a",)), 0, "reported as passed although they raised: a"),
        (report(PASSED, rewritten=("a", "b", "c", "d")), 0, "a, b, c and 1 more"),
    ],
)
def test_a_report_and_an_exit_code_must_agree(found: SuiteReport, exit_code: int, why: str | None) -> None:
    said = contradiction(found, exit_code)
    assert said == why or (said and why and why in said)


@pytest.mark.parametrize(
    ("found", "exit_code", "output", "outcome", "summary"),
    [
        (report(PASSED), 0, "", "passed", "1 passed"),
        (report(PASSED), 0, "7 passed in 0.10s", "passed", "1 passed"),
        (report(PASSED), 1, "", "failed", "1 passed"),
        (report(PASSED, FAILED), 0, "", "failed", "although tests failed"),
        (report(PASSED, is_complete=False), 0, "1 passed in 0.10s", "failed", "without a complete report"),
        (report(), 0, "no tests ran in 0.10s", "unavailable", "no tests ran"),
        (report(is_complete=False), 0, "no tests ran in 0.10s", "failed", "without a complete report"),
        (None, 0, "7 passed in 0.10s", "passed", "7 passed"),
        (None, 0, "", "passed", "passed"),
    ],
)
def test_the_worse_of_report_and_exit_code_counts(
    found: SuiteReport | None, exit_code: int, output: str, outcome: str, summary: str
) -> None:
    result = assess(CHECK, Completed(exit_code, output), 60, CodeUnderTest(), found)
    assert result.outcome == outcome
    assert summary in result.summary
    assert result.report is found


@pytest.mark.parametrize("exit_code", [0, 1])
def test_tests_of_other_code_are_never_passed(exit_code: int) -> None:
    foreign = (ForeignModule(name="yaml", location="/usr/lib/yaml/__init__.py"),)
    result = assess(CHECK, Completed(exit_code, ""), 60, CodeUnderTest(), report(PASSED, foreign=foreign))
    assert result.outcome == "environment"
    assert "the tests import yaml from /usr/lib/yaml/__init__.py, not from this repository" in result.summary


@pytest.mark.parametrize(
    ("paths", "packages"),
    [
        (["lib/yaml/__init__.py", "lib/yaml/nodes.py", "setup.py"], {"yaml": "lib/yaml"}),
        (["calc.py", "test_calc.py", "conftest.py", "setup.py"], {"calc": "calc.py"}),
        (["src/google/cloud/x/__init__.py"], {"google.cloud.x": "src/google/cloud/x"}),
        (["tests/__init__.py", "docs/conf.py", "typing.py", "_build/a.py"], {}),
        (
            ["api/pyproject.toml", "api/src/api/__init__.py", "web/setup.py", "web/web/__init__.py"],
            {"api": "api/src/api", "web": "web/web"},
        ),
        (["calc/__init__.py", "calc/tests/__init__.py", "calc/data/x.py"], {"calc": "calc"}),
    ],
)
def test_the_packages_of_a_repository_are_found(paths: list[str], packages: dict[str, str]) -> None:
    assert own_packages(paths) == packages


VARIABLES = set(
    "PYTEST_PLUGINS NODE_OPTIONS GOFLAGS RUNNER= SPEC_OPTS VSTestLogger PHP_INI_SCAN_DIR".split()  # noqa: SIM905
)


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("pytest -q", {"PYTEST_PLUGINS"}),
        ("uv run pytest", {"PYTEST_PLUGINS"}),
        ("eslint . && npx vitest run", {"NODE_OPTIONS"}),
        ("npm test", {"NODE_OPTIONS"}),
        ("go test ./...", {"GOFLAGS"}),
        ("cargo test --workspace", {"RUNNER="}),
        ("mvn -q test", set()),
        ("./gradlew test", set()),
        ("bundle exec rspec", {"SPEC_OPTS"}),
        ("vendor/bin/phpunit", {"PHP_INI_SCAN_DIR"}),
        ("dotnet test", {"VSTestLogger"}),
        ("make test", VARIABLES),
        ("python3 -c 'print()'", set()),
        ("true", set()),
    ],
)
def test_a_check_gets_only_what_its_command_may_need(command: str, variables: set[str]) -> None:
    script = instrument(check_of(command), ReportRequest(directory="/tmp/x")).script
    assert {name for name in VARIABLES if name in script} == variables
    assert bool(families_of(command)) is (command not in ("true", "python3 -c 'print()'"))
