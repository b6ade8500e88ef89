"""Python packages: what they need, and how they are tested, linted and type checked.

A package whose tests run with the system's interpreter and need nothing has nothing to install. All others
get `.venv` beside their manifest, first in PATH, so that a command is what a developer would type.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from journeyman.environments.detect.found import Detected, Hints, inside, there, under, workdir_of
from journeyman.environments.detect.packages import match_directories
from journeyman.environments.detect.python_install import TOOLS_BIN, find_lock, install_commands
from journeyman.environments.detect.python_manifest import Manifest, read_manifest, strings
from journeyman.environments.detect.python_needs import Selection, choose
from journeyman.environments.detect.python_runner import Runner, find_runner, test_files
from journeyman.environments.detect.python_tox import read_test_needs
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_MANIFESTS = frozenset(
    {"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "manage.py", "requirements.txt"}
)
_KEY_FILES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile"),
    *("Pipfile.lock", "tox.ini", "tox.toml", "noxfile.py", "hatch.toml", ".python-version"),
)
_OTHERS_MANIFEST = re.compile(
    r"CMakeLists\.txt|meson\.build|configure(?:\.ac)?|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile"
    r"|composer\.json|package\.json|.*\.(?:sln|slnx|csproj)|(?:GNU)?[Mm]akefile"
)


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    names = project.names(directory)
    tests = test_files(project, directory)
    if not names & _MANIFESTS and any(map(_OTHERS_MANIFEST.fullmatch, names)):
        # Test files deep in a project of another language came with something that it took over.
        tests = tuple(path for path in tests if path.count("/") <= 1)
    if not tests and not names & _MANIFESTS and not _has_requirements(names):
        return None
    manifest = read_manifest(project, directory)
    if not tests and not _says_something(names, manifest):
        return None
    needs, lock = read_test_needs(project, directory, manifest), find_lock(project, directory)
    runner = find_runner(project, directory, manifest, needs, hints)
    checkers = tuple(_configured(project, directory, manifest))
    chosen = choose(
        project,
        directory,
        manifest,
        needs,
        runner=runner.package if runner else "",
        checkers=checkers,
        is_locked=lock is not None,
    )
    pinned, pinned_in = _pinned(project, directory)
    members = _members(project, directory, manifest, hints) if lock and lock.tool == "uv" else []
    for one in members:
        chosen = _joined(chosen, _of_member(project, one.directory, hints))
    install: tuple[InstallCommand, ...] = ()
    if lock or not chosen.is_empty or manifest.dependencies or manifest.needs_installing:
        install = tuple(install_commands(project, directory, manifest, chosen, lock=lock, pinned=pinned))
        install += tuple(_fetch_pyright(directory, manifest, checkers, chosen))
    version, said_in = (pinned, pinned_in) if pinned else (manifest.requires_python, manifest.python_said_in)
    found = Detected(
        ecosystem=f"Python ({lock.tool if lock else 'pip'})" if install else "Python",
        directory=directory,
        tools=(ToolNeed(tool="python3", version=version, said_in=said_in or "the project's files"),),
        install=install,
        checks=tuple(_checks(project, directory, manifest, runner, checkers, hints, bool(install))),
        key_files=tuple(under(directory, one) for one in (*_KEY_FILES, *_requirements(names), *chosen.files)),
    )
    if install:
        found = replace(
            found,
            env={"VIRTUAL_ENV": inside(under(directory, ".venv"))},
            path=(inside(under(directory, ".venv/bin")), *((TOOLS_BIN,) if lock else ())),
            directories=(under(directory, ".venv"),),
        )
        if members:
            return _with_members(found, members, manifest, has_tests=bool(tests))
        return found
    roots = [one for one in ("src", "lib") if _holds_python(project, under(directory, one))]
    paths = ":".join(inside(under(directory, one)) for one in roots)
    return replace(found, env={"PYTHONPATH": paths} if paths else {})


def _says_something(names: frozenset[str], manifest: Manifest) -> bool:
    """Whether its manifest is a package's: pyproject.toml and setup.cfg often only configure a tool."""
    return bool(
        names & {"setup.py", "manage.py", "Pipfile", "uv.lock", "poetry.lock", "pdm.lock"}
        or manifest.name
        or manifest.dependencies
        or manifest.groups
        or _has_requirements(names)
        or manifest.configs.keys() & {"tox.ini", "pytest.ini"}
        or manifest.tool("pytest")
        or manifest.has_section("tool:pytest", "setup.cfg")
    )


