"""Tests of Python: pytest and unittest."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, Strength, by_condition, by_matcher
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import descendants, field, lines, named_children, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node

_SKIP = re.compile(r"\b(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b")
_SKIP_CALL = re.compile(r"(?:pytest\.(?:skip|xfail|importorskip)|self\.skipTest|unittest\.skip\w*)")
_RETRY = re.compile(r"\b(?:flaky|retry|reruns?|retries)\b")
_ASSERT = re.compile(r"(?:^|\.)_*(?:(?:assert|check|verify|expect|ensure)\w*|fail)$")
_RAISES = re.compile(r"(?:^|\.)(?:raises|warns|deprecated_call|assertRaises\w*|assertWarns\w*)$")
_BROAD = frozenset({"Exception", "BaseException", "AssertionError"})
_STATEMENTS = frozenset({"if_statement", "try_statement", "else_clause", "except_clause", "block", "module"})


def _find(root: "Node") -> Iterator[Case]:
    """A later definition of the same name takes the place of an earlier one."""
    yield from {case.name: case for case in _definitions(root)}.values()


def _definitions(root: "Node") -> Iterator[Case]:
    stack: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        node, path, skipped = stack.pop()
        if node.type in _STATEMENTS:
            skipped = skipped or _skip_of_block(node)
            stack.extend((one, path, skipped) for one in reversed(named_children(node)))
            continue
        marks = [one for one in named_children(node) if one.type == "decorator"]
        definition = field(node, "definition") if node.type == "decorated_definition" else node
        name = text(field(definition, "name"))
        body = field(definition, "body")
        if definition is None or body is None:
            continue
        decorators = " ".join(map(normal, marks))
        own_skip = skipped or (decorators if _SKIP.search(decorators) else "")
        if definition.type == "class_definition" and _is_test_class(definition, name):
            stack.append((body, (*path, name), own_skip))
        elif definition.type == "function_definition" and name.startswith("test"):
            yield Case(
                name=".".join((*path, name)),
                node=node,
                body=body,
                marks=decorators,
                skipped=own_skip,
                is_retried=bool(_RETRY.search(decorators)),
                rows=_rows(marks),
            )


def _skip_of_block(block: "Node") -> str:
    """What a module or class says of all its tests: `pytestmark`, `__test__`, a skip of the whole module."""
    for statement in named_children(block):
        if statement.type != "expression_statement" or not named_children(statement):
            continue
        inner = named_children(statement)[0]
        if inner.type == "assignment":
            target, value = text(field(inner, "left")), normal(field(inner, "right"))
            if (target == "pytestmark" and _SKIP.search(value)) or (
                target == "__test__" and value == "False"
            ):
                return normal(inner)
            inner = field(inner, "right") or inner
        if inner.type == "call" and _SKIP_CALL.fullmatch(text(field(inner, "function"))):
            return normal(inner)
    return ""


def _is_test_class(definition: "Node", name: str) -> bool:
    return name.startswith("Test") or field(definition, "superclasses") is not None


def _rows(decorators: "list[Node]") -> int | None:
    """How often a test is run by its `parametrize` marks."""
    rows = None
    for decorator in decorators:
        call = named_children(decorator)[0] if named_children(decorator) else None
        if call is None or call.type != "call" or not text(field(call, "function")).endswith("parametrize"):
            continue
        values = [
            one for one in named_children(field(call, "arguments"))[1:] if one.type in ("list", "tuple")
        ]
        if not values:
            return None
        rows = (rows or 1) * len(named_children(values[0]))
    return rows


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type == "assert_statement" and named_children(node):
        return by_condition(node, named_children(node)[0])
    if node.type != "call":
        return None
    function = text(field(node, "function"))
    arguments = [one for one in named_children(field(node, "arguments")) if one.type != "keyword_argument"]
    if _RAISES.search(function):
        return _raises(node, arguments)
    if _ASSERT.search(function):
        return by_matcher(node, function.rpartition(".")[2], arguments)
    return None


def _raises(node: "Node", arguments: "list[Node]") -> Assertion:
    expected = normal(arguments[0]) if arguments else ""
    has_more = any(one.type == "keyword_argument" for one in named_children(field(node, "arguments")))
    strength = Strength.LOOSE if expected in _BROAD else Strength.EXACT if has_more else Strength.PARTIAL
    return Assertion(normal(node), ("raises",), "raises", strength, lines(node), text(node))


def _called(node: "Node") -> str:
    return text(field(node, "function")).rpartition(".")[2] if node.type == "call" else ""


def _skips(node: "Node") -> bool:
    return bool(_SKIP_CALL.fullmatch(text(field(node, "function"))))


def _swallows(node: "Node") -> bool:
    if node.type == "with_statement":
        clause = next((one for one in node.children if one.type == "with_clause"), None)
        return bool(re.search(r"\bsuppress\b", normal(clause))) and bool(_broad_names(normal(clause)))
    if node.type != "try_statement":
        return False
    return any(
        _hides(one) for one in named_children(node) if one.type in ("except_clause", "except_group_clause")
    )


def _hides(clause: "Node") -> bool:
    block = next((one for one in clause.children if one.type == "block"), None)
    caught = [normal(one) for one in named_children(clause) if one is not block and one.type != "block"]
    if caught and not any(_broad_names(one) for one in caught):
        return False
    ends = ("raise_statement", "assert_statement")
    return not any(
        one.type in ends or (one.type == "call" and _ASSERT.search(text(field(one, "function"))))
        for one in (descendants(block) if block is not None else ())
    )


def _broad_names(words: str) -> frozenset[str]:
    return _BROAD & set(re.findall(r"\w+", words))


PYTHON = Language(
    find=_find,
    assertion=_assertion,
    skips=_skips,
    called=_called,
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"block"}),
    ends=frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"}),
    swallows=_swallows,
    is_collected=lambda path: bool(re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$", path)),
)
