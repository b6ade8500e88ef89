"""What tox and nox know about a project's tests: their dependencies, their commands, their directory.

Neither is run. tox's environment is the generic one, its conditional lines taken where they hold for any
Python 3; of nox the session with tests in its name, its calls read by `ast`.
"""

import ast
import configparser
import itertools
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from journeyman.environments.detect.found import under
from journeyman.environments.detect.python_manifest import Manifest, dig, listed, read_ini, read_toml, strings
from journeyman.environments.project import Project

_CONDITION = re.compile(r"^([A-Za-z0-9_.,{}!\s-]+?)\s*:\s+(.*)$")
_TESTS = re.compile(r"(?:^|[-_])(?:unit[-_]?)?tests?(?:ing|s)?(?:[-_]|$)|^pytest$|^unit$")
_VERSION = re.compile(r"(?:py)?3?(?:\.?\d+)?")
_PLAIN_FACTORS = {"py", "py3", "python", "python3", "test", "tests", "unit", "default", "all", "cpython"}
_REFERENCE = re.compile(r"\{\[([^\]]+)\](\w+)\}")
_PLACES = re.compile(r"\{(?:toxinidir|tox_root|config_dir)\}/?|\{/\}")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What is to be there for the tests, and what runs them."""

    said_in: str = ""
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Requirement files, from the package's directory."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    workdir: str = ""
    """From the package's directory."""
    env: tuple[tuple[str, str], ...] = ()


def read_test_needs(project: Project, directory: str, manifest: Manifest) -> Needs:
    """Best first: tox, nox, hatch; nothing where none of them is used."""
    return (
        _tox(project, directory, manifest)
        or _nox(project.text(under(directory, "noxfile.py")))
        or _environment_table(project, directory, manifest)
        or Needs()
    )


def with_requirement(needs: Needs, word: str) -> Needs:
    """Sort one argument of `pip install` into its place; the package itself is installed anyway."""
    word = word.strip().strip("\"'")
    if word.startswith(("-r", "--requirement")):
        path = re.sub(r"^(-r|--requirement)[\s=]*", "", word)
        return replace(needs, files=(*needs.files, path.removeprefix("./"))) if path else needs
    editable = re.sub(r"^(?:-e|--editable)[\s=]*", "", word)
    if own := re.fullmatch(r"(?:\.|\{toxinidir\})/?(?:\[([^\]]*)\])?", editable):
        extras = [one.strip() for one in (own[1] or "").split(",") if one.strip()]
        return replace(needs, extras=(*needs.extras, *extras))
    if editable != word or word.startswith(("-", ".", "/")) or "{" in word or not word:
        return needs
    return replace(needs, requirements=(*needs.requirements, word))


def _tox(project: Project, directory: str, manifest: Manifest) -> Needs | None:
    found = _tox_config(project, directory, manifest)
    if found is None:
        return _native_tox(project, directory, manifest)
    said_in, config = found
    section = next((one for one in ("testenv", *_test_sections(config)) if config.has_section(one)), None)
    if section is None:
        return None
    needs = Needs(said_in=said_in)
    for line in _values(config, section, "deps"):
        needs = with_requirement(needs, _PLACES.sub("", line))
    return replace(
        needs,
        extras=(*needs.extras, *_words(_values(config, section, "extras"))),
        groups=tuple(_words(_values(config, section, "dependency_groups", "dependency-groups"))),
        commands=tuple(_joined(_values(config, section, "commands"))),
        workdir=_PLACES.sub("", _first(_values(config, section, "changedir", "change_dir"))).rstrip("/"),
        env=tuple(_environment(_values(config, section, "setenv", "set_env"))),
    )


def _tox_config(
    project: Project, directory: str, manifest: Manifest
) -> tuple[str, configparser.ConfigParser] | None:
    if "tox.ini" in manifest.configs:
        return under(directory, "tox.ini"), manifest.configs["tox.ini"]
    if isinstance(legacy := manifest.tool("tox", "legacy_tox_ini"), str) and (config := read_ini(legacy)):
        return under(directory, "pyproject.toml"), config
    if (config := manifest.configs.get("setup.cfg")) and config.has_section("tox:tox"):
        return under(directory, "setup.cfg"), config
    return None


def _native_tox(project: Project, directory: str, manifest: Manifest) -> Needs | None:
    """tox 4 in TOML: `[env_run_base]`, values as lists."""
    path = under(directory, "tox.toml")
    table, said_in = read_toml(project.text(path)), path
    if not table:
        table, said_in = manifest.tool("tox"), under(directory, "pyproject.toml")
    base = dig(table, "env_run_base")
    tests = next((one for name, one in _table(dig(table, "env")).items() if _TESTS.search(name)), None)
    merged = {**_table(base), **_table(tests)}
    if not merged:
        return None
    needs = Needs(said_in=said_in)
    for word in strings(merged.get("deps")):
        needs = with_requirement(needs, _PLACES.sub("", word))
    commands = merged.get("commands")
    return replace(
        needs,
        extras=(*needs.extras, *strings(merged.get("extras"))),
        groups=tuple(strings(merged.get("dependency_groups"))),
        commands=tuple(
            shlex.join(strings(one))
            for one in (commands if isinstance(commands, list) else [])
            if strings(one)
        ),
        workdir=_PLACES.sub("", str(merged.get("change_dir") or "")),
    )


