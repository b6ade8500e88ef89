"""Which importable Python packages a repository holds, so that a copy of one elsewhere is noticed.

Only what others would import counts: a top-level `tests` or `docs` is found in many places, and a name of the
standard library is usually just that.
"""

import posixpath
import re
import sys
from collections.abc import Collection

_ROOTS = ("", "src", "lib", "python")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_NOT_IMPORTED = re.compile(
    r"(?:tests?|testing|docs?|examples?|samples?|benchmarks?|scripts?|tools?|setup|conftest|noxfile|tasks|fabfile"
    r"|manage|build|dist|test_.*|.*_test|_.*)$"
)
_DEEPEST = 4
_MOST = 200


def own_packages(paths: Collection[str]) -> dict[str, str]:
    """Names to paths: regular packages, seen from where they are imported, and modules of one file.

    Below a directory without `__init__.py`, as of `google/cloud/x`, it is the first regular package.
    """
    known = frozenset(paths)
    bases = {"", *(posixpath.dirname(path) for path in known if posixpath.basename(path) in _MANIFESTS)}
    roots = {posixpath.join(base, root).rstrip("/") for base in bases for root in _ROOTS}
    found: dict[str, str] = {}
    for path in sorted(known):
        for root in roots:
            if path.endswith(".py") and (not root or path.startswith(f"{root}/")):
                relative = path[len(root) + 1 :] if root else path
                if (place := _first_package(relative, root, known, roots)) is not None:
                    found.setdefault(place[0].replace("/", "."), place[1])
    return dict(list(found.items())[:_MOST])


def _first_package(
    relative: str, root: str, known: Collection[str], roots: Collection[str]
) -> tuple[str, str] | None:
    """The name, with slashes, of the package or module that a file belongs to, and its path."""
    parts = relative.split("/")
    top = parts[0].removesuffix(".py")
    if _NOT_IMPORTED.match(top) or top in sys.stdlib_module_names:
        return None
    for depth in range(1, min(len(parts), _DEEPEST + 1)):
        name = "/".join(parts[:depth])
        place = posixpath.join(root, name)
        if place in roots:
            return None
        if f"{place}/__init__.py" in known:
            return name, place
    return (relative.removesuffix(".py"), posixpath.join(root, relative)) if len(parts) == 1 else None
