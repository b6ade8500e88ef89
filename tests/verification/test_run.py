"""Real tools on small projects: what passes, what fails, and what was never run."""

import os
import sys
from pathlib import Path

import pytest

from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.plan import Check
from journeyman.sandboxes.base import Completed
from journeyman.verification.own_code import CodeUnderTest, code_under_test
from journeyman.verification.run import CheckResult, assess, run_checks
from journeyman.verification.verdict import Verdict, judge
from tests.verification.projects import PYTHON_WITHOUT_PACKAGES, ToolBox, bare, equipped, files_of, project


async def verified(sandbox: ToolBox, *, timeout: float = 120) -> Verdict:
    files = files_of(sandbox.tree)
    code = code_under_test(files, files, changed=(), diff="")
    return judge(await run_checks(sandbox, detect_environment(files).checks, timeout=timeout, code=code))


CALC = {"calc.py": "def add(a, b):\n    return a + b\n"}
GOOD = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
BAD = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 4\n"
UNITTEST = """
    import unittest
    from calc import add

    class Add(unittest.TestCase):
        def test_add(self):
            self.assertEqual(add(1, 2), {})
"""


async def test_passing_tests_give_a_good_verdict(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, CALC | {"test_calc.py": GOOD})))
    assert verdict.passed is True
    assert verdict.reason == "pytest: 1 passed"


async def test_a_failing_test_gives_a_bad_verdict_with_the_failing_lines(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, CALC | {"test_calc.py": BAD})))
    assert (verdict.passed, verdict.reason) == (False, "pytest: 1 failed")
    assert "E       assert 3 == 4" in verdict.checks[0].failing
    assert verdict.checks[0].exit_code == 1


async def test_tests_that_cannot_be_collected_fail(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, {"test_calc.py": "def test_add(:\n"})))
    assert verdict.passed is False
    assert "SyntaxError" in verdict.checks[0].failing


async def test_a_package_below_src_is_found(tmp_path: Path) -> None:
    tree = project(tmp_path, {"src/calc.py": CALC["calc.py"], "tests/test_calc.py": GOOD})
    assert (await verified(equipped(tree))).passed is True


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"pytest.ini": "[pytest]\n", "test_a.py": "import os\n"}, "pytest: no tests ran"),
        (
            {"test_a.py": "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    assert False\n"},
            "pytest: no tests ran (1 skipped)",
        ),
        (
            {"test_a.py": "import unittest\n\nclass Empty(unittest.TestCase):\n    pass\n"},
            "unittest: no tests ran",
        ),
    ],
)
async def test_a_run_of_no_tests_proves_nothing(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    verdict = await verified(equipped(project(tmp_path, files)))
    assert (verdict.passed, verdict.reason) == (None, reason)


async def test_a_project_without_checks_says_so(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, {"README.md": "Hello\n"})))
    assert verdict == Verdict(None, (), "no tests and no build were found")


async def test_unittest_takes_the_place_of_a_missing_pytest(tmp_path: Path) -> None:
    files = CALC | {"tests/test_calc.py": UNITTEST.format(3), "pyproject.toml": "[tool.pytest.ini_options]\n"}
    sandbox = bare(project(tmp_path, files), python3=PYTHON_WITHOUT_PACKAGES)
    verdict = await verified(sandbox)
    assert (verdict.passed, verdict.reason) == (True, "unittest: 1 passed")


async def test_a_failing_unittest_is_shown_with_its_assertion(tmp_path: Path) -> None:
    files = CALC | {"tests/__init__.py": "", "tests/test_calc.py": UNITTEST.format(4)}
    verdict = await verified(equipped(project(tmp_path, files)))
    assert (verdict.passed, verdict.reason) == (False, "unittest: 1 failed")
    assert "AssertionError: 3 != 4" in verdict.checks[0].failing


