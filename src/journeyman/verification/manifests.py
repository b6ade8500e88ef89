"""Manifests that hold two things: what a project needs, and how it is judged.

Dependencies and metadata are the head's, or its tests could not be run; settings of runners and linters are
the base's. Where both judge alike, the head's file is kept byte for byte.
"""

import configparser
import io
import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import tomli_w

Values = dict[str, Any]

_PACKAGING_TOOLS = frozenset(
    {"poetry", "uv", "pdm", "hatch", "rye", "setuptools", "setuptools_scm", "flit", "maturin", "scikit-build"}
    | {"meson-python", "cibuildwheel", "towncrier", "bumpversion", "commitizen", "semantic_release"}
)
"""Tables below `[tool]` that say how the project is built and released; every other one may judge."""
_TASKS = {"hatch": "envs", "pdm": "scripts", "rye": "scripts"}
"""Commands that these tools keep beside their packaging."""
_JUDGING_KEYS = frozenset(
    {"jest", "mocha", "ava", "nyc", "c8", "tap", "vitest", "xo", "standard", "eslintConfig", "eslintIgnore"}
    | {"prettier", "stylelint", "lint-staged", "husky", "simple-git-hooks", "wireit", "nx"}
)
_LIFECYCLE = frozenset(
    {"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"}
)
_PACKAGING_SECTIONS = ("metadata", "options", "bdist", "sdist", "egg_info", "build", "install", "develop")


def with_judging_parts_of(name: str, base: bytes | None, head: bytes) -> bytes | None:
    """The head's manifest with what judges taken from the base. The base's whole file where one of them
    cannot be read."""
    read, merge, write = MANIFESTS[name]
    try:
        old, new = read(base.decode() if base is not None else ""), read(head.decode())
        merged = merge(old, new)
    except (ValueError, RecursionError, configparser.Error):
        return base
    return head if merged == new else write(merged).encode()


def _merged_pyproject(base: Values, head: Values) -> Values:
    old, new = _table(base, "tool"), _table(head, "tool")
    tools = {name: table for name, table in new.items() if name in _PACKAGING_TOOLS}
    tools |= {name: table for name, table in old.items() if name not in _PACKAGING_TOOLS}
    for name, tasks in _TASKS.items():
        if name in tools:
            tools[name] = _with_key_of(_table(old, name), _table(tools, name), tasks)
    merged = {**head, "tool": tools} if tools else {key: head[key] for key in head if key != "tool"}
    if "project" in merged:
        project = _table(head, "project")
        old_points, points = _table(_table(base, "project"), "entry-points"), _table(project, "entry-points")
        merged["project"] = _with_key_of(
            {"entry-points": _with_key_of(old_points, points, "pytest11")}, project, "entry-points"
        )
    return merged


def _merged_package(base: Values, head: Values) -> Values:
    merged = head
    for key in _JUDGING_KEYS & (base.keys() | head.keys()):
        merged = _with_key_of(base, merged, key)
    scripts = _merged_scripts(_table(base, "scripts"), _table(head, "scripts"))
    return _with_key_of({"scripts": scripts}, merged, "scripts")


def _merged_scripts(base: Mapping[str, str], head: Mapping[str, str]) -> dict[str, str]:
    """The base's scripts, and those of the head that no script of the base runs by itself."""
    hooks = {f"{when}{name}" for name in base for when in ("pre", "post")} | _LIFECYCLE
    return {**{name: text for name, text in head.items() if not base or name not in hooks}, **base}


def _merged_cargo(base: Values, head: Values) -> Values:
    merged = head
    for key in ("lints", "profile", "test", "bench"):
        merged = _with_key_of(base, merged, key)
    for key, inner in (("lib", "test"), ("lib", "doctest"), ("lib", "harness"), ("workspace", "lints")):
        if key in merged:
            merged = {**merged, key: _with_key_of(_table(base, key), _table(merged, key), inner)}
    return merged


def _merged_sections(base: Values, head: Values) -> Values:
    merged = {name: section for name, section in head.items() if name.startswith(_PACKAGING_SECTIONS)}
    merged |= {name: section for name, section in base.items() if not name.startswith(_PACKAGING_SECTIONS)}
    entry_points = "options.entry_points"
    if entry_points in merged:
        merged[entry_points] = _with_key_of(_table(base, entry_points), merged[entry_points], "pytest11")
    return merged


def _with_key_of(base: Mapping[str, Any], head: Mapping[str, Any], key: str) -> Values:
    """The head with one key as the base has it, or without it; an empty table is as good as none."""
    kept = {name: value for name, value in head.items() if name != key or base.get(key)}
    return {**kept, key: base[key]} if base.get(key) else kept


def _table(values: Mapping[str, Any], key: str) -> Values:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def _read_json(text: str) -> Values:
    value = json.loads(text or "{}")
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _write_json(value: Values) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _read_sections(text: str) -> Values:
    parser = configparser.ConfigParser(interpolation=None, default_section="", strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return {name: dict(section) for name, section in parser.items() if name}


def _write_sections(value: Values) -> str:
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_dict(value)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


_Manifest = tuple[Callable[[str], Values], Callable[[Values, Values], Values], Callable[[Values], str]]
MANIFESTS: Mapping[str, _Manifest] = {
    "pyproject.toml": (tomllib.loads, _merged_pyproject, tomli_w.dumps),
    "Cargo.toml": (tomllib.loads, _merged_cargo, tomli_w.dumps),
    "package.json": (_read_json, _merged_package, _write_json),
    "setup.cfg": (_read_sections, _merged_sections, _write_sections),
}
"""How each is read, merged and written."""
