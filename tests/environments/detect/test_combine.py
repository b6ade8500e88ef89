"""Packages of a repository joined into one environment, and the checks that a change asks for."""

import time

import pytest

from journeyman.environments.detect.combine import checks_for, detect_environment
from journeyman.environments.detect.packages import find_packages, is_aside, match_directories
from journeyman.environments.plan import Environment
from tests.environments.detect.trees import PYTEST_STYLE, UNIT, commands, installs, package, tree

PYPROJECT = '[project]\nname = "{0}"\nversion = "1"\ndependencies = ["six"]\n[build-system]\nrequires = []\n'


def test_builds_come_before_tests_and_linters_last() -> None:
    files = {"ruff.toml": "", "test_a.py": PYTEST_STYLE}
    files |= {"package.json": package(scripts={"build": "b", "test": "t", "typecheck": "c"})}
    kinds = [check.kind for check in detect_environment(tree(files)).checks]
    assert kinds == ["build", "test", "test", "types", "lint"]


def test_ecosystems_at_the_root_share_one_environment() -> None:
    files = {"package.json": package(scripts={"test": "node --test"}, dependencies={"a": "1"})}
    environment = detect_environment(tree(files | {"test_a.py": PYTEST_STYLE}))
    assert environment.ecosystems == ("Python (pip)", "Node (npm)")
    assert commands(environment) == {"pytest": "python -m pytest", "npm test": "npm test"}
    assert all(check.covers == () for check in environment.checks)


@pytest.mark.parametrize(
    ("makefile", "expected"),
    [
        ({"Makefile": "all:\n\ntest: all\n\t./t\n"}, {"make test": "make test"}),
        ({"GNUmakefile": "check:\n\t./t\n"}, {"make check": "make check"}),
        ({"Makefile": "test := 1\ntest:= 2\ntests:\n\ttrue\n"}, {}),
        ({"Makefile": "test:\n\tpytest\n", "test_a.py": UNIT}, {"unittest": "python3 -m unittest discover"}),
    ],
)
def test_a_makefile_is_asked_only_when_nothing_else_has_tests(
    makefile: dict[str, str], expected: dict[str, str]
) -> None:
    assert commands(detect_environment(tree(makefile))) == expected


def monorepo() -> Environment:
    files = {
        "pyproject.toml": PYPROJECT.format("root"),
        "tests/test_root.py": PYTEST_STYLE,
        "services/api/pyproject.toml": PYPROJECT.format("api"),
        "services/api/tests/test_api.py": PYTEST_STYLE,
        "web/package.json": package(scripts={"test": "vitest"}, dependencies={"a": "1"}),
        "examples/shop/package.json": package(scripts={"test": "vitest"}),
        "docs/requirements.txt": "sphinx\n",
    }
    return detect_environment(tree(files))


def test_every_package_is_found_and_named_and_what_is_beside_the_product_is_not() -> None:
    environment = monorepo()
    assert list(commands(environment)) == ["pytest", "web: npm test", "services/api: pytest"]
    assert [check.covers for check in environment.checks] == [(".",), ("web",), ("services/api",)]
    assert "sphinx" not in installs(environment)
    assert environment.directories == (".venv", "web/node_modules", "services/api/.venv")


def test_each_python_package_is_tested_in_its_own_virtual_environment() -> None:
    environment = monorepo()
    first, _, second = environment.checks
    assert environment.env["VIRTUAL_ENV"] == "/workspace/.venv"
    assert environment.path[0] == "/workspace/.venv/bin"
    assert first.command == "python -m pytest"
    assert second.command.endswith("; python -m pytest")
    assert 'PATH="/workspace/services/api/.venv/bin:$PATH"' in second.command
    assert 'PATH="/workspace/services/api/.venv/bin:$PATH"' in second.probe


def test_requirements_of_a_script_that_nothing_checks_are_not_installed() -> None:
    files = {"package.json": package(scripts={"test": "x"}), "tools/sync/requirements.txt": "requests\n"}
    environment = detect_environment(tree(files))
    assert (environment.install, environment.ecosystems) == ((), ("Node (npm)",))


def test_an_application_that_nothing_checks_is_installed_for_those_who_work_on_it() -> None:
    assert "requirements.txt" in installs(detect_environment(tree({"requirements.txt": "requests\n"})))
    assert "requirements.txt" in installs(
        detect_environment(tree({"backend/requirements.txt": "requests\n"}))
    )


def test_tests_of_taken_over_code_do_not_make_a_project_one_in_python() -> None:
    files = {"CMakeLists.txt": "enable_testing()\n", "tests/unity/auto/test_parse.py": PYTEST_STYLE}
    assert "pytest" not in commands(detect_environment(tree(files)))
    assert "pytest" in commands(detect_environment(tree(files | {"tests/test_all.py": PYTEST_STYLE})))