def _has_requirements(names: frozenset[str]) -> bool:
    return bool(_requirements(names)) or "requirements/" in names or "tox.ini" in names


def _requirements(names: frozenset[str]) -> list[str]:
    return sorted(one for one in names if "requirements" in one and one.endswith((".txt", ".in")))


def _holds_python(project: Project, directory: str) -> bool:
    return any(
        one.startswith(f"{directory}/") and one.endswith(".py") and one.count("/") <= directory.count("/") + 2
        for one in project.paths
    )


def _pinned(project: Project, directory: str) -> tuple[str, str]:
    """The one version that developers use."""
    for path in dict.fromkeys((under(directory, ".python-version"), ".python-version")):
        if found := re.match(r"\s*(?:cpython-|python-)?(3\.\d+(?:\.\d+)?)", project.text(path)):
            return found[1], path
    for path in dict.fromkeys((under(directory, ".tool-versions"), ".tool-versions")):
        if found := re.search(r"(?m)^python\s+(3\.\d+(?:\.\d+)?)", project.text(path)):
            return found[1], path
    return "", ""


def _members(project: Project, directory: str, manifest: Manifest, hints: Hints) -> list[Detected]:
    """Packages of a uv workspace: installed with its root, and with checks of their own."""
    patterns = strings(manifest.tool("uv", "workspace", "members"))
    taken_out = [f"!{one}" for one in strings(manifest.tool("uv", "workspace", "exclude"))]
    places = match_directories(project, directory, [*patterns, *taken_out], "pyproject.toml")
    found = (detect(project, one, hints) for one in places if one != directory)
    return [one for one in found if one]


def _of_member(project: Project, directory: str, hints: Hints) -> Selection:
    manifest = read_manifest(project, directory)
    needs = read_test_needs(project, directory, manifest)
    runner = find_runner(project, directory, manifest, needs, hints)
    package = runner.package if runner else ""
    return choose(project, directory, manifest, needs, runner=package, checkers=(), is_locked=True)


def _joined(whole: Selection, member: Selection) -> Selection:
    """uv installs a group of any package in the workspace by its name."""
    return replace(
        whole,
        extras=tuple(dict.fromkeys((*whole.extras, *member.extras))),
        groups=tuple(dict.fromkeys((*whole.groups, *member.groups))),
        requirements=tuple(dict.fromkeys((*whole.requirements, *member.requirements))),
    )


def _with_members(
    root: Detected, members: list[Detected], manifest: Manifest, *, has_tests: bool
) -> Detected:
    # pytest configured at the root runs the tests of all packages; otherwise each has its own, because test
    # files of the same name in two packages cannot be collected together.
    is_whole = manifest.tool("pytest") is not None
    own = [check for check in root.checks if is_whole or has_tests or check.kind != "test"]
    answered = {check.kind for check in own if is_whole or check.kind != "test"}
    below = [
        replace(check, covers=(one.directory,))
        for one in members
        for check in one.checks
        if check.kind not in answered
    ]
    return replace(
        root,
        checks=(*own, *below),
        key_files=(*root.key_files, *(path for one in members for path in one.key_files)),
        members=tuple(one.directory for one in members),
    )


