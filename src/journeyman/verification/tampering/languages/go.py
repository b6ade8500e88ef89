"""Tests of Go: the testing package, testify and its kin."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import (
    Assertion,
    Strength,
    by_condition,
    by_matcher,
)
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import (
    COMMENTS,
    descendants,
    field,
    lines,
    named_children,
    normal,
    text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?:[^a-z]|$)")
_FAIL = re.compile(r"(?:t|b|f|s|tb|T\(\)|s\.T\(\))\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)")
_ASSERT = re.compile(
    r"(?:\w+\.)?(?:assert|require|is|qt|c|check|s)\.[A-Z]\w*|(?:assert|check|require|verify)\w*"
)
_SKIP = re.compile(r"(?:\w+\.)*(?:Skip|Skipf|SkipNow)")


def _find(root: "Node") -> Iterator[Case]:
    skipped = _build_constraint(root)
    for node in root.named_children:
        name = text(field(node, "name"))
        if node.type in ("function_declaration", "method_declaration") and _TEST.match(name):
            receiver = re.sub(r".*[\s*]", "", text(field(node, "receiver")).strip("()"))
            yield Case(
                name=f"{receiver}.{name}" if receiver else name,
                node=node,
                body=field(node, "body"),
                marks=skipped,
                skipped=skipped,
                rows=_rows(field(node, "body")),
            )


def _build_constraint(root: "Node") -> str:
    for node in root.children:
        if node.type not in COMMENTS:
            break
        if text(node).startswith(("//go:build", "// +build")):
            return text(node)
    return ""


def _rows(body: "Node | None") -> int | None:
    """The rows of the tables in a test: slices and maps of structures."""
    if body is None:
        return None
    counts = [
        sum(1 for one in named_children(field(node, "body")) if "{" in text(one))
        for node in descendants(body)
        if node.type == "composite_literal" and text(field(node, "type")).startswith(("[", "map["))
    ]
    return sum(counts) or None


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type != "call_expression":
        return None
    function = text(field(node, "function"))
    arguments = named_children(field(node, "arguments"))
    if _FAIL.fullmatch(function):
        if guard is not None:
            return by_condition(node, guard, matcher="if", fails=True)
        return Assertion(normal(node), (function,), function, Strength.PARTIAL, lines(node), text(node))
    if _ASSERT.fullmatch(function):
        if arguments and text(arguments[0]) in ("t", "b", "s.T()"):
            arguments = arguments[1:]
        return by_matcher(node, function.rpartition(".")[2], arguments)
    return None


def _called(node: "Node") -> str:
    return text(field(node, "function")).rpartition(".")[2] if node.type == "call_expression" else ""


GO = Language(
    find=_find,
    assertion=_assertion,
    skips=lambda node: bool(_SKIP.fullmatch(text(field(node, "function")))),
    called=_called,
    functions=frozenset({"function_declaration", "method_declaration"}),
    blocks=frozenset({"statement_list"}),
    ends=frozenset({"return_statement", "continue_statement", "break_statement"}),
    swallows=lambda _: False,
    is_collected=lambda path: path.endswith("_test.go"),
)
