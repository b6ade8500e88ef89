"""Real tools on small projects: what passes, what fails, and what was never run."""

import os
import sys
from pathlib import Path

import pytest

from journeyman.errors import VerificationFailed
from journeyman.sandboxes.base import Completed
from journeyman.verification.detect import Check, detect_checks
from journeyman.verification.run import CheckResult, Verdict, assess, judge, read_project, run_checks
from tests.verification.projects import PYTHON_WITHOUT_PACKAGES, ToolBox, bare, equipped, project


async def verified(sandbox: ToolBox, *, timeout: float = 120, may_install: bool = False) -> Verdict:
    checks = detect_checks(await read_project(sandbox))
    return await run_checks(sandbox, checks, timeout=timeout, may_install=may_install)


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
        ({"pytest.ini": "[pytest]\n"}, "pytest: no tests ran"),
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


async def test_nothing_is_installed_unless_it_may_be(tmp_path: Path) -> None:
    package = '{"scripts": {"test": "node t.js"}, "dependencies": {"a": "1"}}'
    npm = '[ "$1" = install ] && /bin/mkdir node_modules || { [ "$1" = test ] && echo "  3 passing"; }'
    sandbox = bare(project(tmp_path, {"package.json": package}), npm=npm)
    refused = await verified(sandbox)
    assert (refused.passed, refused.reason) == (
        None,
        "npm test: the sandbox has no npm with the project's packages",
    )
    assert "npm install" not in sandbox.commands
    allowed = await verified(sandbox, may_install=True)
    assert (allowed.passed, allowed.reason) == (True, "npm test: 3 passed")


async def test_an_install_that_fails_says_why(tmp_path: Path) -> None:
    package = '{"scripts": {"test": "node t.js"}, "dependencies": {"a": "1"}}'
    sandbox = bare(project(tmp_path, {"package.json": package}), npm="echo registry is down; exit 1")
    verdict = await verified(sandbox, may_install=True)
    assert verdict.passed is None
    assert "`npm install` did not bring it: registry is down" in verdict.reason


async def test_an_install_that_failed_is_told_also_where_there_was_a_second_way(tmp_path: Path) -> None:
    files = CALC | {"test_calc.py": GOOD, "requirements.txt": "pytest\n", "uv.lock": ""}
    uv = '[ "$1" = sync ] && { echo certificate has expired; exit 1; }; exit 1'
    sandbox = bare(project(tmp_path, files), uv=uv, python3="exit 1")
    verdict = await verified(sandbox, may_install=True)
    assert verdict.passed is None
    assert "certificate has expired" in verdict.reason


async def test_what_an_install_left_half_done_is_not_taken_for_the_packages(tmp_path: Path) -> None:
    package = '{"scripts": {"build": "b", "test": "t"}, "dependencies": {"a": "1"}}'
    npm = '[ "$1" = install ] && { /bin/mkdir -p node_modules; echo no space left; }; exit 1'
    sandbox = bare(project(tmp_path, {"package.json": package}), npm=npm)
    verdict = await verified(sandbox, may_install=True)
    assert [(check.status, "no space left" in check.summary) for check in verdict.checks] == [
        ("unavailable", True),
        ("unavailable", True),
    ]
    assert sandbox.commands.count("npm install") == 1


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
    assert "no-such-runner: not found" in verdict.reason


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
    assert (checked.status, checked.summary) == ("passed", "1 passed")
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
    assert [(result.check.name, result.status) for result in verdict.checks] == [
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


async def test_looking_reads_names_manifests_and_the_style_of_tests(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "pyproject.toml": "name test test_fake.py\nfile Makefile\n",
            "tests/__init__.py": "",
            "tests/test_u.py": UNITTEST,
            "tests/sub dir/test_p.py": GOOD,
            "tests/test_mock.py": "from unittest import mock\n\nclass TestA:\n    def test_a(self): ...\n",
            "node_modules/a/test_no.py": GOOD,
            ".venv/lib/test_no.py": GOOD,
        },
    )
    (tree / "Makefile").symlink_to("/dev/zero")
    (tree / "setup.cfg").write_bytes(b"\xff" * 50_000)
    seen = await read_project(equipped(tree))
    assert {"pyproject.toml", "tests/", "tests/__init__.py", ".venv/"} <= seen.names
    assert seen.contents["pyproject.toml"] == "name test test_fake.py\nfile Makefile\n"
    assert (len(seen.contents["setup.cfg"]), "Makefile" in seen.contents) == (32_000, False)
    assert seen.python_tests == {"tests/test_u.py", "tests/sub dir/test_p.py", "tests/test_mock.py"}
    assert seen.unittest_files == {"tests/test_u.py"}


async def test_a_project_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    sandbox = bare(project(tmp_path, CALC))
    (tmp_path / "bin" / "base64").unlink()
    with pytest.raises(VerificationFailed, match="could not be listed: there is no base64"):
        await read_project(sandbox)


def check(kind: str = "test", name: str = "go test") -> Check:
    return Check(name=name, kind=kind, command="x", tool="x", why="x", probe="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "exit_code", "status", "summary"),
    [
        ("ok  \texample.com/a\t0.004s\n", 0, "passed", "1 passed"),
        ("?   \texample.com/a\t[no test files]\n", 0, "unavailable", "no tests ran"),
        ("FAIL\texample.com/a\t0.004s\n", 1, "failed", "1 failed"),
        ("ok  \ta\t0.1s\ndial tcp: lookup example.com\nFAIL\tb\t0.1s\n", 1, "failed", "1 failed, 1 passed"),
        ("a: dial tcp: lookup proxy.example: no such host\n", 1, "unavailable", "there is no network"),
        ("No tests found, exiting with code 1\n", 1, "unavailable", "no tests ran"),
        ("Killed\n", 137, "failed", "ended with exit code 137"),
    ],
)
def test_the_end_of_a_check_is_understood(output: str, exit_code: int, status: str, summary: str) -> None:
    result = assess(check(), Completed(exit_code, output), 60)
    assert result.status == status
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
        ([("lint", "passed")], None),
        ([], None),
    ],
)
def test_a_verdict_is_good_only_when_something_was_shown(
    results: list[tuple[str, str]], passed: bool | None
) -> None:
    ended = [
        CheckResult(check=check(kind), status=status, summary="x")  # type: ignore[arg-type]
        for kind, status in results
    ]
    verdict = judge(ended)
    assert verdict.passed is passed
    assert verdict.reason
