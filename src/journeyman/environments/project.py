"""The files of a commit from which its environment is detected.

Read from the mirror's objects: nothing is checked out and nothing of the repository runs, so a file can
mislead detection but not harm it.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from journeyman.git.commit_files import ListedFile, list_files, read_files
from journeyman.git.mirror import Mirror

_MAX_PATHS = 200_000
_MAX_READ = 600
_MAX_BYTES = 256_000
_READ = re.compile(
    r"""(?x) (?:^|/) (?:
      [^/]+\.(?:toml|cfg|ini|csproj|fsproj|vbproj|sln|slnx|gemspec|gradle|kts)
    | [^/]*(?:requirements|constraints)[^/]*\.(?:txt|in) | [^/]*requirements/[^/]+\.(?:txt|in)
    | setup\.py | noxfile\.py | manage\.py | conftest\.py | Pipfile(?:\.lock)?
    | uv\.lock | poetry\.lock | pdm\.lock
    | package(?:-lock)?\.json | pnpm-workspace\.yaml | lerna\.json | \.yarnrc(?:\.yml)? | \.npmrc
    | tsconfig\.json | pnpm-lock\.yaml | yarn\.lock | \.bun-version
    | Cargo\.(?:toml|lock) | rust-toolchain | go\.(?:mod|work) | pom\.xml | Gemfile(?:\.lock)? | Rakefile
    | composer\.(?:json|lock) | phpunit\.xml(?:\.dist)? | global\.json | NuGet\.config | nuget\.config
    | (?:GNU)?[Mm]akefile(?:\.am)? | CMakeLists\.txt | CMakePresets\.json | configure\.ac | meson\.build
    | \.python-version | \.tool-versions | \.nvmrc | \.node-version | \.ruby-version | \.java-version
    | \.sdkmanrc | \.go-version
    | (?i:README|CONTRIBUTING|DEVELOPMENT|HACKING)(?:\.\w+)?
    | (?:scripts?|bin)/(?:tests?|check|lint|build|setup|bootstrap|ci)(?:\.sh)?
    )$
    | ^\.journeyman/environment\.ya?ml$ | ^\.devcontainer(?:/[^/]+)?/devcontainer\.json$
    | ^\.devcontainer\.json$
    | ^\.cursor/environment\.json$ | ^\.github/workflows/[^/]+\.ya?ml$ | ^\.gitlab-ci\.yml$ | ^\.travis\.yml$
    | ^\.circleci/config\.yml$ | ^azure-pipelines\.yml$ | ^\.openinspect/(?:setup|start)\.sh$
    """
)
_VENDORED = re.compile(r"(?:^|/)(?:node_modules|vendor|third_party|site-packages|\.venv|venv)/")
_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?)\.py$")


@dataclass(frozen=True, kw_only=True)
class Project:
    paths: tuple[str, ...] = ()
    """Every file of the commit, sorted; a link is not among them."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """Manifests, lock files, CI files and tests in Python, by path, as far as they are small enough."""
    blobs: Mapping[str, str] = field(default_factory=dict)
    """The object id of every file, by path."""

    def has(self, path: str) -> bool:
        return path in self.blobs

    def text(self, path: str) -> str:
        """The content of a file that was read; empty for any other."""
        return self.contents.get(path, "")

    def names(self, directory: str = "") -> frozenset[str]:
        """What lies in a directory; the name of a directory ends with a slash."""
        return self._listing.get(directory, frozenset())

    @cached_property
    def _listing(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for path in self.paths:
            directory, _, name = path.rpartition("/")
            found.setdefault(directory, set()).add(name)
            while directory:
                above, _, own = directory.rpartition("/")
                if f"{own}/" in found.setdefault(above, set()):
                    break
                found[above].add(f"{own}/")
                directory = above
        return {directory: frozenset(names) for directory, names in found.items()}

    def directories_with(self, name: str) -> Iterator[str]:
        """Directories that hold a file of this name, the root (`""`) first, vendored ones left out."""
        for path in sorted(self.paths, key=lambda path: (path.count("/"), path)):
            if posixpath.basename(path) == name and not _VENDORED.search(path):
                yield posixpath.dirname(path)


async def read_project(mirror: Mirror, commit: str) -> Project:
    listed = [file for file in await list_files(mirror, commit, ".") if not file.is_link][:_MAX_PATHS]
    wanted = sorted((file for file in listed if _is_wanted(file)), key=_importance)[:_MAX_READ]
    read = await read_files(mirror, wanted)
    return Project(
        paths=tuple(sorted(file.path for file in listed)),
        contents={
            file.path: content.decode(errors="replace") for file, content in zip(wanted, read, strict=True)
        },
        blobs={file.path: file.blob for file in listed},
    )


def _is_wanted(file: ListedFile) -> bool:
    if file.size > _MAX_BYTES or _VENDORED.search(file.path):
        return False
    return bool(_READ.search(file.path) or _PYTHON_TEST.search(file.path))


def _importance(file: ListedFile) -> tuple[bool, int, str]:
    """Manifests before tests, what is near the root before what is deep below it."""
    return bool(_PYTHON_TEST.search(file.path)), file.path.count("/"), file.path
