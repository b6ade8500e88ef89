"""The real unittest, where a command starts it in plain sight."""

from pathlib import Path

import pytest

from tests.verification.reports.running import case, checked, outcomes, report_of

CALC = "def add(a, b):\n    return a + b\n"
SUITE = """
    import unittest
    from calc import add

    class Sums(unittest.TestCase):
        def test_adds(self):
            self.assertEqual(add(1, 2), 3)

        def test_is_wrong(self):
            self.assertEqual(add(1, 2), 4)

        @unittest.skip("not today")
        def test_later(self): ...

        @unittest.expectedFailure
        def test_known(self):
            self.fail("known")

        def test_parts(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.assertEqual(number, 1)
"""
FILES = {"calc.py": CALC, "tests/__init__.py": "", "tests/test_calc.py": SUITE}
RESULTS = {
    "tests.test_calc.Sums.test_adds": "passed",
    "tests.test_calc.Sums.test_is_wrong": "failed",
    "tests.test_calc.Sums.test_known": "skipped",
    "tests.test_calc.Sums.test_later": "skipped",
    "tests.test_calc.Sums.test_parts": "failed",
}


@pytest.mark.parametrize(
    "command", ["python3 -m unittest", "true && python3 -W error -m unittest discover -s ."]
)
async def test_each_test_of_unittest_is_reported(tmp_path: Path, command: str) -> None:
    result = await checked(tmp_path, FILES, command)
    assert outcomes(result) == RESULTS
    assert (report_of(result).runner, report_of(result).is_complete) == ("unittest", True)
    assert (result.outcome, result.summary) == ("failed", "2 failed, 1 passed, 2 skipped")
    assert case(result, "is_wrong").message == "AssertionError: 3 != 4"
    assert case(result, "is_wrong").file == "tests/test_calc.py"
    assert report_of(result).code_locations == (str(tmp_path / "workspace" / "calc.py"),)


async def test_a_wrapper_around_unittest_leaves_only_its_exit_code(tmp_path: Path) -> None:
    result = await checked(tmp_path, FILES | {"Makefile": "test:\n\tpython3 -m unittest\n"}, "make test")
    assert (result.outcome, result.report) == ("failed", None)


async def test_a_program_of_the_project_that_runs_tests_is_started_as_it_would_be(tmp_path: Path) -> None:
    manage = """
        import sys, unittest

        if __name__ == "__main__":
            assert sys.argv == ["manage.py", "test", "tests"]
            unittest.main(module=None, argv=["x", "discover", "-s", sys.argv[2]])
    """
    result = await checked(tmp_path, FILES | {"manage.py": manage}, "python3 manage.py test tests")
    assert {name.rpartition(".")[2] for name in outcomes(result)} == {
        name.rpartition(".")[2] for name in RESULTS
    }


async def test_a_failure_that_a_result_hides_is_a_failure(tmp_path: Path) -> None:
    hides = """
        import unittest

        class Hides(unittest.TextTestResult):
            def addFailure(self, test, error):
                self.addSuccess(test)

        unittest.TextTestRunner.resultclass = Hides
    """
    suite = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.fail()\n"
    files = {"tests/__init__.py": hides, "tests/test_a.py": suite}
    result = await checked(tmp_path, files, "python3 -m unittest")
    assert (result.exit_code, result.outcome) == (0, "failed")
    assert report_of(result).rewritten == ("tests.test_a.A.test_a",)


async def test_a_test_that_ends_the_process_is_not_a_pass(tmp_path: Path) -> None:
    suite = "import os, unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        os._exit(0)\n"
    result = await checked(tmp_path, {"test_a.py": suite}, "python3 -m unittest")
    assert (result.exit_code, result.outcome) == (0, "failed")


async def test_only_the_tests_that_are_asked_for_run_and_none_too_long(tmp_path: Path) -> None:
    suite = """
        import time, unittest

        class A(unittest.TestCase):
            def test_slow(self):
                time.sleep(60)

            def test_other(self):
                self.fail()
    """
    wanted = ("test_a.A.test_slow",)
    result = await checked(
        tmp_path, {"test_a.py": suite}, "python3 -m unittest", only=wanted, seconds_per_test=0.2
    )
    assert outcomes(result) == {wanted[0]: "failed"}
    assert "longer than 0.2 s" in case(result, "slow").message


async def test_the_traceback_of_a_failure_ends_in_the_test_and_not_in_the_report(tmp_path: Path) -> None:
    result = await checked(tmp_path, {"calc.py": CALC, "test_calc.py": SUITE}, "python3 -m unittest")
    assert "self.assertEqual(add(1, 2), 4)" in result.output
    assert "journeyman" not in result.output
