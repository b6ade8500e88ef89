"""Which of a package's extras, groups and requirement files its tests need.

What tox, nox or hatch say, and what is called after tests, comes first; what is called after developers
only where that does not bring the test runner, because it often drags documentation tools along.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from journeyman.environments.detect.found import under
from journeyman.environments.detect.python_manifest import Manifest, requirement_name
from journeyman.environments.detect.python_tox import Needs
from journeyman.environments.project import Project

_TEST = r"(?:unit[-_]?)?tests?(?:ing)?(?:[-_](?:deps|dependencies|requirements|suite|all))?|pytest|ci"
_DEV = r"dev(?:el|elop|elopment)?(?:[-_](?:deps|dependencies|requirements))?|all[-_]dev|local"
_TEST_NAME, _DEV_NAME = re.compile(_TEST), re.compile(_DEV)
_CHECKERS = re.compile(
    r"lint(?:ing|ers?)?|style|quality|typing|types?|type[-_]?check(?:ing|s)?|mypy|pyright|ruff"
)
_FILES = r"(?:requirements/(?:{0})|(?:{0})[-_.]?requirements|requirements[-_.](?:{0})|tests?/requirements)"
_TEST_FILE = re.compile(_FILES.format(_TEST))
_DEV_FILE = re.compile(_FILES.format(_DEV))
_BASE_FILE = re.compile(r"requirements|requirements/(?:base|main|common|requirements|default)")
_TOOLS = frozenset({"poetry", "pdm", "pipenv", "uv", "tox", "tox-uv", "nox", "hatch", "pip", "virtualenv"})
_OWN_LINE = re.compile(r"(?m)^\s*(?:-e|--editable)?\s*\.(?:\[[^\]]*\])?\s*(?:#.*)?$")
_INCLUDED = re.compile(r"(?m)^\s*(?:-r|--requirement)[\s=]*(\S+)")


@dataclass(frozen=True, kw_only=True)
class Selection:
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """From the package's directory."""
    requirements: tuple[str, ...] = ()
    checker_groups: tuple[str, ...] = ()
    """Groups that hold a linter or a type checker that the project has configured."""
    checkers: tuple[str, ...] = ()
    """Requirements of those tools that no chosen group holds."""
    installs_itself: bool = False
    """One of the files installs the package."""

    @property
    def is_empty(self) -> bool:
        return not (self.extras or self.groups or self.files or self.requirements)


def choose(
    project: Project,
    directory: str,
    manifest: Manifest,
    needs: Needs,
    *,
    runner: str,
    checkers: Iterable[str],
    is_locked: bool,
) -> Selection:
    """`runner` is the package that runs the tests, empty where Python does; `checkers`: configured tools."""
    files = _requirement_files(project, directory)
    if is_locked:
        # Its own lists come first: those of tox have no exact versions.
        inside = choose(
            project, directory, manifest, Needs(extras=needs.extras, groups=needs.groups),
            runner=runner, checkers=checkers, is_locked=False,
        )  # fmt: skip
        if runner not in inside.requirements or not needs.requirements:
            return replace(inside, files=())
    said = Selection(
        extras=tuple(dict.fromkeys(one for one in needs.extras if one in manifest.extras)),
        groups=tuple(dict.fromkeys(one for one in needs.groups if one in manifest.groups)),
        files=tuple(one for one in needs.files if project.has(under(directory, one))),
        requirements=tuple(one for one in needs.requirements if requirement_name(one) not in _TOOLS),
    )
    chosen = replace(
        said,
        extras=_more(said.extras, manifest.extras, _TEST_NAME),
        groups=said.groups or _more((), manifest.groups, _TEST_NAME),
        files=_with_base(said.files or _more((), files, _TEST_FILE), files, project, directory),
    )
    if not _brings(project, directory, manifest, chosen, runner):
        chosen = _with_developers(project, directory, manifest, chosen, files, runner)
    if runner and not _brings(project, directory, manifest, chosen, runner):
        chosen = replace(chosen, requirements=(*chosen.requirements, runner))
    chosen = _own_extras(manifest, chosen)
    read = "\n".join(_text(project, directory, one) for one in chosen.files)
    return _with_checkers(manifest, replace(chosen, installs_itself=bool(_OWN_LINE.search(read))), checkers)


