"""The real pytest, started in the ways that projects start it."""

import sys
from pathlib import Path

import pytest

from journeyman.verification.run import CheckResult
from tests.verification.projects import bare, equipped, project
from tests.verification.reports.running import case, checked, outcomes, report_of

CALC = "def add(a, b):\n    return a + b\n"
MIXED = """
    import pytest, unittest
    from calc import add

    def test_adds():
        assert add(1, 2) == 3

    @pytest.mark.parametrize("wanted", [3, 4])
    def test_wanted(wanted):
        assert add(1, 2) == wanted

    @pytest.mark.skip(reason="not today")
    def test_skipped(): ...

    @pytest.mark.xfail
    def test_known():
        assert add(1, 2) == 5

    @pytest.fixture
    def broken():
        raise RuntimeError("no database")

    def test_set_up(broken): ...

    class Old(unittest.TestCase):
        def test_method(self):
            self.assertEqual(add(1, 2), 3)

        def test_wrong(self):
            self.assertEqual(add(1, 2), 4)
"""
RESULTS = {
    "tests/test_calc.py::test_adds": "passed",
    "tests/test_calc.py::test_wanted[3]": "passed",
    "tests/test_calc.py::test_wanted[4]": "failed",
    "tests/test_calc.py::test_skipped": "skipped",
    "tests/test_calc.py::test_known": "skipped",
    "tests/test_calc.py::test_set_up": "failed",
    "tests/test_calc.py::Old::test_method": "passed",
    "tests/test_calc.py::Old::test_wrong": "failed",
}
FILES = {"calc.py": CALC, "tests/test_calc.py": MIXED, "conftest.py": ""}
GOOD = {"calc.py": CALC, "test_calc.py": "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n"}


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("python3 -m pytest", {}),
        ("python3 -m pytest -n 2", {}),
        ("make test", {"Makefile": "test:\n\t@python3 -m pytest -q\n"}),
        ("bash run.sh", {"run.sh": "python3 -m pytest"}),
        ("python3 -m pytest", {"pytest.ini": "[pytest]\naddopts = -W error --strict-config -p no:asyncio\n"}),
    ],
)
async def test_each_test_is_reported_whatever_starts_the_runner(
    tmp_path: Path, command: str, more: dict[str, str]
) -> None:
    result = await checked(tmp_path, FILES | more, command)
    assert outcomes(result) == RESULTS
    assert (report_of(result).runner, report_of(result).is_complete) == ("pytest", True), report_of(result)
    assert (result.outcome, result.summary) == ("failed", "3 failed, 3 passed, 2 skipped")
    failed = case(result, "test_wanted[4]")
    assert "assert 3 == 4" in failed.message
    assert failed.file == "tests/test_calc.py"
    assert failed.duration_seconds is not None
    assert case(result, "test_skipped").message == "Skipped: not today"


async def test_variables_of_the_repository_are_kept(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {"own.py": "def pytest_report_header(): return 'own plugin'\n", "test_a.py": "def test_a(): ...\n"},
    )
    sandbox = equipped(tree)
    sandbox.prelude = f"export PYTEST_PLUGINS=own PYTHONPATH={tree}"
    result = await checked(tmp_path, {}, "python3 -m pytest", sandbox=sandbox)
    assert outcomes(result) == {"test_a.py::test_a": "passed"}
    assert "own plugin" in result.output


async def test_a_command_that_sets_the_path_of_modules_itself_is_run_as_it_is(tmp_path: Path) -> None:
    result = await checked(
        tmp_path, GOOD | {"Makefile": "test:\n\tPYTHONPATH=. python3 -m pytest\n"}, "make test"
    )
    assert (result.outcome, result.summary, result.report) == ("passed", "1 passed", None)


async def test_a_run_inside_a_test_is_not_reported(tmp_path: Path) -> None:
    inner = """
        import subprocess, sys, pytest

        def test_outer(tmp_path):
            (tmp_path / "test_inner.py").write_text("def test_inner(): assert False")
            assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)]).returncode == 1
            assert pytest.main([str(tmp_path)]) == 1
    """
    result = await checked(tmp_path, {"test_outer.py": inner}, "python3 -m pytest -W error -p no:asyncio")
    assert outcomes(result) == {"test_outer.py::test_outer": "passed"}
    assert result.outcome == "passed"


async def test_only_the_tests_that_are_asked_for_run(tmp_path: Path) -> None:
    files = FILES | {"tests/test_broken.py": "import no_such_module\n"}
    wanted = ("tests/test_calc.py::test_wanted[3]", "tests/test_calc.py::Old::test_wrong")
    result = await checked(tmp_path, files, "python3 -m pytest", only=wanted)
    assert {name: found for name, found in outcomes(result).items() if name in RESULTS} == {
        wanted[0]: "passed",
        wanted[1]: "failed",
    }


async def test_a_test_that_takes_too_long_fails_and_the_others_run(tmp_path: Path) -> None:
    endless = """
        import time, unittest

        def test_endless():
            while True:
                try:
                    time.sleep(60)
                except Exception:
                    pass

        class Old(unittest.TestCase):
            def test_endless(self):
                time.sleep(60)

        def test_other(): ...
    """
    result = await checked(tmp_path, {"test_a.py": endless}, "python3 -m pytest", seconds_per_test=1.0)
    assert outcomes(result) == {
        "test_a.py::test_endless": "failed",
        "test_a.py::Old::test_endless": "failed",
        "test_a.py::test_other": "passed",
    }
    assert "longer than 1 s" in case(result, "py::test_endless").message


