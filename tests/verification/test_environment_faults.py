"""What tools really print when something is missing, and when the code is wrong.

The outputs were made by the tools themselves, in a jail without a network where that matters.
"""

import time
from pathlib import Path

import pytest

from journeyman.environments.plan import Check
from journeyman.environments.project import Project
from journeyman.sandboxes.base import Completed
from journeyman.verification.environment_faults import environment_faults
from journeyman.verification.own_code import CodeUnderTest, code_under_test
from journeyman.verification.run import CheckResult, assess

OUTPUTS = Path(__file__).parent / "outputs"
OWN = CodeUnderTest(
    paths=frozenset({"calc/__init__.py", "calc.py", "calcx.py", "test_a.py", "tests/conftest.py"})
)


def ended(output: str, exit_code: int, code: CodeUnderTest = OWN, kind: str = "test") -> CheckResult:
    check = Check(name="x", kind=kind, command="x", tool="x", why="x", probe="x")  # type: ignore[arg-type]
    return assess(check, Completed(exit_code, output), 60, code)


def recorded(name: str, exit_code: int, code: CodeUnderTest = OWN) -> CheckResult:
    return ended((OUTPUTS / f"{name}.txt").read_text(), exit_code, code)


@pytest.mark.parametrize(
    ("name", "exit_code", "what"),
    [
        ("pytest-third-party", 2, "the Python package freezegun-x is not installed"),
        ("pytest-third-party-q", 1, "freezegun-x is not installed (1 passed, 1 could not be run)"),
        ("pytest-conftest", 4, "the Python package freezegun-x"),
        ("pytest-inside-test", 1, "freezegun-x is not installed (1 passed, 1 could not be run)"),
        ("pytest-setup", 1, "the Python package redis-x"),
        ("pytest-fixture", 1, "the Python package pytest-mock"),
        ("pytest-option", 4, "the Python package pytest-cov"),
        ("pytest-plugin", 4, "the Python package pytest-nothere"),
        ("pytest-minversion", 4, "the project wants pytest-99"),
        ("pytest-not-installed", 2, "the project itself (calcx) is not installed"),
        ("pytest-shared-library", 2, "a library is missing: libnothere.so.3"),
        ("pytest-no-network", 1, "it wants to reach a host outside: there is no network"),
        ("pytest-left-behind", 1, "there is no network (1 passed, 2 could not be run)"),
        ("pytest-service", 1, "PostgreSQL does not run"),
        ("pytest-locale", 1, "a locale that it wants is missing"),
        ("pytest-tool", 1, "a command it needs is missing: no-such-tool"),
        ("pytest-display", 1, "there is no display"),
        ("pytest-timezone", 1, "the time zone data is missing"),
        ("pytest-port", 1, "a port that it wants is in use already"),
        ("pytest-no-space", 1, "there is no space left on the disk"),
        ("unittest-third-party", 1, "freezegun-x is not installed (1 passed, 1 could not be run)"),
        ("python-no-pytest", 1, "the Python package pytest is not installed"),
        ("pip-requires-python", 1, "the project wants Python >=3.99"),
        ("pip-denied", 1, "the network refused a host"),
        ("curl-denied", 56, "the network refused a host"),
        ("mypy-package", 1, "the Python package freezegun-x is not installed"),
        ("make-tool", 2, "a command it needs is missing: no-such-tool"),
        ("bash-tool", 127, "a command it needs is missing: no-such-tool"),
        ("sh-tool", 127, "a command it needs is missing: no-such-tool"),
        ("env-tool", 127, "a command it needs is missing: no-such-python3.99"),
        ("npm-tool", 127, "a command it needs is missing: no-such-runner"),
        ("node-spawn", 1, "a command it needs is missing: no-such-tool"),
        ("bash-full", 1, "there is no space left on the disk"),
        ("loader", 127, "a library is missing: libzz.so"),
        ("killed", 137, "it was killed, most likely for want of memory"),
        ("forks", 254, "it may not start more processes"),
        ("node-package", 1, "the Node package left-pad-x is not installed"),
        ("node-esm-package", 1, "the Node package left-pad-x is not installed"),
        ("node-test-package", 1, "left-pad-x is not installed (1 passed, 1 could not be run)"),
        ("node-builtin", 1, "this version of Node has no node:nothere"),
        ("node-service", 1, "PostgreSQL does not run"),
        ("node-dns", 1, "there is no network"),
        ("node-port", 1, "a port that it wants is in use already"),
        ("vitest-package", 1, "the Node package left-pad-x is not installed"),
        ("tsc-package", 2, "the Node package left-pad-x is not installed"),
        ("npm-engine", 1, 'the project wants {"node":">=99"}'),
        ("npm-lock", 1, "the lock file does not match what the project declares"),
        ("npm-offline", 1, "what it depends on was not fetched before"),
        ("npm-network", 1, "what it depends on could not be fetched: there is no network"),
        ("cargo-network", 101, "what it depends on could not be fetched: there is no network"),
        ("cargo-offline", 101, "what it depends on was not fetched before"),
        ("cargo-msrv", 101, "the project wants rustc 1.999"),
        ("cargo-lock", 101, "the lock file does not match what the project declares"),
        ("cargo-toolchain", 1, "there is no Rust toolchain 1.2.3-x86_64-unknown-linux-gnu"),
        ("go-network", 1, "what it depends on could not be fetched: there is no network"),
        ("go-off", 1, "the lock file does not match what the project declares"),
        ("go-service", 1, "PostgreSQL does not run"),
        ("gcc-system", 1, "the header nothere_x.h of a library is missing"),
        ("gcc-link", 1, "a library is missing: nothere_x"),
        ("cmake-version", 1, "the project wants CMake 99.0"),
        ("cmake-package", 1, "a library is missing: Nothere"),
        ("bundle-missing", 1, "a Ruby gem is not installed: rake-x"),
        ("bundle-version", 1, "the project wants Ruby 9.9.9"),
        ("ruby-gem", 1, "the Ruby gem left-pad-x is not installed"),
        ("php-vendor", 255, "the packages of PHP are not installed"),
        ("mvn-offline", 1, "what it depends on was not fetched before"),
    ],
)
def test_what_is_missing_is_the_environment_s_fault(name: str, exit_code: int, what: str) -> None:
    result = recorded(name, exit_code)
    assert (result.outcome, what in result.summary) == ("environment", True), result.summary
    assert all(fault.remedy and fault.who for fault in result.faults)


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [
        ("pytest-own-module", 2),
        ("pytest-own-name", 2),
        ("pytest-mixed", 1),
        ("pytest-tb-no", 1),
        ("pytest-async", 1),
        ("unittest-mixed", 1),
        ("mypy-mixed", 1),
        ("bash-own", 127),
        ("node-own", 1),
        ("node-esm-own", 1),
        ("node-test-mixed", 1),
        ("vitest-own", 1),
        ("vitest-mixed", 1),
        ("tsc-own", 2),
        ("cargo-mixed", 101),
        ("go-undeclared", 1),
        ("go-own", 1),
        ("go-mixed", 1),
        ("gcc-own", 1),
        ("ruby-own", 1),
        ("oom", 1),
    ],
)
def test_a_mistake_in_the_code_is_a_failure(name: str, exit_code: int) -> None:
    result = recorded(name, exit_code)
    assert (result.outcome, result.faults) == ("failed", ()), result.summary


