"""Which directories of a repository are packages of their own.

Directories that only look like it are left out: vendored code, fixtures, examples, templates and documents
hold manifests that nobody installs. Depth and number are limited, because a hostile tree can hold any number.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from journeyman.environments.project import Project

MAX_PACKAGES = 60
_MAX_DEPTH = 4
_MAX_CHOICES = 50
_CHOICE = re.compile(r"\{([^{}]*)\}")
_MANIFEST = re.compile(
    r"(?:pyproject\.toml|setup\.py|requirements\.txt|Pipfile|manage\.py|package\.json|Cargo\.toml|go\.(?:mod|work)"
    r"|pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|Gemfile|[^/]+\.gemspec|composer\.json"
    r"|[^/]+\.(?:csproj|fsproj|sln|slnx)|CMakeLists\.txt|meson\.build|configure\.ac|(?:GNU)?[Mm]akefile)"
)
_ASIDE = re.compile(
    r"""(?xi) (?:^|/) (?: \.[^/]+ | node_modules | _?vendor(?:ed)? | third[-_]?party | extern(?:al)? | deps
    | site-packages | venv | env | dist | build | out | target
    | _*fixtures?_* | _*tests?_* | test[-_]?(?:data|cases|fixtures) | spec | testing | e2e
    | (?:[^/]*[-_])?(?:examples?|templates?|samples?|demos?|benchmarks?) | bench
    | boilerplates? | starters? | playgrounds? | docs? | documentation | website | snippets | tutorials?
    | cookbook | assets | contrib | support | misc | [^/]*\{\{[^/]* ) (?:/|$)
    """
)


def is_aside(directory: str) -> bool:
    """Whether a directory lies in or is something that is kept beside the product."""
    return bool(directory) and bool(_ASIDE.search(directory))


def find_packages(project: Project) -> list[str]:
    """Directories that hold a manifest, the root (`""`) always and first, then by depth and name."""
    found = {
        posixpath.dirname(path)
        for path in project.paths
        if path.count("/") <= _MAX_DEPTH and _MANIFEST.fullmatch(posixpath.basename(path))
    }
    below = [one for one in found if one and not is_aside(one)]
    return ["", *sorted(below, key=lambda one: (one.count("/"), one))]


def match_directories(project: Project, base: str, patterns: Iterable[str], manifest: str) -> list[str]:
    """Directories below `base` with this manifest that the patterns of a workspace name.

    `*` is one part of a path, `**` any number; a pattern that begins with `!` takes away.
    """
    wanted: list[list[str]] = []
    unwanted: list[list[str]] = []
    for pattern in patterns:
        for bare in _choices(pattern.removeprefix("!").removeprefix("./").strip("/")):
            (unwanted if pattern.startswith("!") else wanted).append(bare.split("/"))
    prefix = f"{base}/" if base else ""
    found = []
    for directory in _with_manifest(project, prefix, manifest):
        parts = directory[len(prefix) :].split("/")
        if any(_matches(parts, one) for one in wanted) and not any(_matches(parts, one) for one in unwanted):
            found.append(directory)
    return found


def _with_manifest(project: Project, prefix: str, manifest: str) -> Iterator[str]:
    ending = f"/{manifest}"
    for path in project.paths:
        if path.startswith(prefix) and path.endswith(ending) and "node_modules/" not in path:
            directory = posixpath.dirname(path)
            if len(directory) >= len(prefix):
                yield directory


def _choices(pattern: str) -> list[str]:
    """`{a,b}/c` as `a/c` and `b/c`."""
    found = [pattern]
    for _ in range(_MAX_CHOICES):
        choice = next((one for one in map(_CHOICE.search, found) if one), None)
        if choice is None:
            break
        place = found.index(choice.string)
        before, after = choice.string[: choice.start()], choice.string[choice.end() :]
        found[place : place + 1] = [f"{before}{one}{after}" for one in choice[1].split(",")]
    return [one for one in found if one]


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Part by part, each of them once: no pattern can make it take long."""
    reached = {0}
    for one in pattern:
        if one == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], one)}
    return len(parts) in reached
