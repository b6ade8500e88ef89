"""Syntax trees of source files, by tree-sitter.

Grammars are imported when a file needs them: together they cost more than starting `jm`. Trees are walked
with a stack, because a hostile source nests deeper than Python may call. A parser cannot be interrupted, and
a few kilobytes can keep it busy for minutes: `apart.py` runs all of this in a process that can be killed.
"""

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_BYTES = 1_000_000
_GRAMMARS = {
    "py": ("tree_sitter_python", "language"),
    "js": ("tree_sitter_javascript", "language"),
    "ts": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rs": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "rb": ("tree_sitter_ruby", "language"),
}
_SAME_GRAMMAR = {"jsx": "js", "mjs": "js", "cjs": "js", "mts": "ts", "cts": "ts", "rake": "rb", "pyi": "py"}
COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_LITERALS = frozenset(
    {"true", "false", "none", "null", "nil", "undefined", "integer", "float", "number", "string", "regex"}
)


def grammar_of(path: str) -> str | None:
    """The name of the grammar for a file; None where there is none."""
    suffix = path.rpartition(".")[2].lower()
    suffix = _SAME_GRAMMAR.get(suffix, suffix)
    return suffix if suffix in _GRAMMARS else None


def parse(grammar: str, source: bytes) -> "Node":
    """The root of the tree. Source with mistakes has a tree too."""
    return _parser(grammar).parse(source).root_node


def descendants(node: "Node", enters: Callable[["Node"], bool] = lambda _: True) -> "Iterator[Node]":
    """The node and what is below it, in the order of the source; not below nodes that are not entered."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        if node.child_count and enters(node):
            stack.extend(reversed(node.children))


def text(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def tokens(node: "Node") -> list[str]:
    """The words and signs of a node, without comments and layout."""
    return [
        text(one)
        for one in descendants(node, lambda inner: inner.type not in COMMENTS and inner.type != "string")
        if (not one.child_count or one.type == "string") and one.type not in COMMENTS
    ]


def normal(node: "Node | None") -> str:
    """The text of a node as it would be whatever its layout."""
    return " ".join(tokens(node)) if node is not None else ""


def lines(node: "Node") -> tuple[int, int]:
    return node.start_point.row + 1, node.end_point.row + 1


def field(node: "Node | None", name: str) -> "Node | None":
    return node.child_by_field_name(name) if node is not None else None


def named_children(node: "Node | None") -> "list[Node]":
    """The named children that are no comments."""
    return [one for one in node.named_children if one.type not in COMMENTS] if node is not None else []


def is_literal(node: "Node") -> bool:
    return node.type in _LITERALS or node.type.endswith("_literal")


@cache
def _parser(grammar: str) -> "Parser":
    from tree_sitter import Language, Parser

    module, function = _GRAMMARS[grammar]
    return Parser(Language(getattr(importlib.import_module(module), function)()))