def test_every_recorded_output_is_asked_about() -> None:
    asked = {
        case[0]
        for test in (test_what_is_missing_is_the_environment_s_fault, test_a_mistake_in_the_code_is_a_failure)
        for mark in getattr(test, "pytestmark")  # noqa: B009
        for case in mark.args[1]
    }
    assert asked == {path.stem for path in OUTPUTS.iterdir()}


def with_change(diff: str, **manifests: str) -> CodeUnderTest:
    files = {name.replace("__", "."): text for name, text in manifests.items()}
    head = Project(paths=tuple(files), contents=files, blobs=dict.fromkeys(files, "0" * 40))
    return code_under_test(Project(), head, changed=["test_a.py"], diff=diff)


def test_a_package_that_the_change_imports_and_nobody_declares_is_the_change_s_mistake() -> None:
    diff = "+++ b/test_a.py\n@@ -0,0 +1 @@\n+from freezegun_x import freeze_time\n"
    assert recorded("pytest-third-party", 2, with_change(diff)).outcome == "failed"
    assert (
        recorded("pytest-third-party", 2, with_change(diff.replace("+from", "-from"))).outcome
        == "environment"
    )
    declared = with_change(diff, pyproject__toml='[dependency-groups]\ntest = ["freezegun_x>=1"]\n')
    assert recorded("pytest-third-party", 2, declared).outcome == "environment"


@pytest.mark.parametrize("line", ["const x = require('left-pad-x')", 'import x from "left-pad-x"'])
def test_the_same_holds_for_packages_of_node(line: str) -> None:
    added = f"+++ b/a.test.js\n@@ -0,0 +1 @@\n+{line}\n"
    assert recorded("node-package", 1, with_change(added)).outcome == "failed"
    declared = with_change(added, package__json='{"dependencies": {"left-pad-x": "1"}}')
    assert recorded("node-package", 1, declared).outcome == "environment"


