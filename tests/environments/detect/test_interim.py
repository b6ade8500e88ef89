"""Which checks are found in which project, and why."""

import json

import pytest

from journeyman.environments.detect.interim import detect_checks
from journeyman.environments.plan import Check
from journeyman.environments.project import Project


def found(
    names: str, contents: dict[str, str] | None = None, tests: str = "", unit: str = ""
) -> dict[str, Check]:
    contents = dict(contents or {})
    contents |= dict.fromkeys(tests.split(), "def test_a(): ...\n")
    contents |= dict.fromkeys(unit.split(), "class A(unittest.TestCase): ...\n")
    paths = [f"{name}x" if name.endswith("/") else name for name in names.split()]
    blobs = dict.fromkeys([*paths, *contents], "0" * 40)
    checks = detect_checks(Project(paths=tuple(sorted(blobs)), contents=contents, blobs=blobs))
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check for check in checks}


def package(**fields: object) -> dict[str, str]:
    return {"package.json": json.dumps(fields)}


def ways(check: Check) -> list[str]:
    return [check.command, *(ways(check.otherwise) if check.otherwise else [])]


PYTEST = "python3 -m pytest"
LAYOUTS: dict[str, tuple[dict[str, Check], dict[str, str]]] = {
    "nothing": (found("README.md LICENSE src/"), {}),
    "python library without tests": (found("setup.py"), {}),
    "plain test functions": (found("calc.py", tests="test_calc.py"), {"pytest": PYTEST}),
    "tests directory": (found("tests/", tests="tests/test_a.py"), {"pytest": PYTEST}),
    "conftest alone": (found("tests/", tests="tests/conftest.py"), {"pytest": PYTEST}),
    "pytest in pyproject": (
        found("", {"pyproject.toml": "[tool.pytest.ini_options]\n"}),
        {"pytest": PYTEST},
    ),
    "pytest in setup.cfg": (found("", {"setup.cfg": "[tool:pytest]\n"}), {"pytest": PYTEST}),
    "pytest in tox.ini": (found("", {"tox.ini": "[pytest]\n"}), {"pytest": PYTEST}),
    "pytest.ini": (found("pytest.ini"), {"pytest": PYTEST}),
    "pytest in requirements": (found("", {"requirements-dev.txt": "pytest==8\n"}), {"pytest": PYTEST}),
    "unittest at the root": (found("", unit="test_a.py"), {"unittest": "python3 -m unittest discover"}),
    "unittest in a directory": (
        found("tests/", unit="tests/test_a.py tests/sub/test_b.py"),
        {"unittest": "python3 -m unittest discover -s tests"},
    ),
    "unittest in a package": (
        found("tests/ tests/__init__.py", unit="tests/test_a.py"),
        {"unittest": "python3 -m unittest discover -s tests -t ."},
    ),
    "unittest in two places": (
        found("", unit="a/test_a.py b/test_b.py"),
        {"unittest": "python3 -m unittest discover"},
    ),
    "mixed styles": (found("", tests="test_a.py", unit="test_b.py"), {"pytest": PYTEST}),
    "uv": (
        found("uv.lock", {"pyproject.toml": "pytest"}),
        {"pytest": "uv run --no-sync python -m pytest"},
    ),
    "poetry": (
        found("poetry.lock", {"pyproject.toml": "pytest"}),
        {"pytest": "poetry run python -m pytest"},
    ),
    "own environment": (found(".venv/", tests="test_a.py"), {"pytest": ".venv/bin/python -m pytest"}),
    "tox with its own commands": (found("", {"tox.ini": "[testenv]\ncommands = ./go\n"}), {"tox": "tox"}),
    "django": (found("manage.py"), {"django": "python3 manage.py test"}),
    "django with pytest": (
        found("manage.py", {"requirements.txt": "pytest-django\n"}),
        {"pytest": PYTEST},
    ),
    "ruff": (found("ruff.toml"), {"ruff": "ruff check ."}),
    "ruff in pyproject": (
        found("", {"pyproject.toml": "[tool.ruff]\n"}, tests="test_a.py"),
        {"pytest": PYTEST, "ruff": "ruff check ."},
    ),
    "npm": (
        found("package-lock.json", package(scripts={"test": "node --test"})),
        {"npm test": "npm test"},
    ),
    "npm default": (
        found("", package(scripts={"test": 'echo "Error: no test specified" && exit 1'})),
        {},
    ),
    "npm default with vitest": (
        found("", package(scripts={"test": "no test specified"}, devDependencies={"vitest": "1"})),
        {"vitest": "npx --no-install vitest run"},
    ),
    "pnpm with jest": (
        found("pnpm-lock.yaml", package(devDependencies={"jest": "1"})),
        {"jest": "pnpm exec jest"},
    ),
    "yarn with a build": (
        found("yarn.lock", package(scripts={"test": "jest", "build": "vite build"})),
        {"yarn build": "yarn run build", "yarn test": "yarn test"},
    ),
    "typescript": (
        found("tsconfig.json", package(devDependencies={"typescript": "5"})),
        {"tsc": "npx --no-install tsc --noEmit"},
    ),
    "eslint": (
        found("eslint.config.js", package(devDependencies={"eslint": "9"})),
        {"eslint": "npx --no-install eslint ."},
    ),
    "eslint without a configuration": (found("", package(devDependencies={"eslint": "9"})), {}),
    "broken package.json": (found("", {"package.json": "{"}), {"npm test": "npm test"}),
    "strange package.json": (found("", {"package.json": '{"scripts": ["a"]}'}), {}),
    "package.json that is a list": (found("", {"package.json": "[]"}), {}),
    "rust": (found("", {"Cargo.toml": "[package]\n"}), {"cargo test": "cargo test"}),
    "rust workspace with clippy": (
        found("clippy.toml", {"Cargo.toml": "[workspace]\n"}),
        {"cargo test": "cargo test --workspace", "clippy": "cargo clippy --workspace"},
    ),
    "go": (
        found("", {"go.mod": "module a\n"}),
        {"go build": "go build -o /dev/null ./...", "go test": "go test ./..."},
    ),
    "make test": (found("", {"Makefile": "all:\n\ntest: all\n\t./t\n"}), {"make test": "make test"}),
    "make check": (found("", {"GNUmakefile": "check:\n\t./t\n"}), {"make check": "make check"}),
    "make variable": (found("", {"Makefile": "test := 1\ntest:= 2\ntests:\n\ttrue\n"}), {}),
    "make beside cargo": (
        found("", {"Makefile": "test:\n\tcargo test\n", "Cargo.toml": ""}),
        {"cargo test": "cargo test"},
    ),
    "python and node": (
        found("", package(scripts={"test": "node --test"}), tests="test_a.py"),
        {"pytest": PYTEST, "npm test": "npm test"},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_project_is_known_by_its_files(layout: str) -> None:
    checks, expected = LAYOUTS[layout]
    assert {name: check.command for name, check in checks.items()} == expected
    assert all(check.why and check.tool and check.probe for check in checks.values())


def test_builds_come_before_tests_and_linters_last() -> None:
    checks = found(
        "ruff.toml", package(scripts={"build": "b", "test": "t"}) | {"Cargo.toml": ""}, tests="test_a.py"
    )
    assert [check.kind for check in checks.values()] == ["build", "test", "test", "test", "lint"]


def test_a_lock_file_decides_and_the_plain_interpreter_comes_last() -> None:
    check = found("uv.lock .venv/", {"pyproject.toml": "pytest"}, tests="test_a.py")["pytest"]
    assert ways(check) == ["uv run --no-sync python -m pytest", ".venv/bin/python -m pytest", PYTEST]


def test_unittest_takes_the_place_of_pytest_only_where_it_runs_every_test() -> None:
    configured = {"pyproject.toml": "[tool.pytest.ini_options]"}
    assert ways(found("", configured, unit="test_a.py")["pytest"]) == [PYTEST, "python3 -m unittest discover"]
    assert ways(found("", configured, unit="test_a.py", tests="test_b.py")["pytest"]) == [PYTEST]
    assert ways(found("", configured, unit="test_a.py", tests="conftest.py")["pytest"]) == [PYTEST]


def test_packages_are_asked_for_only_where_the_project_has_some() -> None:
    assert "node_modules" not in found("", package(scripts={"test": "node --test"}))["npm test"].probe
    locked = found("package-lock.json", package(scripts={"test": "x"}, dependencies={"a": "1"}))["npm test"]
    assert "node_modules" in locked.probe


def test_tests_of_other_people_do_not_count() -> None:
    assert found("node_modules/a/test_no.py .venv/lib/test_no.py venv/test_no.py") == {}


def test_a_test_that_only_uses_mocks_of_unittest_is_run_by_pytest() -> None:
    mocked = {"test_mock.py": "from unittest import mock\n\nclass TestA:\n    def test_a(self): ...\n"}
    assert ways(found("", mocked)["pytest"]) == [PYTEST]
