"""What a Python package says about itself, in whichever of the many files it says it.

`setup.py` is read by `ast` and never run; a file that cannot be read counts as one that says nothing, and
the tools that come to it later say best what is wrong with it.
"""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from journeyman.environments.detect.found import under
from journeyman.environments.project import Project

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VERSION_FROM_GIT = re.compile(
    r"setuptools[_-]scm|hatch-vcs|versioningit|versioneer|poetry-dynamic-versioning"
)
_CONFIGS = ("setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".mypy.ini")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    name: str = ""
    is_installable: bool = False
    """Whether `pip install -e .` can be expected to work."""
    needs_installing: bool = False
    """Beside its dependencies it has commands, compiled parts or a version that only an install gives it."""
    requires_python: str = ""
    python_said_in: str = ""
    dependencies: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """PEP 735 groups and those of poetry, pdm and uv's own list: requirements, other groups unfolded."""
    own_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same without what they include."""
    default_groups: tuple[str, ...] = ()
    has_version_from_git: bool = False
    tools: Mapping[str, Any] = field(default_factory=dict)
    """The `[tool.…]` tables of pyproject.toml."""
    configs: Mapping[str, configparser.ConfigParser] = field(default_factory=dict)
    """The files in INI form, by name."""

    def tool(self, *keys: str) -> Any:
        return dig(self.tools, *keys)

    def has_section(self, section: str, *files: str) -> bool:
        return any(self.configs[name].has_section(section) for name in files if name in self.configs)


def read_manifest(project: Project, directory: str) -> Manifest:
    pyproject = read_toml(project.text(under(directory, "pyproject.toml")))
    configs = {
        name: parsed for name in _CONFIGS if (parsed := read_ini(project.text(under(directory, name))))
    }
    script = setup_arguments(project.text(under(directory, "setup.py")))
    table, poetry, tools = dig(pyproject, "project"), dig(pyproject, "tool", "poetry"), pyproject.get("tool")
    table = table if isinstance(table, dict) else {}
    poetry = poetry if isinstance(poetry, dict) else {}
    own = {**_raw_groups(pyproject), **_poetry_groups(poetry)}
    requires, said_in = _requires_python(project, directory, table, poetry, configs, script)
    names = project.names(directory)
    return Manifest(
        name=str(table.get("name") or poetry.get("name") or script.get("name") or _cfg(configs, "name")),
        is_installable=_is_installable(names, table, poetry, pyproject),
        needs_installing=_needs_installing(table, poetry, script, configs, pyproject),
        requires_python=requires,
        python_said_in=said_in,
        dependencies=tuple(_dependencies(table, poetry, script, configs)),
        extras=_extras(table, poetry, script, configs),
        groups={name: tuple(_unfold(own, name, ())) for name in own},
        own_groups={name: tuple(one for one in own[name] if isinstance(one, str)) for name in own},
        default_groups=tuple(strings(dig(pyproject, "tool", "uv", "default-groups"))) or ("dev",),
        has_version_from_git=bool(
            _VERSION_FROM_GIT.search(" ".join(strings(dig(pyproject, "build-system", "requires"))))
            or "use_scm_version" in script
            or dig(pyproject, "tool", "pdm", "version", "source") == "scm"
        ),
        tools=tools if isinstance(tools, dict) else {},
        configs=configs,
    )


def requirement_name(requirement: str) -> str:
    """The name of the distribution, as the index compares it; empty for an option or an address."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def read_ini(text: str) -> configparser.ConfigParser | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return parser if parser.sections() else None


def dig(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


def listed(value: str | None) -> list[str]:
    """The lines of a value in an INI file, comments left out."""
    lines = (re.sub(r"(?:^|\s)[#;].*$", "", line).strip() for line in (value or "").splitlines())
    return [line for line in lines if line]


def setup_arguments(text: str) -> dict[str, Any]:
    """The arguments of `setup(…)` that can be told without running it; others are None."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    known: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, _literal(node.value, known))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "setup":
            return {one.arg: _literal(one.value, known) for one in node.keywords if one.arg}
    return {}


def _literal(node: ast.expr, known: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Dict):
        keys = (key.value if isinstance(key, ast.Constant) else None for key in node.keys)
        return {key: _literal(value, known) for key, value in zip(keys, node.values, strict=True) if key}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left, known), _literal(node.right, known)
        return [*left, *right] if isinstance(left, list) and isinstance(right, list) else left or right
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _raw_groups(pyproject: Mapping[str, Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for table in (dig(pyproject, "tool", "pdm", "dev-dependencies"), pyproject.get("dependency-groups")):
        if isinstance(table, dict):
            found |= {name: value for name, value in table.items() if isinstance(value, list)}
    if uv := strings(dig(pyproject, "tool", "uv", "dev-dependencies")):
        found["dev"] = [*found.get("dev", []), *uv]
    return found


def _poetry_groups(poetry: Mapping[str, Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    if isinstance(old := poetry.get("dev-dependencies"), dict):
        found["dev"] = list(old)
    groups = poetry.get("group")
    for name, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(needed := dig(group, "dependencies"), dict):
            found[name] = [*found.get(name, []), *needed]
    return found


def _unfold(groups: Mapping[str, list[Any]], name: str, above: tuple[str, ...]) -> Iterator[str]:
    for one in groups.get(name, []):
        included = dig(one, "include-group")
        if isinstance(one, str):
            yield one
        elif isinstance(included, str) and included not in (*above, name):
            yield from _unfold(groups, included, (*above, name))


def _dependencies(
    table: Mapping[str, Any],
    poetry: Mapping[str, Any],
    script: Mapping[str, Any],
    configs: Mapping[str, configparser.ConfigParser],
) -> Iterable[str]:
    yield from strings(table.get("dependencies"))
    if isinstance(needed := poetry.get("dependencies"), dict):
        yield from (name for name in needed if name != "python")
    yield from strings(script.get("install_requires"))
    if "install_requires" in script and script["install_requires"] is None:
        yield "what setup.py says"
    yield from listed(_cfg(configs, "install_requires", "options"))


def _extras(
    table: Mapping[str, Any],
    poetry: Mapping[str, Any],
    script: Mapping[str, Any],
    configs: Mapping[str, configparser.ConfigParser],
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for said in (script.get("extras_require"), poetry.get("extras"), table.get("optional-dependencies")):
        if isinstance(said, dict):
            found |= {name: tuple(strings(value)) for name, value in said.items() if isinstance(name, str)}
    config, section = configs.get("setup.cfg"), "options.extras_require"
    if config and config.has_section(section):
        found |= {name: tuple(listed(value)) for name, value in config.items(section)}
    return found


def _requires_python(
    project: Project,
    directory: str,
    table: Mapping[str, Any],
    poetry: Mapping[str, Any],
    configs: Mapping[str, configparser.ConfigParser],
    script: Mapping[str, Any],
) -> tuple[str, str]:
    pyproject, poetry_says = under(directory, "pyproject.toml"), dig(poetry, "dependencies", "python")
    ways = (
        (table.get("requires-python"), pyproject),
        (poetry_says, pyproject),
        (_cfg(configs, "python_requires", "options"), under(directory, "setup.cfg")),
        (script.get("python_requires"), under(directory, "setup.py")),
    )
    return next(((said, where) for said, where in ways if isinstance(said, str) and said), ("", ""))


def _is_installable(
    names: frozenset[str], table: Mapping[str, Any], poetry: Mapping[str, Any], pyproject: Mapping[str, Any]
) -> bool:
    if "setup.py" in names:
        return True
    if poetry:
        return poetry.get("package-mode") is not False
    if "build-system" in pyproject:
        return bool(table) or "setup.cfg" in names
    if not table or dig(pyproject, "tool", "uv", "package") is False:
        return False
    # Without a word about what it holds, setuptools refuses a directory with several packages in it.
    wanted = re.sub(r"[-_.]+", "_", str(table.get("name", ""))).lower()
    return "src/" in names or f"{wanted}/" in names or f"{wanted}.py" in names


def _needs_installing(
    table: Mapping[str, Any],
    poetry: Mapping[str, Any],
    script: Mapping[str, Any],
    configs: Mapping[str, configparser.ConfigParser],
    pyproject: Mapping[str, Any],
) -> bool:
    return bool(
        any(table.get(key) for key in ("scripts", "gui-scripts", "entry-points"))
        or any(poetry.get(key) for key in ("scripts", "plugins", "build"))
        or "version" in strings(table.get("dynamic"))
        or script.keys() & {"entry_points", "ext_modules", "scripts", "use_scm_version", "cffi_modules"}
        or ((config := configs.get("setup.cfg")) and config.has_section("options.entry_points"))
        or dig(pyproject, "build-system", "build-backend")
        in ("maturin", "scikit_build_core.build", "mesonpy")
    )


def _cfg(configs: Mapping[str, configparser.ConfigParser], key: str, section: str = "metadata") -> str:
    config = configs.get("setup.cfg")
    return (config.get(section, key, fallback="") or "") if config else ""
