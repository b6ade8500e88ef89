"""What an ecosystem finds in one directory of a repository, and the hints it is given.

Each ecosystem is a pure function `detect(project, directory, hints) -> Detected | None`; `directory` is `""`
for the root and `packages/api` without a slash at the end elsewhere. Everything in the answer is seen from
the root of the repository: a `workdir` is the package's directory (`.` for the root), not a path below it.
"""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from journeyman.environments.plan import Check, InstallCommand, ToolNeed

WORKSPACE = "/workspace"
"""Where the repository stands in every sandbox."""


@dataclass(frozen=True, kw_only=True)
class SeenCommand:
    """A command that the project's own people run."""

    command: str
    """One line, as a shell would read it: continued lines joined, `${{ … }}` left as it stands."""
    said_in: str
    """The file: `.github/workflows/test.yml`, `Makefile`, `CONTRIBUTING.md`."""
    workdir: str = "."
    """Where it is run, seen from the root of the repository."""


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What CI files, make files and documents say in passing. Never enough to act upon alone."""

    commands: tuple[SeenCommand, ...] = ()
    """CI files first, then make files, then documents; in the order in which they stand there."""
    apt: tuple[str, ...] = ()
    """Packages of the system that CI installs."""
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool (`python3`, `node`, `go`, …) to the versions that CI tests with, as written there."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that CI sets for all its commands, secrets and expressions left out."""


@dataclass(frozen=True, kw_only=True)
class Detected:
    """One package of one ecosystem."""

    ecosystem: str
    """For people: `Python (uv)`, `Node (pnpm)`."""
    directory: str = ""
    tools: tuple[ToolNeed, ...] = ()
    install: tuple[InstallCommand, ...] = ()
    checks: tuple[Check, ...] = ()
    """Names without the package: joining adds it where there are several."""
    env: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    """Directories that the install makes and git may not ignore, from the root: `packages/api/.venv`."""
    key_files: tuple[str, ...] = ()
    """Paths from the root; those that do not exist are dropped when joining."""
    notes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    """Directories of packages that this one installs and checks as well (a workspace): not asked again."""


def workdir_of(directory: str) -> str:
    return directory or "."


def inside(directory: str) -> str:
    """Where a directory of the repository stands in a sandbox."""
    return posixpath.join(WORKSPACE, directory) if directory else WORKSPACE


def under(directory: str, name: str) -> str:
    """A path from the root of the repository."""
    return posixpath.join(directory, name) if directory else name


def there(tool: str) -> str:
    """The probe for a program in PATH."""
    return f"command -v {tool} >/dev/null"
