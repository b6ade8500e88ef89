"""Settings files as flat values with the line of each: TOML, INI, YAML, JSON, and objects in JavaScript.

YAML is composed to nodes and never constructed, and no list of values is longer than a bound: a few anchors
can describe more than memory holds.
"""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import yaml

from journeyman.verification.tampering.syntax import field, grammar_of, named_children, normal, parse, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_YAML = 100_000
_MAX_VALUES = 20_000
_MAX_DEPTH = 30

Key = tuple[str, ...]


@dataclass(frozen=True)
class Value:
    text: str
    """Of a single value; the values of a list, one in a line."""
    items: frozenset[str] | None = None
    """The values of a list of single values."""
    line: int | None = None


SettingValues = Mapping[Key, Value]


def read_values(path: str, content: bytes | None) -> SettingValues | None:
    """Empty where there is no file; None where it cannot be read as what its name says."""
    if content is None:
        return {}
    try:
        source = content.decode()
        return dict(_bounded(_values(path, source)))
    except (ValueError, RecursionError, configparser.Error, yaml.YAMLError):
        return None


def _values(path: str, source: str) -> Iterator[tuple[Key, Value]]:
    name = path.rpartition("/")[2]
    if name.endswith(".toml"):
        return _with_lines(_flat(tomllib.loads(source), ()), source)
    if name.endswith((".yml", ".yaml")):
        return _yaml_values(source)
    if grammar_of(name) in ("js", "ts"):
        return _object_values(source)
    if name.endswith((".json", ".jsonc", "rc")) and source.lstrip()[:1] in ("{", "/"):
        return _object_values(f"({source}\n)")
    if name in (".mocharc", ".eslintrc", ".prettierrc", ".stylelintrc"):
        return _yaml_values(source)
    if re.search(r"\.(?:ini|cfg|properties|conf)$|rc$|^\.flake8$", name):
        return _with_lines(_flat(_sections(source), ()), source)
    raise ValueError("no settings that can be read")


def _sections(source: str) -> dict[str, Any]:
    parser = configparser.ConfigParser(
        interpolation=None, strict=False, default_section="", allow_no_value=True
    )
    parser.read_string(source if source.lstrip().startswith("[") else f"[file]\n{source}")
    return {
        name: {key: value or "" for key, value in section.items()} for name, section in parser.items() if name
    }


def _flat(value: Any, key: Key) -> Iterator[tuple[Key, Value]]:
    if isinstance(value, Mapping) and len(key) < _MAX_DEPTH:
        for name, inner in value.items():
            yield from _flat(inner, (*key, str(name)))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value) and len(key) < _MAX_DEPTH:
        for number, inner in enumerate(value):
            yield from _flat(inner, (*key, str(number)))
    elif isinstance(value, list):
        yield key, _list(map(_scalar, value), None)
    elif isinstance(value, str) and "\n" in value.strip():
        yield key, _list((line.strip() for line in value.splitlines()), None)
    else:
        yield key, Value(_scalar(value))


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(items: Iterator[str], line: int | None) -> Value:
    found = [one for one in items if one]
    return Value("\n".join(found), frozenset(found), line)


def _with_lines(values: Iterator[tuple[Key, Value]], source: str) -> Iterator[tuple[Key, Value]]:
    """The line that the last part of the key begins, behind the line of its table."""
    written = [line.strip().strip("\"'[]") for line in source.splitlines()]
    places: dict[str, list[int]] = {}
    for number, line in enumerate(written, 1):
        places.setdefault(line.partition("=")[0].partition(":")[0].strip(" \"'"), []).append(number)
    tables = {line: number for number, line in enumerate(written, 1)}
    for key, value in values:
        table = tables.get(".".join(key[:-1]), 0)
        place = next((number for number in places.get(key[-1], ()) if number > table), None)
        yield key, Value(value.text, value.items, place)


def _yaml_values(source: str) -> Iterator[tuple[Key, Value]]:
    if len(source) > _MAX_YAML or _flow_depth(source) > _MAX_DEPTH:
        raise ValueError("too long, or too deep, to be read")
    root = yaml.compose(source, Loader=yaml.SafeLoader)
    return _node_values(root, ()) if root is not None else iter(())


def _flow_depth(source: str) -> int:
    """How deep brackets nest: the time that YAML takes grows with the square of it."""
    steps = (1 if sign in "[{" else -1 for sign in re.findall(r"[\[\]{}]", source))
    return max(accumulate(steps), default=0)


def _node_values(node: yaml.Node, key: Key) -> Iterator[tuple[Key, Value]]:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode) and len(key) < _MAX_DEPTH:
        for name, inner in node.value:
            yield from _node_values(inner, (*key, str(name.value)))
    elif isinstance(node, yaml.SequenceNode) and len(key) < _MAX_DEPTH:
        if all(isinstance(one, yaml.ScalarNode) for one in node.value):
            yield key, _list((one.value for one in node.value), line)
        else:
            for number, inner in enumerate(node.value):
                yield from _node_values(inner, (*key, str(number)))
    else:
        yield key, Value(str(node.value) if isinstance(node, yaml.ScalarNode) else "", None, line)


def _object_values(source: str) -> Iterator[tuple[Key, Value]]:
    """The pairs of every object in a file of JavaScript, JSON or JSON with comments."""
    stack: list[tuple[Node, Key]] = [(parse("ts", source.encode()), ())]
    while stack:
        node, key = stack.pop()
        if node.type == "pair" and len(key) < _MAX_DEPTH:
            name = text(field(node, "key")).strip("'\"`")
            value = field(node, "value")
            if value is not None and value.type in ("object", "call_expression", "arrow_function"):
                stack.append((value, (*key, name)))
            elif value is not None:
                yield (*key, name), _object_value(value)
        else:
            stack.extend((one, key) for one in reversed(named_children(node)))


def _object_value(node: "Node") -> Value:
    line = node.start_point.row + 1
    if node.type == "array":
        return _list((_unquoted(one) for one in named_children(node)), line)
    return Value(_unquoted(node), None, line)


def _unquoted(node: "Node") -> str:
    return text(node)[1:-1] if node.type == "string" else normal(node)


def _bounded(values: Iterator[tuple[Key, Value]]) -> Iterator[tuple[Key, Value]]:
    for number, one in enumerate(values):
        if number >= _MAX_VALUES:
            raise ValueError("more values than are read")
        if one[0]:
            yield one
