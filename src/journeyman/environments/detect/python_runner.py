"""How a Python package's tests are run, as its own people run them.

Best first: what tox or nox runs, pytest where it is configured, a test script of the project's own, Django's
`manage.py test`, pytest or unittest by what the test files look like. Options for coverage, reports and
parallel runs are left out of a pytest command; paths and selections are kept.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from journeyman.environments.detect.found import Hints, under, workdir_of
from journeyman.environments.detect.packages import is_aside
from journeyman.environments.detect.python_manifest import Manifest, requirement_name
from journeyman.environments.detect.python_tox import Needs
from journeyman.environments.project import Project

_TEST_FILE = re.compile(r"(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_SKIPPED = re.compile(r"(?:^|/)(?:\.[^/]+|node_modules|site-packages|venv|vendor|third_party|_vendor)/")
_PYTEST_STYLE = re.compile(r"(?m)^ *(?:import|from) +pytest|^(?:async +)?def +test")
_INTERPRETER = re.compile(r"(?:\{envpython\}|(?:\S*/)?python[\d.]*)")
_POSARGS = re.compile(r"\{posargs(?::((?:[^{}]|\{[^{}]*\})*))?\}")
_KEPT = ("-k", "-m", "-p", "-o", "-c", "--ignore", "--ignore-glob", "--deselect", "--import-mode", "--pyargs")
_KEPT_FLAGS = ("--doctest-modules", "--pyargs", "--run-slow", "--doctest-glob")
_TEST_SCRIPT = re.compile(r"(?:^|/)(?:run_?tests?|test_?runner|run_all_tests|runtests?)\.py$")
_NO_TESTS = re.compile(
    r"^-?\s*(?:pip|python -m pip|poetry|pdm|uv|tox|nox|ruff|flake8|mypy|black|isort"
    r"|coverage (?:report|xml|html|erase|combine)|codecov|pre-commit|sphinx-build|twine|rm|echo|mkdir|cp"
    r"|pylint|pyright)\b"
)


@dataclass(frozen=True, kw_only=True)
class Runner:
    name: str
    command: str
    """With `python` for the interpreter."""
    workdir: str
    why: str
    package: str
    """The distribution that must be installed for it; empty where Python alone will do."""
    module: str
    """What can be imported where it can be run."""
    unittest: str = ""
    """Another way to run every one of the tests, without that distribution."""


def find_runner(
    project: Project, directory: str, manifest: Manifest, needs: Needs, hints: Hints
) -> Runner | None:
    tests = test_files(project, directory)
    plain = _all_for_unittest(project, directory, tests)
    unittest = f"python -m unittest {_discover(project, directory, tests)}" if plain else ""
    pytest = Runner(
        name="pytest",
        command="python -m pytest",
        workdir=workdir_of(directory),
        why="pytest is configured",
        package="pytest",
        module="pytest",
        unittest=unittest,
    )
    said = _said(project, directory, needs, pytest)
    if said:
        return said
    if _is_configured(project, directory, manifest):
        return pytest
    if script := _script(project, directory, hints):
        return script
    if project.has(under(directory, "manage.py")) and not _is_declared(project, directory, manifest, needs):
        return _django(directory)
    if _is_declared(project, directory, manifest, needs):
        return replace(pytest, why="pytest is among its requirements")
    if tests and not plain:
        return replace(pytest, why="there are tests in Python")
    if tests:
        why = "all tests in Python are written for unittest"
        return replace(pytest, name="unittest", command=unittest, why=why, package="", module="", unittest="")
    return _other_commands(directory, needs)


def test_files(project: Project, directory: str) -> tuple[str, ...]:
    """Test files and conftest.py files of this package, from its directory; not those of packages below."""
    prefix = f"{directory}/" if directory else ""
    below = [path[len(prefix) :] for path in project.paths if path.startswith(prefix)]
    others = {posixpath.dirname(path) for path in below if "/" in path and _is_manifest(path)}
    return tuple(
        path
        for path in below
        if _TEST_FILE.search(posixpath.basename(path))
        and not _SKIPPED.search(path)
        and not any(path.startswith(f"{other}/") for other in others)
    )


def _is_manifest(path: str) -> bool:
    """Requirements beside tests or documents do not make those a package; a manifest proper does."""
    name = posixpath.basename(path)
    if name in ("requirements.txt", "Pipfile", "manage.py"):
        return not is_aside(posixpath.dirname(path))
    return name in ("pyproject.toml", "setup.py")


def _all_for_unittest(project: Project, directory: str, tests: Iterable[str]) -> bool:
    texts = [project.text(under(directory, path)) for path in tests]
    return bool(texts) and all("TestCase" in text and not _PYTEST_STYLE.search(text) for text in texts)


def _discover(project: Project, directory: str, tests: tuple[str, ...]) -> str:
    """Where unittest must begin: it does not enter directories that are not packages."""
    tops = {path.split("/")[0] for path in tests if "/" in path}
    if len(tops) != 1 or any("/" not in path for path in tests):
        return "discover"
    (top,) = tops
    is_package = project.has(under(directory, f"{top}/__init__.py"))
    return f"discover -s {shlex.quote(top)}" + (" -t ." if is_package else "")


def _is_configured(project: Project, directory: str, manifest: Manifest) -> bool:
    names = project.names(directory)
    return bool(
        manifest.tool("pytest")
        or names & {"pytest.ini", "conftest.py", ".pytest.ini", "pytest.toml"}
        or manifest.has_section("pytest", "tox.ini", "pytest.ini")
        or manifest.has_section("tool:pytest", "setup.cfg")
    )


def _is_declared(project: Project, directory: str, manifest: Manifest, needs: Needs) -> bool:
    requirements = [
        *needs.requirements,
        *manifest.dependencies,
        *(one for group in (*manifest.groups.values(), *manifest.extras.values()) for one in group),
    ]
    prefix = f"{directory}/" if directory else ""
    for path, text in project.contents.items():
        if (
            path.startswith(prefix)
            and "requirements" in path[len(prefix) :]
            and path.endswith((".txt", ".in"))
        ):
            requirements += text.splitlines()
    setup = project.text(under(directory, "setup.py")) + project.text(under(directory, "Pipfile"))
    names = {requirement_name(one) for one in requirements}
    return any(name == "pytest" or name.startswith("pytest-") for name in names) or "pytest" in setup


def _said(project: Project, directory: str, needs: Needs, pytest: Runner) -> Runner | None:
    """What tox or nox runs, where that is a way we know."""
    for words in _commands(needs):
        rest = _after_pytest(words)
        if rest is not None:
            kept = shlex.join(_kept(project, directory, rest))
            command = f"{_variables(needs)}python -m pytest {kept}".strip()
            return replace(pytest, command=command, why=needs.said_in)
        script = next((word for word in words[1:] if word.endswith(".py")), "")
        place = posixpath.normpath(posixpath.join(directory, needs.workdir, script))
        if not _INTERPRETER.fullmatch(words[0]):
            continue
        base = Runner(
            name=posixpath.basename(script) or "unittest",
            command=f"{_variables(needs)}python {shlex.join(words[1:])}",
            workdir=workdir_of(under(directory, needs.workdir) if needs.workdir else directory),
            why=needs.said_in,
            package="",
            module="",
        )
        if words[1:3] == ["-m", "unittest"]:
            return replace(base, name="unittest")
        if script and project.has(place) and "test" in shlex.join(words):
            return replace(base, name="django", module="django") if script == "manage.py" else base
    return None


def _commands(needs: Needs) -> Iterator[list[str]]:
    for command in needs.commands:
        text = _POSARGS.sub(lambda found: found[1] or "", command.lstrip("-! "))
        try:
            words = shlex.split(text, comments=True)
        except ValueError:
            continue
        if words:
            yield words


def _after_pytest(words: list[str]) -> list[str] | None:
    """The arguments of pytest, however it is started."""
    if posixpath.basename(words[0]) in ("pytest", "py.test"):
        return words[1:]
    is_started = _INTERPRETER.fullmatch(words[0]) or words[0] in ("coverage", "slipcover", "xvfb-run", "env")
    for place, word in enumerate(words[1:-1], 1):
        if is_started and word == "-m" and words[place + 1] == "pytest":
            return words[place + 2 :]
    return None


def _kept(project: Project, directory: str, words: list[str]) -> Iterator[str]:
    """Paths that exist and options that select tests."""
    place = 0
    while place < len(words):
        word = words[place]
        name, sign, _ = word.partition("=")
        if word in _KEPT and place + 1 < len(words):
            yield from words[place : place + 2]
            place += 1
        elif (sign and name in _KEPT) or word in _KEPT_FLAGS or _is_path(project, directory, word):
            yield word
        place += 1


def _is_path(project: Project, directory: str, word: str) -> bool:
    if word.startswith("-") or "{" in word:
        return False
    path = posixpath.normpath(posixpath.join(directory, word.partition("::")[0]))
    return path == "." or project.has(path) or any(one.startswith(f"{path}/") for one in project.paths)


def _variables(needs: Needs) -> str:
    return "".join(f"{name}={shlex.quote(value)} " for name, value in needs.env)


def _script(project: Project, directory: str, hints: Hints) -> Runner | None:
    """A test script of the project's own: named in CI or in a document, and there."""
    for seen in hints.commands:
        for part in re.split(r"&&|;|\|", seen.command):
            words = _split(part)
            if len(words) < 2 or not _INTERPRETER.fullmatch(words[0]):
                continue
            script = next((word for word in words[1:] if _TEST_SCRIPT.search(word)), "")
            place = posixpath.normpath(posixpath.join(seen.workdir, script))
            if script and project.has(place) and place.startswith(f"{directory}/" if directory else ""):
                return _run_script(posixpath.relpath(place, directory or "."), directory, seen.said_in)
    for path in ("tests/runtests.py", "runtests.py", "test/runtests.py"):
        if project.has(under(directory, path)):
            return _run_script(path, directory, path)
    return None


def _run_script(path: str, directory: str, why: str) -> Runner:
    return Runner(
        name=posixpath.basename(path),
        command=f"python {shlex.quote(path)}",
        workdir=workdir_of(directory),
        why=why,
        package="",
        module="",
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []


def _django(directory: str) -> Runner:
    return Runner(
        name="django",
        command="python manage.py test",
        workdir=workdir_of(directory),
        why="manage.py",
        package="",
        module="django",
    )


def _other_commands(directory: str, needs: Needs) -> Runner | None:
    """tox's own commands, where nothing in them is only tox's to know."""
    commands = [one.lstrip("-! ") for one in needs.commands if not _NO_TESTS.match(one)]
    plain = [_POSARGS.sub("", one).strip() for one in commands]
    if not plain or any("{" in one for one in plain):
        return None
    return Runner(
        name="tox",
        command=" && ".join(plain),
        workdir=workdir_of(under(directory, needs.workdir) if needs.workdir else directory),
        why=needs.said_in,
        package="",
        module="",
    )
