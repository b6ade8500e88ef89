"""Tests of Java: JUnit and TestNG, with their assertions, AssertJ, Hamcrest and Mockito's verify."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, by_condition, by_matcher
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import descendants, field, named_children, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"@ (?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property|Theory)\b")
_SKIP = re.compile(r"@ (?:Disabled\w*|Ignore|Enabled(?:If|On)\w*)\b[^@]*|enabled = false|expected = \S+")
_RETRY = re.compile(r"@ (?:Retry\w*|RetryingTest|Flaky)\b")
_ASSERT = re.compile(r"assert\w*|fail|verify\w*")
_CLASSES = ("class_declaration", "record_declaration", "interface_declaration")


def _find(root: "Node") -> Iterator[Case]:
    stack: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        node, path, skipped = stack.pop()
        for one in named_children(node):
            marks = normal(next((inner for inner in one.children if inner.type == "modifiers"), None))
            found = _SKIP.search(marks)
            own_skip = skipped or (found[0] if found else "")
            name, body = text(field(one, "name")), field(one, "body")
            if one.type in _CLASSES and body is not None:
                stack.append((body, (*path, name), own_skip))
            elif one.type == "method_declaration" and (_TEST.search(marks) or re.match("test[A-Z]", name)):
                yield Case(
                    name=".".join((*path, name)),
                    node=one,
                    body=body,
                    marks=marks,
                    skipped=own_skip,
                    is_retried=bool(_RETRY.search(marks)),
                )


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type == "assert_statement" and named_children(node):
        return by_condition(node, named_children(node)[0])
    if node.type != "method_invocation":
        return None
    name, arguments = text(field(node, "name")), named_children(field(node, "arguments"))
    receiver = field(node, "object")
    if receiver is not None and text(field(receiver, "name")) in (
        "assertThat",
        "verify",
        "assertThatThrownBy",
    ):
        return by_matcher(node, name, named_children(field(receiver, "arguments"))[:1] + arguments)
    if name in ("assertThat", "verify", "assertThatThrownBy") and len(arguments) < 2:
        return None
    return by_matcher(node, name, arguments) if _ASSERT.fullmatch(name) else None


def _called(node: "Node") -> str:
    return text(field(node, "name")) if node.type == "method_invocation" else ""


def _swallows(node: "Node") -> bool:
    clauses = [one for one in node.children if one.type == "catch_clause"] if "try" in node.type else []
    return any(
        re.search(r"\b(?:Throwable|AssertionError|Error)\b", normal(clause))
        and not any(one.type in ("throw_statement", "method_invocation") for one in descendants(clause))
        for clause in clauses
    )


JAVA = Language(
    find=_find,
    assertion=_assertion,
    skips=lambda node: text(field(node, "name")).startswith("assume"),
    called=_called,
    functions=frozenset({"method_declaration"}),
    blocks=frozenset({"block"}),
    ends=frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"}),
    swallows=_swallows,
    is_collected=lambda path: bool(re.search(r"(?:Tests?|IT|TestCase|Spec)\.java$|/Test[^/]*\.java$", path)),
)
