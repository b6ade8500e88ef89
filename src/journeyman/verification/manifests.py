"""Manifests that hold two things: what a project needs, and how it is judged.

Dependencies and metadata are the head's, or its tests could not be run; settings of runners and linters are
the base's. Where both judge alike, the head's file is kept byte for byte.
"""

import configparser
import io
import json
import tomllib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import tomli_w

_MAX_BYTES = 500_000
Key = tuple[str, ...]
Table = dict[str, Any]

_PACKAGING_TOOLS = frozenset(
    {"poetry", "uv", "pdm", "hatch", "rye", "setuptools", "setuptools_scm", "flit", "maturin", "scikit-build"}
    | {"meson-python", "cibuildwheel", "towncrier", "bumpversion", "commitizen", "semantic_release"}
)
"""Tables below `[tool]` that say how the project is built and released; every other one may judge."""
_TASKS = frozenset({("tool", "hatch", "envs"), ("tool", "pdm", "scripts"), ("tool", "rye", "scripts")})
"""Commands that these tools keep beside their packaging."""
_PACKAGE_KEYS = frozenset(
    {"jest", "mocha", "ava", "nyc", "c8", "tap", "vitest", "xo", "standard", "eslintConfig", "eslintIgnore"}
    | {"prettier", "stylelint", "lint-staged", "husky", "simple-git-hooks", "wireit", "nx"}
)
_LIFECYCLE = frozenset(
    {"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"}
)
_PACKAGING_SECTIONS = ("metadata", "options", "bdist", "sdist", "egg_info", "build", "install", "develop")
_CARGO_TABLES = frozenset({"lints", "profile", "test", "bench"})
_CARGO_KEYS = frozenset({("lib", "test"), ("lib", "doctest"), ("lib", "harness"), ("workspace", "lints")})


def judges(name: str, key: Key, *, scripts: Collection[str] = ()) -> bool:
    """Whether a value of a manifest says how the project is judged. `scripts`: those that the base's
    package.json has; another one judges nothing, unless it runs before or after one of them."""
    match name:
        case "pyproject.toml":
            is_tool = len(key) > 1 and key[0] == "tool" and key[1] not in _PACKAGING_TOOLS
            return is_tool or key[:3] in _TASKS or key[:3] == ("project", "entry-points", "pytest11")
        case "Cargo.toml":
            return key[0] in _CARGO_TABLES or key[:2] in _CARGO_KEYS
        case "setup.cfg":
            is_packaging = key[0].startswith(_PACKAGING_SECTIONS)
            return not is_packaging or key == ("options.entry_points", "pytest11")
        case "package.json" if key[0] == "scripts" and len(key) > 1:
            return _is_run_by(key[1], scripts)
        case _:
            return key[0] in _PACKAGE_KEYS


def _is_run_by(script: str, scripts: Collection[str]) -> bool:
    if not scripts:
        return False
    name = script.removeprefix("pre").removeprefix("post")
    return script in scripts or name in scripts or script in _LIFECYCLE


def with_judging_parts_of(name: str, base: bytes | None, head: bytes) -> bytes | None:
    """The head's manifest with what judges taken from the base. The base's whole file where one of them
    cannot be read."""
    if len(head) > _MAX_BYTES:
        return base
    read, write = MANIFESTS[name]
    try:
        old, new = read(base.decode() if base is not None else ""), read(head.decode())
        scripts = old.get("scripts")
        names = tuple(scripts) if isinstance(scripts, dict) else ()
        merged = _merged(old, new, (), lambda key: judges(name, key, scripts=names))
        return head if merged == new else write(merged).encode()
    except (ValueError, RecursionError, configparser.Error):
        return base


def _merged(base: Table, head: Table, key: Key, is_judging: Callable[[Key], bool]) -> Table:
    merged = {}
    for name in {**head, **base}:
        inner, old, new = (*key, name), base.get(name), head.get(name)
        chosen = new
        if is_judging(inner):
            chosen = old
        elif isinstance(old, dict) or isinstance(new, dict):
            above, below = (one if isinstance(one, dict) else {} for one in (old, new))
            emptied = None if below else new
            chosen = _merged(above, below, inner, is_judging) or emptied
        if chosen is not None:
            merged[name] = chosen
    return merged


def _read_json(text: str) -> Table:
    value = json.loads(text or "{}")
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _write_json(value: Table) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _parser() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, default_section="", strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    return parser


def _read_sections(text: str) -> Table:
    parser = _parser()
    parser.read_string(text)
    return {name: dict(section) for name, section in parser.items() if name}


def _write_sections(value: Table) -> str:
    parser = _parser()
    parser.read_dict(value)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


MANIFESTS: Mapping[str, tuple[Callable[[str], Table], Callable[[Table], str]]] = {
    "pyproject.toml": (tomllib.loads, tomli_w.dumps),
    "Cargo.toml": (tomllib.loads, tomli_w.dumps),
    "package.json": (_read_json, _write_json),
    "setup.cfg": (_read_sections, _write_sections),
}
"""How each is read and written."""