async def test_a_missing_tool_proves_nothing(tmp_path: Path) -> None:
    sandbox = bare(project(tmp_path, CALC | {"test_calc.py": GOOD}), python3=PYTHON_WITHOUT_PACKAGES)
    verdict = await verified(sandbox)
    assert (verdict.passed, verdict.reason) == (None, "pytest: the sandbox has no pytest")


async def test_nothing_is_installed_by_a_check(tmp_path: Path) -> None:
    package = '{"scripts": {"test": "node t.js"}, "dependencies": {"a": "1"}}'
    sandbox = bare(project(tmp_path, {"package.json": package}), npm="/bin/mkdir node_modules")
    verdict = await verified(sandbox)
    lacks = "npm test: the sandbox has no npm with the project's packages"
    assert (verdict.passed, verdict.reason) == (None, lacks)
    assert not (sandbox.tree / "node_modules").exists()


async def test_a_package_that_is_not_installed_proves_nothing_and_is_named(tmp_path: Path) -> None:
    files = CALC | {"test_calc.py": GOOD, "test_time.py": "import freezegun_x\n\ndef test_a(): ...\n"}
    verdict = await verified(equipped(project(tmp_path, files | {"requirements.txt": "freezegun-x"})))
    assert verdict.passed is None
    assert [fault.what for fault in verdict.faults] == [
        "the Python package freezegun-x is not installed, though requirements.txt names it"
    ]


async def test_a_module_that_the_project_itself_lacks_fails(tmp_path: Path) -> None:
    files = {"calc/__init__.py": "", "test_calc.py": "from calc.sums import add\n\ndef test_a(): ...\n"}
    verdict = await verified(equipped(project(tmp_path, files)))
    assert (verdict.passed, verdict.faults) == (False, ())
    assert "No module named 'calc.sums'" in verdict.checks[0].failing


async def test_a_check_is_probed_and_run_in_its_own_directory(tmp_path: Path) -> None:
    tree = project(tmp_path, {"packages/api/here": ""})
    api = Check(
        name="api: test",
        kind="test",
        command="pwd",
        workdir="packages/api",
        tool="x",
        why="x",
        probe="test -f here",
    )
    (checked,) = await run_checks(equipped(tree), [api], timeout=60)
    assert (checked.outcome, checked.output.strip()) == ("passed", str(tree / "packages/api"))


@pytest.mark.parametrize(("is_editable", "seen"), [(True, "None"), (False, "{tree}/src")])
async def test_the_project_s_own_code_goes_first_unless_it_is_installed_editable(
    tmp_path: Path, is_editable: bool, seen: str
) -> None:
    tree = project(tmp_path, {"src/calc/__init__.py": ""})
    site = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site / "calc.pth").write_text(f"{tree}/src\n" if is_editable else "/elsewhere\n")
    show = f"export VIRTUAL_ENV={tmp_path}/venv"
    check = Check(
        name="x", kind="test", tool="x", why="x", probe="true",
        command="python3 -c 'import os; print(os.environ.get(\"PYTHONPATH\"))'",
    )  # fmt: skip
    sandbox = equipped(tree)
    sandbox.prelude = show
    (checked,) = await run_checks(sandbox, [check], timeout=60)
    assert checked.output.strip() == seen.format(tree=tree)


async def test_a_check_that_does_not_end_is_ended(tmp_path: Path) -> None:
    tree = project(tmp_path, {"Makefile": "test:\n\t@echo begun; sleep 600\n"})
    sandbox = equipped(tree)
    verdict = await verified(sandbox, timeout=0.5)
    assert (verdict.passed, verdict.reason) == (False, "make test: did not end within 0.5 seconds")
    assert sandbox.running == set()


