"""Which checks a project has, detected from its files alone.

The first command of a check is the one its own developers would type. Where that cannot be run, the
check may hold another way to ask the same question (`otherwise`); a way that would leave tests out is
not offered. A Makefile is asked only when nothing else has tests, because it mostly calls the others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from journeyman.environments.plan import Check, CheckKind
from journeyman.environments.project import Project

_ORDER: dict[CheckKind, int] = {"build": 0, "types": 1, "test": 2, "lint": 3}

_MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "pytest.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "makefile",
    "GNUmakefile",
)
_ESLINT = re.compile(r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\.\w+)?")
_MAKE_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)


_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*\.py|[^/]*_test\.py|conftest\.py)$")
_NOT_OURS = re.compile(r"(?:^|/)(?:\.[^/]+|node_modules|site-packages|venv)/")
_PYTEST_STYLE = re.compile(r"(?m)^ *(?:import|from) +pytest|^(?:async +)?def +test")


@dataclass(frozen=True)
class _Files:
    """What of a project decides how it is checked."""

    project: Project

    @cached_property
    def names(self) -> frozenset[str]:
        """What is in the root; a directory's name ends with a slash."""
        return self.project.names()

    @cached_property
    def contents(self) -> Mapping[str, str]:
        """The manifests, by name."""
        return {name: self.project.text(name) for name in _MANIFESTS if self.project.has(name)}

    @cached_property
    def python_tests(self) -> frozenset[str]:
        return frozenset(
            path for path in self.project.paths if _PYTHON_TEST.search(path) and not _NOT_OURS.search(path)
        )

    @cached_property
    def unittest_files(self) -> frozenset[str]:
        """Those of python_tests that unittest can run whole."""
        return frozenset(path for path in self.python_tests if _is_unittest(self.project.text(path)))


def _is_unittest(text: str) -> bool:
    return "TestCase" in text and not _PYTEST_STYLE.search(text)


def detect_checks(project: Project) -> list[Check]:
    """Every check of every ecosystem in the project: builds first, then tests, then linters."""
    files = _Files(project)
    checks = [*_python(files), *_node(files), *_rust(files), *_go(files)]
    if not any(check.kind == "test" for check in checks):
        checks.extend(_make(files))
    return sorted(checks, key=lambda check: _ORDER[check.kind])


def _python(project: _Files) -> Iterator[Check]:
    manifests = "\n".join(
        text
        for name, text in project.contents.items()
        if name.endswith((".toml", ".cfg", ".ini", ".txt", "setup.py")) and name != "Cargo.toml"
    )
    wants_pytest = "pytest" in manifests or bool(project.names & {"pytest.ini", "conftest.py"})
    if "manage.py" in project.names and not wants_pytest:
        yield Check(
            name="django",
            kind="test",
            command="python3 manage.py test",
            tool="Django",
            why="manage.py",
            probe='python3 -c "import django"',
        )
    elif project.python_tests or wants_pytest:
        yield _python_tests(project, wants_pytest)
    elif re.search(r"(?m)^commands\s*=", project.contents.get("tox.ini", "")):
        yield Check(name="tox", kind="test", command="tox", tool="tox", why="tox.ini", probe=_there("tox"))
    if project.names & {"ruff.toml", ".ruff.toml"} or "[tool.ruff" in manifests:
        yield Check(
            name="ruff",
            kind="lint",
            command="ruff check .",
            tool="ruff",
            why="ruff is configured",
            probe=_there("ruff"),
        )


def _python_tests(project: _Files, wants_pytest: bool) -> Check:
    """The ways to run the tests, best first: pytest with the project's own interpreter, …, plain unittest."""
    all_unittest = bool(project.python_tests) and project.python_tests == project.unittest_files
    ways: list[Check] = []
    if wants_pytest or not all_unittest:
        why = "pytest is configured" if wants_pytest else "there are tests in Python"
        for interpreter, there in _interpreters(project):
            ways.append(
                Check(
                    name="pytest",
                    kind="test",
                    command=f"{interpreter} -m pytest",
                    tool="pytest",
                    why=why,
                    probe=f'{there} && {interpreter} -c "import pytest"',
                )
            )
    if all_unittest:
        for interpreter, there in _interpreters(project):
            ways.append(
                Check(
                    name="unittest",
                    kind="test",
                    command=f"{interpreter} -m unittest {_discover(project)}",
                    tool="Python",
                    why="all tests in Python are written for unittest",
                    probe=there,
                )
            )
    chosen = ways.pop()
    while ways:
        chosen = replace(ways.pop(), otherwise=chosen)
    return chosen