def _configured(project: Project, directory: str, manifest: Manifest) -> Iterator[str]:
    names = project.names(directory)
    if names & {"ruff.toml", ".ruff.toml"} or manifest.tool("ruff") is not None:
        yield "ruff"
    elif ".flake8" in names or manifest.has_section("flake8", "setup.cfg", "tox.ini"):
        yield "flake8"
    if (
        names & {"mypy.ini", ".mypy.ini"}
        or manifest.tool("mypy") is not None
        or manifest.has_section("mypy", "setup.cfg")
    ):
        yield "mypy"
    elif "pyrightconfig.json" in names or manifest.tool("pyright") is not None:
        yield "pyright"


def _checks(
    project: Project,
    directory: str,
    manifest: Manifest,
    runner: Runner | None,
    checkers: tuple[str, ...],
    hints: Hints,
    has_venv: bool,
) -> Iterator[Check]:
    python = "python" if has_venv else "python3"
    if runner:
        yield _test(runner, python)
    workdir = workdir_of(directory)
    commands = {
        "ruff": "ruff check --no-fix .",
        "flake8": "flake8 --extend-exclude .venv,node_modules .",
        "mypy": _mypy(project, directory, manifest, hints),
        "pyright": "pyright",
    }
    for tool in checkers:
        if commands[tool]:
            yield Check(
                name=tool,
                kind="types" if tool in ("mypy", "pyright") else "lint",
                command=commands[tool],
                workdir=workdir,
                tool=tool,
                why=f"{tool} is configured",
                probe=there(tool),
            )


def _test(runner: Runner, python: str) -> Check:
    """The ways to run the tests, best first. Without the set-up the machine's own Python may know enough."""
    ways = [_way(runner, runner.command, name) for name in dict.fromkeys((python, "python3"))]
    if runner.unittest:
        plain = replace(
            runner, name="unittest", module="", why="all tests in Python are written for unittest"
        )
        ways += [_way(plain, runner.unittest, name) for name in dict.fromkeys((python, "python3"))]
    chosen = ways.pop()
    while ways:
        chosen = replace(ways.pop(), otherwise=chosen)
    return chosen


def _way(runner: Runner, command: str, python: str) -> Check:
    return Check(
        name=runner.name,
        kind="test",
        command=re.sub(r"(^|\s)python(?=\s)", rf"\1{python}", command, count=1),
        workdir=runner.workdir,
        tool={"pytest": "pytest", "django": "Django"}.get(runner.module, "Python"),
        why=runner.why,
        probe=f'{python} -c "import {runner.module}"' if runner.module else there(python),
    )


def _mypy(project: Project, directory: str, manifest: Manifest, hints: Hints) -> str:
    """With the paths that its configuration, CI or the layout name; without any it has nothing to check."""
    configured = manifest.tool("mypy") or {}
    sections = [config for config in manifest.configs.values() if config.has_section("mypy")]
    if any(key in configured for key in ("files", "packages", "modules")) or any(
        config.has_option("mypy", key) for config in sections for key in ("files", "packages", "modules")
    ):
        return "mypy"
    for seen in hints.commands:
        found = re.search(r"(?:^|&&|\s)mypy((?:\s+[\w./=-]+)+)\s*$", seen.command)
        words = found[1].split() if found and seen.workdir == workdir_of(directory) else []
        if any(not word.startswith("-") and _exists(project, directory, word) for word in words):
            return shlex.join(["mypy", *words])
    name = re.sub(r"[-_.]+", "_", manifest.name).lower()
    places = [one for one in ("src", name) if one and f"{one}/" in project.names(directory)]
    return f"mypy {shlex.quote(places[0])}" if places else ""


def _exists(project: Project, directory: str, word: str) -> bool:
    path = under(directory, word.rstrip("/"))
    return word == "." or project.has(path) or any(one.startswith(f"{path}/") for one in project.paths)


def _fetch_pyright(
    directory: str, manifest: Manifest, checkers: tuple[str, ...], chosen: Selection
) -> Iterator[InstallCommand]:
    if "pyright" in checkers:
        yield InstallCommand(
            command="test ! -x .venv/bin/pyright || .venv/bin/pyright --version",
            why="pyright brings its program at its first start",
            workdir=workdir_of(directory),
            is_optional=True,
        )
