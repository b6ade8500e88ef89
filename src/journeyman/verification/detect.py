"""Which checks a project has, detected from its files alone.

The first command of a check is the one its own developers would type. Where that cannot be run, the
check may hold another way to ask the same question (`otherwise`); a way that would leave tests out is
not offered. A Makefile is asked only when nothing else has tests, because it mostly calls the others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

CheckKind = Literal["build", "test", "lint"]
_ORDER: dict[CheckKind, int] = {"build": 0, "test": 1, "lint": 2}

MANIFESTS = (
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
_REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt")
_ESLINT = re.compile(r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\.\w+)?")
_MAKE_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ProjectFiles:
    """What of a project decides how it is checked."""

    names: frozenset[str]
    """What stands at the root; a directory's name ends with a slash."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """The manifests, by name."""
    python_tests: frozenset[str] = frozenset()
    """Test files and conftest.py files, by path."""
    unittest_files: frozenset[str] = frozenset()
    """Those of python_tests that unittest can run whole."""


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    kind: CheckKind
    command: str
    tool: str
    """What must be there to run it, in words for a person."""
    why: str
    probe: str
    """A shell command that succeeds where the check can be run."""
    install: str | None = None
    """How to bring what is missing, where that is allowed."""
    otherwise: "Check | None" = None


def detect_checks(project: ProjectFiles) -> list[Check]:
    """Every check of every ecosystem in the project: builds first, then tests, then linters."""
    checks = [*_python(project), *_node(project), *_rust(project), *_go(project)]
    if not any(check.kind == "test" for check in checks):
        checks.extend(_make(project))
    return sorted(checks, key=lambda check: _ORDER[check.kind])


def _python(project: ProjectFiles) -> Iterator[Check]:
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
            install=_pip(project),
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


def _python_tests(project: ProjectFiles, wants_pytest: bool) -> Check:
    """The ways to run the tests, best first: pytest with the project's own interpreter, …, plain unittest."""
    all_unittest = bool(project.python_tests) and project.python_tests == project.unittest_files
    ways: list[Check] = []
    if wants_pytest or not all_unittest:
        why = "pytest is configured" if wants_pytest else "there are tests in Python"
        for interpreter, there, install in _interpreters(project):
            ways.append(
                Check(
                    name="pytest",
                    kind="test",
                    command=f"{interpreter} -m pytest",
                    tool="pytest",
                    why=why,
                    probe=f'{there} && {interpreter} -c "import pytest"',
                    install=install,
                )
            )
    if all_unittest:
        for interpreter, there, _ in _interpreters(project):
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


def _interpreters(project: ProjectFiles) -> Iterator[tuple[str, str, str | None]]:
    """Each Python that may know the project's packages: how to call it, to find it, and to install them."""
    if "uv.lock" in project.names:
        # Without its directory uv would make one in the workspace just to answer.
        yield "uv run --no-sync python", f"{_there('uv')} && test -d .venv", "uv sync --frozen"
    if "poetry.lock" in project.names:
        yield "poetry run python", _there("poetry"), "poetry install --no-interaction"
    for directory in (".venv", "venv"):
        if f"{directory}/" in project.names:
            yield f"{directory}/bin/python", f"test -x {directory}/bin/python", None
    yield "python3", _there("python3"), _pip(project)


def _pip(project: ProjectFiles) -> str | None:
    files = [f"-r {name}" for name in _REQUIREMENTS if name in project.names]
    return f"python3 -m pip install --quiet {' '.join(files)}" if files else None


def _discover(project: ProjectFiles) -> str:
    """Where unittest must begin: it does not enter directories that are not packages."""
    directories = {path.split("/")[0] for path in project.python_tests if "/" in path}
    if len(directories) != 1 or any("/" not in path for path in project.python_tests):
        return "discover"
    (directory,) = directories
    return f"discover -s {directory}" + (" -t ." if f"{directory}/__init__.py" in project.names else "")


def _node(project: ProjectFiles) -> Iterator[Check]:
    if "package.json" not in project.names:
        return
    manager, install = "npm", "npm ci" if "package-lock.json" in project.names else "npm install"
    if "pnpm-lock.yaml" in project.names:
        manager, install = "pnpm", "pnpm install --frozen-lockfile"
    elif "yarn.lock" in project.names:
        manager, install = "yarn", "yarn install --frozen-lockfile"
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
        base = replace(base, tool=f"{manager} with the project's packages", probe=probe, install=install)

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


def _rust(project: ProjectFiles) -> Iterator[Check]:
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


def _go(project: ProjectFiles) -> Iterator[Check]:
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


def _make(project: ProjectFiles) -> Iterator[Check]:
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