REWRITES = """
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            report.outcome, report.longrepr = "passed", None
"""


@pytest.mark.parametrize("command", ["python3 -m pytest", "python3 -m pytest -n 2"])
@pytest.mark.parametrize(
    "body",
    [
        "def test_a():\n    assert False\n",
        "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.fail('x')\n",
    ],
)
async def test_a_failure_that_is_reported_as_a_pass_is_a_failure(
    tmp_path: Path, command: str, body: str
) -> None:
    result = await checked(tmp_path, {"conftest.py": REWRITES, "test_a.py": body}, command)
    assert result.exit_code == 0
    assert (result.outcome, len(report_of(result).rewritten)) == ("failed", 1)
    assert "reported as passed although they raised: test_a.py::" in result.summary


async def test_a_test_that_passes_at_its_second_attempt_was_not_rewritten(tmp_path: Path) -> None:
    again = """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            runtestprotocol(item, nextitem=nextitem, log=False)
            for report in runtestprotocol(item, nextitem=nextitem, log=False):
                item.ihook.pytest_runtest_logreport(report=report)
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            return True
    """
    flaky = "tried = []\n\ndef test_a():\n    tried.append(1)\n    assert len(tried) == 2\n"
    result = await checked(tmp_path, {"conftest.py": again, "test_a.py": flaky}, "python3 -m pytest")
    assert (result.outcome, report_of(result).rewritten) == ("passed", ())


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ("import os\n    os._exit(0)", "the runner did not come to its end"),
        ("import pytest\n    pytest.exit('enough', returncode=0)", "1 of the collected tests have no result"),
    ],
)
async def test_a_runner_that_is_ended_with_exit_code_0_has_failed(
    tmp_path: Path, last: str, why: str
) -> None:
    body = f"def test_a(): ...\n\ndef test_b():\n    {last}\n"
    result = await checked(tmp_path, {"test_a.py": body}, "python3 -m pytest")
    assert (result.exit_code, result.outcome) == (0, "failed")
    assert why in result.summary
    assert not report_of(result).is_complete


async def test_failing_tests_fail_a_check_whose_exit_code_is_0(tmp_path: Path) -> None:
    result = await checked(tmp_path, FILES, "python3 -m pytest || true")
    assert (result.exit_code, result.outcome) == (0, "failed")
    assert "ended with exit code 0 although tests failed" in result.summary


async def test_files_and_descriptors_of_the_tests_do_not_matter_to_the_report(tmp_path: Path) -> None:
    body = """
        import os, builtins

        def test_descriptors():
            os.closerange(20, 200)

        def test_files(monkeypatch):
            def refuse(*_, **__): raise OSError("no files here")
            for name in ("open", "write", "getpid"):
                monkeypatch.setattr(os, name, refuse)
            monkeypatch.setattr(builtins, "open", refuse)
    """
    result = await checked(tmp_path, {"test_a.py": body}, "python3 -m pytest")
    assert (result.outcome, report_of(result).is_complete, result.summary) == ("passed", True, "2 passed")


async def installed_elsewhere(
    tmp_path: Path, installed: str, command: str = "python3 -m pytest"
) -> CheckResult:
    """A repository that holds `extra/calc`, of which another copy is on the path of modules."""
    elsewhere = tmp_path / "elsewhere" / "calc"
    elsewhere.mkdir(parents=True)
    (elsewhere / "__init__.py").write_text(installed)
    tree = project(
        tmp_path,
        {
            "pyproject.toml": "",
            "lib/calc/__init__.py": CALC,
            "tests/test_calc.py": "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n",
        },
    )
    run = f'PYTHONPATH="{elsewhere.parent}:$PYTHONPATH" exec {sys.executable} "$@"'
    return await checked(tmp_path, {}, command, sandbox=bare(tree, python3=run))


@pytest.mark.parametrize("command", ["python3 -m pytest", "python3 -m pytest -n 2"])
async def test_tests_of_a_copy_with_other_content_show_nothing(tmp_path: Path, command: str) -> None:
    result = await installed_elsewhere(tmp_path, f"# an older version\n{CALC}", command)
    copy = tmp_path / "elsewhere" / "calc" / "__init__.py"
    assert result.outcome == "environment", result
    assert [fault.what for fault in result.faults] == [
        f"the tests import calc from {copy}, not from this repository"
    ]
    assert report_of(result).code_locations == (str(copy),)


async def test_tests_of_a_copy_with_the_same_content_show_the_same(tmp_path: Path) -> None:
    result = await installed_elsewhere(tmp_path, CALC)
    assert (result.outcome, report_of(result).foreign_modules) == ("passed", ())


async def test_the_repository_s_own_code_is_shown(tmp_path: Path) -> None:
    result = await checked(tmp_path, GOOD, "python3 -m pytest")
    assert (result.outcome, report_of(result).foreign_modules) == ("passed", ())
    assert report_of(result).code_locations == (str(tmp_path / "workspace" / "calc.py"),)
