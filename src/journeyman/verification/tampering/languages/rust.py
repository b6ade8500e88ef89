"""Tests of Rust: functions with a test attribute. The arguments of a macro are words, not expressions."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, by_comparison
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import COMMENTS, field, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"# \[ (?:\w+ :: )*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|proptest)\b")
_SKIP = re.compile(r"# \[ (?:ignore|should_panic|cfg (?!\( test \))|cfg_attr \( .*\bignore\b)")
_ROW = re.compile(r"# \[ (?:case|test_case)\b")
_ASSERT = re.compile(r"(?:\w+::)*(?:debug_)?(?:prop_)?(?:assert\w*|panic|unreachable)")
_OPERATORS = ("==", "!=", "<=", ">=", "<", ">", "&&", "||")


def _find(root: "Node") -> Iterator[Case]:
    stack: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        node, path, skipped = stack.pop()
        attributes: list[str] = []
        for one in node.named_children:
            if one.type in COMMENTS:
                continue
            if one.type == "attribute_item":
                attributes.append(normal(one))
                continue
            marks = " ".join(attributes)
            own_skip = skipped or next((mark for mark in attributes if _SKIP.match(mark)), "")
            name, body = text(field(one, "name")), field(one, "body")
            if one.type == "mod_item" and body is not None:
                stack.append((body, (*path, name), own_skip))
            elif one.type == "function_item" and _TEST.search(marks):
                rows = sum(1 for mark in attributes if _ROW.match(mark))
                yield Case(
                    name="::".join((*path, name)),
                    node=one,
                    body=body,
                    marks=marks,
                    skipped=own_skip,
                    rows=rows or None,
                )
            attributes = []


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type != "macro_invocation":
        return None
    macro = text(field(node, "macro"))
    if not _ASSERT.fullmatch(macro):
        return None
    tree = next((one for one in node.children if one.type == "token_tree"), None)
    arguments = _arguments(tree) if tree is not None else []
    name = macro.rpartition("::")[2]
    if re.search(r"_(?:eq|ne)$", name):
        operator = "==" if name.endswith("eq") else "!="
        return by_comparison(node, tuple(" ".join(one) for one in arguments[:2]), operator, matcher=name)
    operands, operator = _compared(arguments[0] if arguments else [])
    return by_comparison(node, operands, operator, matcher=name)


def _arguments(tree: "Node") -> list[list[str]]:
    """The words of a macro's arguments."""
    found: list[list[str]] = [[]]
    for one in tree.children[1:-1]:
        if one.type == ",":
            found.append([])
        else:
            found[-1].append(normal(one))
    return [one for one in found if one]


def _compared(words: list[str]) -> tuple[tuple[str, ...], str]:
    place = next((number for number, word in enumerate(words) if word in _OPERATORS), None)
    if place is None:
        return (" ".join(words),), ""
    return (" ".join(words[:place]), " ".join(words[place + 1 :])), words[place]


def _called(node: "Node") -> str:
    if node.type == "call_expression":
        return re.split(r"::|\.", text(field(node, "function")))[-1]
    return text(field(node, "macro")) if node.type == "macro_invocation" else ""


RUST = Language(
    find=_find,
    assertion=_assertion,
    skips=lambda _: False,
    called=_called,
    functions=frozenset({"function_item", "macro_definition"}),
    blocks=frozenset({"block"}),
    ends=frozenset({"return_expression", "break_expression", "continue_expression"}),
    swallows=lambda node: node.type == "call_expression" and "catch_unwind" in text(field(node, "function")),
    is_collected=lambda path: path.endswith(".rs"),
)