def test_one_package_below_the_root_has_its_tools_in_the_path() -> None:
    files = {"backend/requirements.txt": "pytest\n", "backend/tests/test_a.py": PYTEST_STYLE}
    environment = detect_environment(tree(files))
    assert environment.path == ("/workspace/backend/.venv/bin",)
    assert {one.workdir for one in environment.install} == {"backend"}
    assert [(check.name, check.workdir) for check in environment.checks] == [("pytest", "backend")]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["services/api/api.py"], ["services/api: pytest"]),
        (["web/src/a.ts", "services/api/api.py"], ["web: npm test", "services/api: pytest"]),
        (["tests/test_root.py"], ["pytest"]),
        (["README.md"], ["pytest"]),
        (["web/package.json"], ["web: npm test"]),
        (["pyproject.toml"], ["pytest", "web: npm test", "services/api: pytest"]),
        ([], ["pytest", "web: npm test", "services/api: pytest"]),
        (["webs/a"], ["pytest"]),
    ],
)
def test_a_change_asks_for_the_checks_of_what_it_touches(changed: list[str], expected: list[str]) -> None:
    environment = monorepo()
    assert [check.name for check in checks_for(environment, changed)] == expected
    assert checks_for(environment, changed, packages="all") == environment.checks


def test_a_change_that_is_in_no_package_asks_for_all_checks() -> None:
    files = {
        "a/package.json": package(scripts={"test": "x"}),
        "b/package.json": package(scripts={"test": "x"}),
    }
    environment = detect_environment(tree(files))
    assert checks_for(environment, ["tools/run.sh"]) == environment.checks
    assert [check.workdir for check in checks_for(environment, ["b/x.js"])] == ["b"]


UV_ROOT = """
[project]
name = "root"
version = "1"
[dependency-groups]
test = ["pytest"]
[tool.uv.workspace]
members = ["libs/*"]
exclude = ["libs/old"]
"""


def test_a_workspace_of_uv_is_installed_once_and_each_package_is_tested() -> None:
    files = {"pyproject.toml": UV_ROOT, "uv.lock": ""}
    for name in ("a", "b", "old"):
        files[f"libs/{name}/pyproject.toml"] = PYPROJECT.format(name)
    files |= {f"libs/{name}/tests/test_x.py": PYTEST_STYLE for name in ("a", "b")}
    environment = detect_environment(tree(files))
    assert "--all-packages" in installs(environment)
    assert list(commands(environment)) == ["libs/a: pytest", "libs/b: pytest"]
    assert all(check.command == "python -m pytest" for check in environment.checks)
    own = PYPROJECT.format("a") + '[dependency-groups]\nunit = []\ntesting = ["pytest"]\n'
    grouped = detect_environment(tree(files | {"libs/a/pyproject.toml": own}))
    assert "--all-packages --no-default-groups --group test --group testing" in installs(grouped)
    configured = files | {"pyproject.toml": UV_ROOT + '[tool.pytest.ini_options]\naddopts = "-ra"\n'}
    assert list(commands(detect_environment(tree(configured)))) == ["pytest"]


@pytest.mark.parametrize(
    "directory",
    [
        *(
            "node_modules/a",
            "vendor/x",
            "third_party/y",
            "tests/fixtures/p",
            "examples/shop",
            "a/templates/b",
        ),
        *(
            "my-template",
            "docs",
            "website",
            "{{cookiecutter.name}}",
            ".github/actions/x",
            "e2e",
            "benchmarks",
        ),
    ],
)
def test_what_is_beside_the_product_is_no_package(directory: str) -> None:
    assert is_aside(directory)
    assert find_packages(tree({}, f"{directory}/package.json")) == [""]


@pytest.mark.parametrize("directory", ["packages/api", "apps/web", "testkit", "src/documents", "environment"])
def test_a_name_that_only_sounds_like_it_is_a_package(directory: str) -> None:
    assert find_packages(tree({}, f"{directory}/package.json")) == ["", directory]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["packages/*"], ["packages/a", "packages/b"]),
        (["packages/**"], ["packages/a", "packages/b", "packages/deep/c"]),
        (["./packages/a/"], ["packages/a"]),
        (["**"], ["packages/a", "packages/b", "packages/deep/c", "tool"]),
        (["packages/*", "!packages/b"], ["packages/a"]),
        (["packages/{a,deep/c}", "too?"], ["packages/a", "packages/deep/c", "tool"]),
        (["packages/{a,b}"], ["packages/a", "packages/b"]),
    ],
)
def test_patterns_of_a_workspace_are_matched(patterns: list[str], expected: list[str]) -> None:
    names = ("packages/a", "packages/b", "packages/deep/c", "tool")
    project = tree({}, "m", *(f"{name}/m" for name in names), "packages/a/node_modules/x/m")
    assert match_directories(project, "", patterns, "m") == expected


def test_a_pattern_made_to_take_long_does_not() -> None:
    project = tree({}, f"{'a' * 60}/{'a' * 60}/m")
    begin = time.monotonic()
    match_directories(project, "", ["*a" * 30 + "b", "**/" * 30 + "b", "a*" * 25 + "/b"], "m")
    assert time.monotonic() - begin < 2


def test_more_packages_than_anybody_has_are_cut_and_told() -> None:
    files = {f"p/{number}/package.json": package(scripts={"test": "x"}) for number in range(200)}
    environment = detect_environment(tree(files))
    assert len(environment.checks) < 100
    assert "201 packages" in environment.notes[0]