def _interpreters(project: _Files) -> Iterator[tuple[str, str]]:
    """Each Python that may know the project's packages: how to call and to find it."""
    if "uv.lock" in project.names:
        # Without its directory uv would make one in the workspace just to answer.
        yield "uv run --no-sync python", f"{_there('uv')} && test -d .venv"
    if "poetry.lock" in project.names:
        yield "poetry run python", _there("poetry")
    for directory in (".venv", "venv"):
        if f"{directory}/" in project.names:
            yield f"{directory}/bin/python", f"test -x {directory}/bin/python"
    yield "python3", _there("python3")


def _discover(project: _Files) -> str:
    """Where unittest must begin: it does not enter directories that are not packages."""
    directories = {path.split("/")[0] for path in project.python_tests if "/" in path}
    if len(directories) != 1 or any("/" not in path for path in project.python_tests):
        return "discover"
    (directory,) = directories
    return f"discover -s {directory}" + (" -t ." if project.project.has(f"{directory}/__init__.py") else "")


def _node(project: _Files) -> Iterator[Check]:
    if "package.json" not in project.names:
        return
    manager = "npm"
    if "pnpm-lock.yaml" in project.names:
        manager = "pnpm"
    elif "yarn.lock" in project.names:
        manager = "yarn"
    execute = {"npm": "npx --no-install", "pnpm": "pnpm exec", "yarn": "yarn run"}[manager]
    try:
        package: Any = json.loads(project.contents.get("package.json", ""))
    except ValueError:
        # The package manager says best what is wrong with it.
        package = {"scripts": {"test": "unreadable"}}
    if not isinstance(package, dict):
        package = {}
    needed = {**_mapping(package, "dependencies"), **_mapping(package, "devDependencies")}
    scripts = {name: text for name, text in _mapping(package, "scripts").items() if isinstance(text, str)}
    base = Check(
        name="",
        kind="test",
        command="",
        tool=manager,
        why="",
        probe=_there(manager),
    )
    if needed:
        probe = f"{_there(manager)} && {{ test -d node_modules || test -f .pnp.cjs; }}"
        base = replace(base, tool=f"{manager} with the project's packages", probe=probe)

    if scripts.get("build"):
        yield replace(
            base, name=f"{manager} build", kind="build", command=f"{manager} run build", why="scripts.build"
        )
    elif "typescript" in needed and "tsconfig.json" in project.names:
        yield replace(base, name="tsc", kind="build", command=f"{execute} tsc --noEmit", why="tsconfig.json")

    runner = next((name for name in ("vitest", "jest") if name in needed), None)
    if scripts.get("test") and "no test specified" not in scripts["test"]:
        yield replace(base, name=f"{manager} test", command=f"{manager} test", why="scripts.test")
    elif runner:
        command = f"{execute} vitest run" if runner == "vitest" else f"{execute} jest"
        yield replace(base, name=runner, command=command, why=f"{runner} is a dependency")

    if "eslint" in needed and any(_ESLINT.fullmatch(name) for name in project.names):
        yield replace(
            base, name="eslint", kind="lint", command=f"{execute} eslint .", why="eslint is configured"
        )


def _rust(project: _Files) -> Iterator[Check]:
    if "Cargo.toml" not in project.names:
        return
    manifest = project.contents.get("Cargo.toml", "")
    everywhere = " --workspace" if "[workspace]" in manifest else ""
    yield Check(
        name="cargo test",
        kind="test",
        command=f"cargo test{everywhere}",
        tool="cargo",
        why="Cargo.toml",
        probe=_there("cargo"),
    )
    if project.names & {"clippy.toml", ".clippy.toml"} or "lints.clippy" in manifest:
        yield Check(
            name="clippy",
            kind="lint",
            command=f"cargo clippy{everywhere}",
            tool="clippy",
            why="clippy is configured",
            probe="cargo clippy --version",
        )


def _go(project: _Files) -> Iterator[Check]:
    if "go.mod" not in project.names:
        return
    base = Check(
        name="go build",
        kind="build",
        command="go build -o /dev/null ./...",
        tool="go",
        why="go.mod",
        probe=_there("go"),
    )
    yield base
    yield replace(base, name="go test", kind="test", command="go test ./...")


def _make(project: _Files) -> Iterator[Check]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if targets := _MAKE_TARGET.findall(project.contents.get(name, "")):
            target = "test" if "test" in targets else "check"
            yield Check(
                name=f"make {target}",
                kind="test",
                command=f"make {target}",
                tool="make",
                why=f"{name} has the target {target}",
                probe=_there("make"),
            )
            return


def _there(tool: str) -> str:
    return f"command -v {tool} >/dev/null"


def _mapping(package: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = package.get(key)
    return value if isinstance(value, dict) else {}
