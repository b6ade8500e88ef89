"""Join what every ecosystem finds in every package of a repository into one environment.

Which checks a change asks for is decided here too: those of the packages it touches, where the repository
has several. The directory `.` in a check's `covers` stands for everything that is in no other package.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from journeyman.environments.detect import dotnet, go, java, native, node, php, python, ruby, rust
from journeyman.environments.detect.ci_hints import read_hints
from journeyman.environments.detect.found import Detected, Hints, there
from journeyman.environments.detect.packages import MAX_PACKAGES, find_packages, is_aside
from journeyman.environments.plan import Check, Environment
from journeyman.environments.project import Project

Ecosystem = Callable[[Project, str, Hints], Detected | None]

ECOSYSTEMS: tuple[Ecosystem, ...] = (
    python.detect,
    node.detect,
    rust.detect,
    go.detect,
    java.detect,
    ruby.detect,
    php.detect,
    dotnet.detect,
    native.detect,
)
_ORDER = {"build": 0, "test": 1, "types": 2, "lint": 3}
_MAKE_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_MAKE = "make"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


def detect_environment(
    project: Project, hints: Hints | None = None, ecosystems: Sequence[Ecosystem] = ECOSYSTEMS
) -> Environment:
    read, unread = (hints, ()) if hints else read_hints(project)
    found, notes = _find(project, read, ecosystems)
    return _joined(project, found, [*notes, *unread])


def checks_for(
    environment: Environment,
    changed_paths: Iterable[str],
    packages: Literal["touched", "all"] = "touched",
) -> tuple[Check, ...]:
    """The checks that a change asks for; all of them where it touches no package or what all depend on."""
    changed = list(changed_paths)
    directories = {one for check in environment.checks for one in check.covers if one != "."}
    homes = [_home(path, directories) for path in changed]
    shared = any(
        home == "." and path in environment.key_files for home, path in zip(homes, changed, strict=True)
    )
    if packages == "all" or shared or not changed:
        return environment.checks
    touched = {parent for home in homes for parent in _with_parents(home)}
    chosen = tuple(check for check in environment.checks if not check.covers or touched & set(check.covers))
    return chosen or environment.checks


def _home(path: str, directories: set[str]) -> str:
    """The innermost package that holds a path."""
    holding = [one for one in directories if path.startswith(f"{one}/")]
    return max(holding, key=len, default=".")


def _with_parents(directory: str) -> Iterator[str]:
    yield directory
    while parent := posixpath.dirname(directory):
        yield (directory := parent)


def _find(
    project: Project, hints: Hints, ecosystems: Sequence[Ecosystem]
) -> tuple[list[Detected], list[str]]:
    """Ask every ecosystem in every package; a workspace answers for its members.

    Below the root a package that nothing checks is a script with requirements, and is not installed.
    """
    directories, found, notes = find_packages(project), [], []
    if len(directories) > MAX_PACKAGES:
        notes.append(
            f"The repository has {len(directories)} packages; only {MAX_PACKAGES} of them are checked."
        )
    for ecosystem in ecosystems:
        members: set[str] = set()
        for directory in directories[:MAX_PACKAGES]:
            if directory in members:
                continue
            detected = ecosystem(project, directory, hints)
            if detected:
                found.append(detected)
                members |= set(detected.members)
    found.sort(key=lambda one: (one.directory.count("/") + bool(one.directory), one.directory))
    checked = any(one.checks for one in found)
    kept = (one for one in found if one.checks or not (one.directory and checked))
    return [one for one in kept if not _only_calls_others(one, found)], notes


def _only_calls_others(one: Detected, found: list[Detected]) -> bool:
    """A make file beside a package that has tests of its own mostly calls those."""
    return one.ecosystem == _MAKE and any(
        other.ecosystem != _MAKE
        and f"{one.directory}/".startswith(f"{other.directory}/" if other.directory else "")
        and any(check.kind == "test" for check in other.checks)
        for other in found
    )


def _joined(project: Project, found: list[Detected], notes: list[str]) -> Environment:
    several = len({one.directory for one in found}) > 1 or any(one.members for one in found)
    env: dict[str, str] = {}
    checks: list[Check] = []
    for one in found:
        differs = any(env.get(name, value) != value for name, value in one.env.items())
        for name, value in one.env.items():
            env.setdefault(name, value)
        for check in one.checks:
            if several and is_aside(_package_of(one, check)):
                continue
            check = _with_environment(check, one) if differs else check
            checks.append(_of_package(check, one) if several else check)
    if not any(check.kind == "test" for check in checks):
        checks.extend(_make(project))
    present = (path for one in found for path in one.key_files if project.has(path))
    return Environment(
        ecosystems=_unique(one.ecosystem for one in found),
        tools=tuple(dict.fromkeys(tool for one in found for tool in one.tools)),
        install=tuple(dict.fromkeys(command for one in found for command in one.install)),
        checks=_named_apart(sorted(checks, key=lambda check: _ORDER[check.kind])),
        env=env,
        path=_unique(sorted((path for one in found for path in one.path), key=_outside_the_workspace)),
        directories=_unique(path for one in found for path in one.directories),
        key_files=_unique(present),
        notes=_unique((*notes, *(note for one in found for note in one.notes))),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _outside_the_workspace(path: str) -> bool:
    return not path.startswith("/workspace")


def _package_of(detected: Detected, check: Check) -> str:
    return check.covers[0] if check.covers else detected.directory


def _of_package(check: Check, detected: Detected) -> Check:
    """The check with its package in its name, and what it covers."""
    package = _package_of(detected, check)
    covers = check.covers or (detected.directory or ".", *detected.members)
    name = f"{package}: {check.name}" if package and package != "." else check.name
    other = _of_package(check.otherwise, detected) if check.otherwise else None
    return replace(check, name=name, covers=covers, otherwise=other)


def _with_environment(check: Check, detected: Detected) -> Check:
    """The check with its package's own variables, where those of another package are the common ones."""
    places = "".join(f"{path}:" for path in detected.path)
    variables = [*(f'{name}="{value}"' for name, value in detected.env.items())]
    variables += [f'PATH="{places}$PATH"'] if places else []
    prefix = f"export {' '.join(variables)}; "
    other = _with_environment(check.otherwise, detected) if check.otherwise else None
    return replace(check, command=prefix + check.command, probe=prefix + check.probe, otherwise=other)


def _named_apart(checks: Sequence[Check]) -> tuple[Check, ...]:
    taken: dict[str, int] = {}
    named = []
    for check in checks:
        taken[check.name] = number = taken.get(check.name, 0) + 1
        named.append(check if number == 1 else replace(check, name=f"{check.name} ({number})"))
    return tuple(named)


def _make(project: Project) -> Iterator[Check]:
    """A Makefile is asked only when nothing else has tests, because it mostly calls the others."""
    texts: Mapping[str, str] = {name: project.text(name) for name in _MAKEFILES if project.has(name)}
    for name, text in texts.items():
        if targets := _MAKE_TARGET.findall(text):
            target = "test" if "test" in targets else "check"
            yield Check(
                name=f"make {target}",
                kind="test",
                command=f"make {target}",
                tool="make",
                why=f"{name} has the target {target}",
                probe=there("make"),
            )
            return