def _test_sections(config: configparser.ConfigParser) -> Iterator[str]:
    for section in config.sections():
        if section.startswith("testenv:") and _TESTS.search(section.removeprefix("testenv:")):
            yield section


def _values(config: configparser.ConfigParser, section: str, *keys: str) -> list[str]:
    """The lines of a setting that hold for tests on any Python 3, references followed one level."""
    lines: list[str] = []
    for line in listed(
        next((config.get(section, key) for key in keys if config.has_option(section, key)), "")
    ):
        reference = _REFERENCE.fullmatch(line)
        if reference and config.has_option(reference[1], reference[2]):
            lines += listed(config.get(reference[1], reference[2]))
        else:
            lines.append(line)
    return list(_that_hold(lines))


def _that_hold(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        condition = _CONDITION.match(line)
        if condition is None or "://" in line.split()[0]:
            yield line
        elif _holds(condition[1]):
            yield condition[2]


def _holds(condition: str) -> bool:
    """Whether a factor expression is about tests on Python 3 as such, not on one version of it."""
    versions = 0
    for factors in (one.strip().split("-") for one in _expanded(condition)):
        if all(one in _PLAIN_FACTORS for one in factors):
            return True
        if any(one.startswith("!") for one in factors):
            return all(one.startswith("!") or one in _PLAIN_FACTORS for one in factors)
        versions += all(one in _PLAIN_FACTORS or bool(_VERSION.fullmatch(one)) for one in factors)
    return versions > 1


def _expanded(condition: str) -> Iterator[str]:
    """`py{3,312}-test,lint` as `py3-test`, `py312-test`, `lint`."""
    for part in re.split(r",(?![^{]*\})", condition):
        pieces = [
            [one.strip() for one in piece[1:-1].split(",")] if piece.startswith("{") else [piece]
            for piece in re.split(r"(\{[^}]*\})", part)
        ]
        yield from ("".join(choice) for choice in itertools.product(*pieces))


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Commands of more than one line, put together."""
    rest = ""
    for line in lines:
        rest = f"{rest} {line.removesuffix(chr(92)).strip()}".strip()
        if not line.endswith("\\"):
            yield rest
            rest = ""
    if rest:
        yield rest


def _words(lines: Iterable[str]) -> list[str]:
    return [word for line in lines for word in re.split(r"[,\s]+", line) if word and "{" not in word]


def _first(lines: list[str]) -> str:
    return lines[0] if lines else ""


def _environment(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Variables that the tests may need; those for Python itself and for coverage are left out."""
    for line in lines:
        name, sign, value = (part.strip() for part in line.partition("="))
        wanted = sign and re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and "{" not in value
        if wanted and not name.startswith(("PYTHON", "COVERAGE", "PIP_", "VIRTUALENV", "TOX", "COV_")):
            yield name, value


def _nox(text: str) -> Needs | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    sessions = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(re.match(r"(nox\.)?session\b", ast.unparse(one)) for one in node.decorator_list)
    ]
    chosen = next((one for one in sessions if _TESTS.search(one.name)), None)
    if chosen is None:
        return None
    needs = Needs(said_in="noxfile.py")
    for call in (node for node in ast.walk(chosen) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        if name.endswith("dependency_groups"):
            needs = replace(needs, groups=(*needs.groups, *_constants(call.args)))
        elif name.endswith("session.install"):
            needs = _installed(needs, _constants(call.args))
        elif name.endswith("session.run") and len(words := _constants(call.args)) == len(call.args) and words:
            needs = replace(needs, commands=(*needs.commands, shlex.join(words)))
    return needs


def _installed(needs: Needs, words: list[str]) -> Needs:
    place = 0
    while place < len(words):
        word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
        if word in ("-r", "--requirement", "-e", "--editable"):
            needs, place = with_requirement(needs, f"{word} {following}"), place + 2
        elif word == "--group":
            needs, place = replace(needs, groups=(*needs.groups, following)), place + 2
        elif word in ("-c", "--constraint", "--only-binary", "--no-binary", "--find-links"):
            place += 2
        else:
            needs, place = with_requirement(needs, word), place + 1
    return needs


def _constants(arguments: Iterable[ast.expr]) -> list[str]:
    return [one.value for one in arguments if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _environment_table(project: Project, directory: str, manifest: Manifest) -> Needs | None:
    path = under(directory, "hatch.toml")
    environments, said_in = dig(read_toml(project.text(path)), "envs"), path
    if not environments:
        environments, said_in = manifest.tool("hatch", "envs"), under(directory, "pyproject.toml")
    if not isinstance(environments, dict):
        return None
    name = next((one for one in ("hatch-test", "test", "tests", "default") if one in environments), None)
    if name is None:
        return None
    merged = {**_table(environments.get("default")), **_table(environments[name])}
    requirements = [*strings(merged.get("dependencies")), *strings(merged.get("extra-dependencies"))]
    return Needs(
        said_in=said_in,
        requirements=tuple(one for one in requirements if "{" not in one),
        extras=tuple(strings(merged.get("features"))),
        groups=tuple(strings(merged.get("dependency-groups"))),
    )


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