def _more(already: tuple[str, ...], names: Iterable[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = (name for name in names if pattern.fullmatch(_stem(name).lower()))
    return tuple(dict.fromkeys((*already, *found)))


def _stem(name: str) -> str:
    return name.removesuffix(".txt").removesuffix(".in")


def _with_developers(
    project: Project,
    directory: str,
    manifest: Manifest,
    chosen: Selection,
    files: tuple[str, ...],
    runner: str,
) -> Selection:
    """Add what developers install: all of it, or what brings the test runner where that is known."""
    dev = Selection(
        extras=_more((), manifest.extras, _DEV_NAME),
        groups=_more((), manifest.groups, _DEV_NAME),
        files=_more((), files, _DEV_FILE),
    )
    parts = (
        [replace(Selection(), groups=(one,)) for one in dev.groups]
        + [replace(Selection(), extras=(one,)) for one in dev.extras]
        + [replace(Selection(), files=(one,)) for one in dev.files]
    )
    bringing = [part for part in parts if runner and _brings(project, directory, manifest, part, runner)]
    for part in bringing[:1] or (parts if chosen.is_empty or not runner else []):
        chosen = replace(
            chosen,
            extras=tuple(dict.fromkeys((*chosen.extras, *part.extras))),
            groups=tuple(dict.fromkeys((*chosen.groups, *part.groups))),
            files=tuple(dict.fromkeys((*chosen.files, *part.files))),
        )
    return chosen


def _brings(project: Project, directory: str, manifest: Manifest, chosen: Selection, runner: str) -> bool:
    if not runner:
        return not chosen.is_empty
    requirements = [
        *chosen.requirements,
        *(one for name in chosen.extras for one in manifest.extras.get(name, ())),
        *(one for name in chosen.groups for one in manifest.groups.get(name, ())),
        *manifest.dependencies,
    ]
    lines = (line for name in chosen.files for line in _text(project, directory, name).splitlines())
    names = {requirement_name(one) for one in (*requirements, *lines)}
    return runner in names or any(name.startswith(f"{runner}-") for name in names)


def _text(project: Project, directory: str, name: str, depth: int = 3) -> str:
    """A requirement file with those that it includes."""
    text = project.text(under(directory, name))
    if depth:
        for included in _INCLUDED.findall(text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
            text += "\n" + _text(project, directory, path, depth - 1)
    return text


def _requirement_files(project: Project, directory: str) -> tuple[str, ...]:
    """Requirement files of the package; the source (`.in`) of a compiled one is left out."""
    here = [name for name in project.names(directory) if "requirements" in name and not name.endswith("/")]
    for below in ("requirements", "tests", "test"):
        names = project.names(under(directory, below))
        here += [f"{below}/{name}" for name in names if below == "requirements" or "requirements" in name]
    texts = sorted(name for name in here if name.endswith(".txt"))
    return (*texts, *sorted(one for one in here if one.endswith(".in") and f"{_stem(one)}.txt" not in texts))


def _with_base(
    chosen: tuple[str, ...], files: tuple[str, ...], project: Project, directory: str
) -> tuple[str, ...]:
    """The plain requirements too, unless a chosen file includes them."""
    base = [name for name in files if _BASE_FILE.fullmatch(_stem(name))][:1]
    included = {
        posixpath.normpath(posixpath.join(posixpath.dirname(name), one))
        for name in chosen
        for one in _INCLUDED.findall(project.text(under(directory, name)))
    }
    return (*(one for one in base if one not in included and one not in chosen), *chosen)


def _own_extras(manifest: Manifest, chosen: Selection) -> Selection:
    """`package[extra]` in the package's own groups is the package being developed, not the index's."""
    own = requirement_name(manifest.name)
    if not own:
        return chosen
    grouped = [one for name in chosen.groups for one in manifest.groups.get(name, ())]
    extras = list(chosen.extras)
    for one in (*chosen.requirements, *grouped):
        if requirement_name(one) == own and (asked := re.search(r"\[([^\]]*)\]", one)):
            extras += [extra.strip() for extra in asked[1].split(",")]
    kept = tuple(one for one in chosen.requirements if requirement_name(one) != own)
    return replace(chosen, extras=tuple(dict.fromkeys(extras)), requirements=kept)


def _with_checkers(manifest: Manifest, chosen: Selection, checkers: Iterable[str]) -> Selection:
    """Where each configured checker comes from, if the project says; a version of our own is not brought."""
    groups: list[str] = []
    requirements: list[str] = []
    for checker in checkers:
        if _holds(manifest.groups, chosen.groups, checker) or _holds(manifest.extras, chosen.extras, checker):
            continue
        group = next(
            (one for one in _checking(manifest.own_groups) if _has(manifest.own_groups[one], checker)), ""
        )
        if group:
            groups.append(group)
            continue
        extra = next((one for one in _checking(manifest.extras) if _has(manifest.extras[one], checker)), "")
        requirements += [one for one in manifest.extras.get(extra, ()) if requirement_name(one) == checker]
    return replace(chosen, checker_groups=tuple(dict.fromkeys(groups)), checkers=tuple(requirements))


def _checking(names: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Names after checkers before those after developers."""
    dev = [name for name in names if _DEV_NAME.fullmatch(name.lower())]
    return [*(name for name in names if _CHECKERS.fullmatch(name.lower())), *dev]


def _holds(table: Mapping[str, tuple[str, ...]], chosen: Iterable[str], tool: str) -> bool:
    return any(_has(table.get(name, ()), tool) for name in chosen)


def _has(requirements: Iterable[str], tool: str) -> bool:
    return any(requirement_name(one) == tool for one in requirements)