async def test_a_huge_output_is_cut_to_what_matters(tmp_path: Path) -> None:
    noise = "for i in $$(seq 20000); do echo line number $$i of the whole long output; done"
    tree = project(tmp_path, {"Makefile": f"test:\n\t@{noise}; echo 'error: no cake'; exit 1\n"})
    verdict = await verified(equipped(tree))
    assert verdict.passed is False
    assert "error: no cake" in verdict.checks[0].failing
    assert len(verdict.checks[0].failing) < 1_000


async def test_make_is_believed_by_its_exit_code(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, {"Makefile": "test:\n\t@true\n"})))
    assert (verdict.passed, verdict.reason) == (True, "make test: passed")


@pytest.mark.parametrize(
    ("script", "passed", "reason"),
    [
        ("require('assert').equal(1 + 2, 3)", True, "1 passed"),
        ("require('assert').equal(1 + 2, 4)", False, "1 failed"),
    ],
)
async def test_npm_runs_the_project_s_own_script(
    tmp_path: Path, script: str, passed: bool, reason: str
) -> None:
    files = {
        "package.json": '{"scripts": {"test": "node --test"}}',
        "calc.test.js": f"require('node:test')('adds', () => {{ {script} }})\n",
    }
    verdict = await verified(equipped(project(tmp_path, files)))
    assert (verdict.passed, verdict.reason) == (passed, f"npm test: {reason}")


async def test_a_script_whose_command_is_missing_proves_nothing(tmp_path: Path) -> None:
    files = {"package.json": '{"scripts": {"test": "no-such-runner"}}'}
    verdict = await verified(equipped(project(tmp_path, files)))
    assert verdict.passed is None
    assert "a command it needs is missing: no-such-runner" in verdict.reason


async def test_a_broken_manifest_fails(tmp_path: Path) -> None:
    verdict = await verified(equipped(project(tmp_path, {"package.json": "{"})))
    assert verdict.passed is False


@pytest.mark.parametrize(
    ("body", "passed", "reason"),
    [
        ("#[test] fn adds() { assert_eq!(1 + 2, 3); }", True, "1 passed"),
        ("#[test] fn adds() { assert_eq!(1 + 2, 4); }", False, "1 failed"),
        ("pub fn one() -> u8 { 1 }", None, "no tests ran"),
        ("pub fn one() -> u8 { true }", False, "ended with exit code 101"),
    ],
)
async def test_cargo_is_asked(tmp_path: Path, body: str, passed: bool | None, reason: str) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\nlib.doctest = false\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
        "src/lib.rs": f"{body}\n",
    }
    verdict = await verified(equipped(project(tmp_path, files)))
    assert (verdict.passed, verdict.reason) == (passed, f"cargo test: {reason}")


async def test_a_check_finds_no_variable_that_a_developer_would_not_have(tmp_path: Path) -> None:
    tree = project(tmp_path, {"Makefile": "test:\n\t@env\n"})
    (checked,) = (await verified(equipped(tree))).checks
    added = {line.partition("=")[0] for line in checked.output.splitlines()} - os.environ.keys()
    assert not added & {"NO_COLOR", "CI", "PYTEST_ADDOPTS", "CARGO_TERM_COLOR", "FORCE_COLOR"}


async def test_tests_in_colour_are_counted(tmp_path: Path) -> None:
    files = CALC | {"test_calc.py": GOOD, "pytest.ini": "[pytest]\naddopts = --color=yes\n"}
    (checked,) = (await verified(equipped(project(tmp_path, files)))).checks
    assert (checked.outcome, checked.summary) == ("passed", "1 passed")
    assert "\x1b[" in checked.output


@pytest.mark.parametrize("directory", ["src", "lib"])
async def test_the_project_s_own_code_is_tested_and_not_an_installed_copy(
    tmp_path: Path, directory: str
) -> None:
    installed = tmp_path / "installed"
    (installed / "calc").mkdir(parents=True)
    (installed / "calc" / "__init__.py").write_text("def add(a, b):\n    return a + b\n")
    tree = project(tmp_path, {f"{directory}/calc/__init__.py": "raise RuntimeError", "test_calc.py": GOOD})
    sandbox = bare(tree, python3=f'PYTHONPATH="$PYTHONPATH:{installed}" exec {sys.executable} "$@"')
    assert (await verified(sandbox)).passed is False


