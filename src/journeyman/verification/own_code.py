"""What belongs to the repository and what the change added: the difference between a package that is not
installed and a mistake in the code.

A module that is missing is the environment's fault only when it is somebody else's, and when the change did
not begin to import it without declaring it anywhere.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from journeyman.environments.project import Project

_SOURCE_DIRECTORIES = ("", "src", "lib", "python")
_PYTHON_MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_COMPILED = (".pyx", ".pxd", ".c", ".cc", ".cpp", ".rs", ".pyi")
_LOCK = re.compile(
    r"(?i)(?:^|/)(?:[^/]*[.-]lock(?:\.json|\.yaml|\.json5)?|[^/]*\.lock|go\.sum|npm-shrinkwrap\.json)$"
)
_DEPENDENCY_FILE = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|[^/]*requirements[^/]*|Pipfile|package\.json|Cargo\.toml"
    r"|go\.mod|Gemfile|[^/]+\.gemspec|composer\.json|pom\.xml|[^/]+\.gradle(?:\.kts)?)$"
)
_ADDED_IMPORTS = (
    re.compile(r"(?m)^\+\s*(?:from|import)\s+([A-Za-z_][\w.]*)"),
    re.compile(r"""(?m)^\+.*?(?:\bfrom|\brequire\(|\bimport\(|\bimport)\s*["']([^"'\n]+)["']"""),
)
_DISTRIBUTIONS = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "gitpython",
    "jwt": "pyjwt",
    "OpenSSL": "pyopenssl",
    "Crypto": "pycryptodome",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


@dataclass(frozen=True, kw_only=True)
class CodeUnderTest:
    paths: frozenset[str] = frozenset()
    """Every file of the base commit and of the commit that is checked."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """Manifests of the commit that is checked, by path."""
    changed: frozenset[str] = frozenset()
    """Paths that the change touches."""
    imported: frozenset[str] = frozenset()
    """Modules and packages that lines of the change import."""

    def owns_python(self, module: str) -> bool:
        """Whether a module is one of the repository's own, there or not."""
        return module.partition(".")[0] in self._python_modules

    def is_built(self, module: str) -> bool:
        """Whether a module of the repository comes out of a build: a compiled part, or the version file."""
        path = module.replace(".", "/")
        name = posixpath.basename(path)
        if name in ("_version", "version", "_version_info"):
            return True
        return any(
            file.endswith(_COMPILED) and posixpath.splitext(file)[0].endswith(path) for file in self.paths
        )

    def owns_node(self, specifier: str) -> bool:
        """Whether an import of JavaScript means a file of the repository, and not a package of it."""
        if "node_modules/" in specifier:
            return False
        if specifier.startswith((".", "/", "~", "#", "@/")):
            return True
        first = specifier.partition("/")[0]
        return first not in self._node_packages and not first.startswith("@") and first in self._node_roots

    def is_new(self, name: str) -> bool:
        """Whether the change imports something that no manifest declares: its own mistake."""
        wanted = {name, name.partition(".")[0], _node_package(name)}
        return bool(wanted & self.imported) and self.declared_in(name) is None

    def declared_in(self, name: str) -> str | None:
        """The manifest that names a package; the one nearest to the root."""
        found = (path for path in self._manifests if name_of(name) in self._manifests[path])
        return min(found, key=lambda path: (path.count("/"), path), default=None)

    def changes_dependencies(self) -> bool:
        return any(_LOCK.search(path) or _DEPENDENCY_FILE.search(path) for path in self.changed)

    def has_header(self, name: str) -> bool:
        """Whether the repository has a directory, or a file, that a `#include` of C names."""
        first = name.partition("/")[0]
        return any(f"/{first}/" in f"/{path}" or path.endswith(f"/{first}") for path in self.paths)

    @cached_property
    def _manifests(self) -> Mapping[str, frozenset[str]]:
        return {
            path: frozenset(map(_normal, re.findall(r"[A-Za-z0-9@][\w.@/-]*", text)))
            for path, text in self.contents.items()
            if _DEPENDENCY_FILE.search(path)
        }

    @cached_property
    def _python_modules(self) -> frozenset[str]:
        roots = {
            posixpath.join(package, directory).rstrip("/")
            for package in ("", *self._directories_of(_PYTHON_MANIFESTS))
            for directory in _SOURCE_DIRECTORIES
        }
        tests = {posixpath.dirname(path) for path in self.paths if _is_python_test(path)} - roots
        return frozenset(
            module
            for path in self.paths
            if path.endswith(".py")
            for directory, module in _seen_from(path)
            if directory in roots or (directory in tests and self._is_module(directory, module))
        )

    def _is_module(self, directory: str, name: str) -> bool:
        place = posixpath.join(directory, name)
        return f"{place}.py" in self.paths or f"{place}/__init__.py" in self.paths

    @cached_property
    def _node_packages(self) -> frozenset[str]:
        names = (
            re.search(r'"name"\s*:\s*"([^"]+)"', text)
            for path, text in self.contents.items()
            if posixpath.basename(path) == "package.json"
        )
        return frozenset(name[1] for name in names if name)

    @cached_property
    def _node_roots(self) -> frozenset[str]:
        """What an import from the root of the sources (`baseUrl`) may begin with."""
        return frozenset(path.removeprefix("src/").partition("/")[0] for path in self.paths)

    def _directories_of(self, names: Iterable[str]) -> Iterator[str]:
        wanted = frozenset(names)
        for path in self.paths:
            directory, name = posixpath.split(path)
            if name in wanted and directory:
                yield directory


def code_under_test(base: Project, head: Project, *, changed: Iterable[str], diff: str) -> CodeUnderTest:
    """`diff` is the unified diff between the two."""
    imported = {name for pattern in _ADDED_IMPORTS for name in pattern.findall(diff)}
    return CodeUnderTest(
        paths=frozenset(base.paths) | frozenset(head.paths),
        contents=head.contents,
        changed=frozenset(changed),
        imported=frozenset(
            part for one in imported for part in (one, one.partition(".")[0], _node_package(one))
        ),
    )


def name_of(module: str) -> str:
    """The name under which a module of Python, or a package of Node, is installed."""
    if module.startswith("@") or "/" in module:
        return _normal(_node_package(module))
    top = module.partition(".")[0]
    return _normal(_DISTRIBUTIONS.get(top, top))


def _node_package(specifier: str) -> str:
    parts = specifier.split("/")
    return "/".join(parts[:2]) if specifier.startswith("@") else parts[0]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_python_test(path: str) -> bool:
    return bool(re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", path))


def _seen_from(path: str) -> Iterator[tuple[str, str]]:
    """Each directory above a file, with the module that the file is, or is part of, seen from there."""
    parts = path.removesuffix(".py").split("/")
    for depth, name in enumerate(parts):
        yield "/".join(parts[:depth]), name