def test_the_command_that_brings_a_package_is_the_project_s_own_where_it_has_one() -> None:
    code = with_change("", requirements_tests__txt="freezegun_x\n")
    (fault,) = recorded("pytest-third-party", 2, code).faults
    assert fault.command == "pip install -r requirements_tests.txt"
    (fault,) = recorded("pytest-third-party", 2).faults
    assert (fault.command, fault.who) == ("pip install freezegun-x", "maintainer")


def test_a_lock_file_that_the_change_left_behind_is_the_change_s_mistake() -> None:
    code = CodeUnderTest(changed=frozenset({"package.json"}))
    assert recorded("npm-lock", 1, code).outcome == "failed"


def test_a_compiled_part_that_is_not_built_is_the_environment_s_fault() -> None:
    output = "E   ModuleNotFoundError: No module named 'calc._fast'\n"
    built = CodeUnderTest(paths=frozenset({"src/calc/__init__.py", "src/calc/_fast.pyx", "test_a.py"}))
    block = (
        f"____ ERROR collecting test_a.py ____\n{output}=== short test summary info ===\n1 error in 0.1s\n"
    )
    result = ended(block, 2, built)
    assert (result.outcome, result.faults[0].command) == ("environment", "pip install -e .")
    assert ended(block, 2).outcome == "failed"


@pytest.mark.parametrize(
    ("paths", "module", "own"),
    [
        (["calc.py"], "calc", True),
        (["src/calc/a.py"], "calc.b", True),
        (["packages/api/pyproject.toml", "packages/api/src/calc/a.py"], "calc", True),
        (["tests/test_a.py", "tests/helpers.py"], "helpers", True),
        (["tests/redis/test_a.py", "tests/test_b.py"], "redis", False),
        (["examples/flask/app.py"], "flask", False),
        (["docs/yaml.md"], "yaml", False),
    ],
)
def test_a_module_is_the_repository_s_own_where_python_would_find_it(
    paths: list[str], module: str, own: bool
) -> None:
    assert CodeUnderTest(paths=frozenset(paths)).owns_python(module) is own


@pytest.mark.parametrize(
    ("specifier", "own"),
    [
        ("./gone", True),
        ("@/lib/gone", True),
        ("components/button", True),
        ("helpers", True),
        ("express", False),
        ("@acme/utils", False),
        ("/workspace/node_modules/express/index.js", False),
    ],
)
def test_an_import_is_of_the_repository_s_own_file_where_it_would_be_one(specifier: str, own: bool) -> None:
    paths = {
        "src/components/button.tsx",
        "helpers/a.js",
        "examples/express/app.js",
        "packages/utils/index.js",
    }
    assert CodeUnderTest(paths=frozenset(paths)).owns_node(specifier) is own


def test_of_an_output_that_is_cut_what_is_left_must_be_explained() -> None:
    block = "____ ERROR collecting test_1.py ____\nE   ModuleNotFoundError: No module named 'freezegun'\n"
    cut = f"{block}\n[... 900000 bytes of output were left out here ...]\n"
    end = "==== 300 passed, 900 errors in 3.21s ====\n"
    assert ended(cut + end, 1).outcome == "environment"
    assert ended(f"{cut}FAILED test_2.py::test_a - assert 1 == 2\n{end}", 1).outcome == "failed"
    assert ended(block + end, 1).outcome == "failed"


def test_many_tests_that_pass_do_not_hide_what_could_not_be_run() -> None:
    blocks = "".join(
        f"____ ERROR collecting test_{n}.py ____\nE   ModuleNotFoundError: No module named 'freezegun'\n"
        for n in range(2)
    )
    result = ended(f"{blocks}=== short test summary info ===\n=== 300 passed, 2 errors in 3.21s ===\n", 1)
    assert result.outcome == "environment"
    assert result.summary == "the Python package freezegun is not installed (300 passed, 2 could not be run)"


@pytest.mark.parametrize("word", ["a", "_ ", "a.so", "No module named ", "E x", "FAIL  a ", "x: "])
def test_a_hostile_output_is_read_in_no_time(word: str) -> None:
    began = time.process_time()
    for output in (word * (1_000_000 // len(word)), f"{word}\n" * (500_000 // len(word))):
        environment_faults(1, output, None, OWN)
    assert time.process_time() - began < 5