async def test_a_linter_is_reported_and_does_not_decide(tmp_path: Path) -> None:
    files = CALC | {"test_calc.py": GOOD, "unused.py": "import os\n", "ruff.toml": ""}
    verdict = await verified(equipped(project(tmp_path, files)))
    assert verdict.passed is True
    assert [(result.check.name, result.outcome) for result in verdict.checks] == [
        ("pytest", "passed"),
        ("ruff", "failed"),
    ]
    assert "F401" in verdict.checks[1].failing


async def test_all_ecosystems_of_a_project_must_pass(tmp_path: Path) -> None:
    npm = "echo '  1 failing'; exit 1"
    files = CALC | {"tests/test_calc.py": UNITTEST.format(3), "package.json": '{"scripts": {"test": "x"}}'}
    sandbox = bare(project(tmp_path, files), npm=npm, python3=PYTHON_WITHOUT_PACKAGES)
    verdict = await verified(sandbox)
    assert (verdict.passed, verdict.reason) == (False, "unittest: 1 passed; npm test: 1 failed")


def check(kind: str = "test", name: str = "go test") -> Check:
    return Check(name=name, kind=kind, command="x", tool="x", why="x", probe="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "exit_code", "outcome", "summary"),
    [
        ("ok  \texample.com/a\t0.004s\n", 0, "passed", "1 passed"),
        ("?   \texample.com/a\t[no test files]\n", 0, "unavailable", "no tests ran"),
        ("FAIL\texample.com/a\t0.004s\n", 1, "failed", "1 failed"),
        ("ok  \ta\t0.1s\ndial tcp: lookup example.com\nFAIL\tb\t0.1s\n", 1, "failed", "1 failed, 1 passed"),
        ("a: dial tcp: lookup proxy.example: no such host\n", 1, "environment", "there is no network"),
        ("No tests found, exiting with code 1\n", 1, "unavailable", "no tests ran"),
        ("Killed\n", 137, "environment", "for want of memory"),
        ("Segmentation fault\n", 139, "failed", "ended with exit code 139"),
    ],
)
def test_the_end_of_a_check_is_understood(output: str, exit_code: int, outcome: str, summary: str) -> None:
    result = assess(check(), Completed(exit_code, output), 60, CodeUnderTest())
    assert result.outcome == outcome
    assert summary in result.summary


@pytest.mark.parametrize(
    ("results", "passed"),
    [
        ([("build", "passed")], True),
        ([("build", "failed")], False),
        ([("build", "passed"), ("test", "passed")], True),
        ([("build", "passed"), ("test", "unavailable")], None),
        ([("test", "passed"), ("test", "unavailable")], True),
        ([("test", "passed"), ("test", "failed")], False),
        ([("build", "failed"), ("test", "passed")], False),
        ([("test", "passed"), ("lint", "failed")], True),
        ([("test", "passed"), ("types", "failed")], True),
        ([("test", "timed_out")], False),
        ([("test", "environment")], None),
        ([("test", "passed"), ("test", "environment")], None),
        ([("build", "environment"), ("test", "passed")], None),
        ([("test", "failed"), ("test", "environment")], False),
        ([("test", "passed"), ("lint", "environment")], True),
        ([("lint", "passed")], None),
        ([], None),
    ],
)
def test_a_verdict_is_good_only_when_something_was_shown(
    results: list[tuple[str, str]], passed: bool | None
) -> None:
    ended = [
        CheckResult(check=check(kind), outcome=outcome, summary="x")  # type: ignore[arg-type]
        for kind, outcome in results
    ]
    verdict = judge(ended)
    assert verdict.passed is passed
    assert verdict.reason
