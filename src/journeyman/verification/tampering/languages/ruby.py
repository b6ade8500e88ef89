"""Tests of Ruby: RSpec and minitest."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, by_condition, by_matcher
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import field, named_children, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = re.compile(r"[fx]?(?:it|specify|example|scenario|test|should)|pending|skip")
_GROUPS = re.compile(r"[fx]?(?:describe|context|feature)")
_SKIP = re.compile(r"\b(?:skip|pending)\b : (?!false\b)\S+|: (?:skip|pending)\b")
_ASSERT = re.compile(r"(?:assert|refute)\w*|flunk|must_\w+|wont_\w+")


def _find(root: "Node") -> Iterator[Case]:
    stack: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        node, path, skipped = stack.pop()
        name, body = text(field(node, "name")), field(node, "body")
        if node.type == "method" and name.startswith("test_"):
            yield Case(name=".".join((*path, name)), node=node, body=body, skipped=skipped)
            continue
        if node.type == "class":
            path = (*path, name)
        block = field(node, "block")
        called = text(field(node, "method")) if node.type == "call" and block is not None else ""
        if _GROUPS.fullmatch(called) or _TESTS.fullmatch(called):
            arguments = normal(field(node, "arguments"))
            title = text(named_children(field(node, "arguments"))[0]).strip("'\"") if arguments else ""
            found = _SKIP.search(arguments)
            path = (*path, title)
            skipped = skipped or (called if re.match("x|pending|skip", called) else found[0] if found else "")
            if _TESTS.fullmatch(called):
                yield Case(
                    name=" > ".join(path),
                    node=node,
                    body=block,
                    marks=f"{called} {arguments}",
                    skipped=skipped,
                    is_focused=called.startswith("f") or bool(re.search(r"\bfocus\b", arguments)),
                )
                continue
        stack.extend((one, path, skipped) for one in reversed(node.named_children))


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type != "call":
        return None
    name, receiver = text(field(node, "method")), field(node, "receiver")
    arguments = named_children(field(node, "arguments"))
    if name in ("to", "not_to", "to_not") and receiver is not None:
        subject = named_children(field(receiver, "arguments"))[:1]
        matcher = arguments[0] if arguments else None
        words = text(field(matcher, "method")) or text(matcher).partition("(")[0]
        expected = named_children(field(matcher, "arguments"))[:1]
        return by_matcher(node, words, subject + expected, is_negated=name != "to")
    if name == "assert" and arguments:
        return by_condition(node, arguments[0])
    return by_matcher(node, name, arguments) if _ASSERT.fullmatch(name) else None


def _called(node: "Node") -> str:
    if node.type == "identifier" and text(node) in ("skip", "pending"):
        return text(node)
    return text(field(node, "method")) if node.type == "call" else ""


def _swallows(node: "Node") -> bool:
    return any(
        re.match(r"rescue(?: => \w+)?(?: (?:Exception|Minitest :: Assertion))?$", normal(one))
        for one in node.children
        if one.type == "rescue"
    )


RUBY = Language(
    find=_find,
    assertion=_assertion,
    skips=lambda node: _called(node) in ("skip", "pending"),
    called=_called,
    functions=frozenset({"method"}),
    blocks=frozenset({"body_statement"}),
    ends=frozenset({"return", "next", "break"}),
    swallows=_swallows,
    is_collected=lambda path: bool(re.search(r"(?:_spec|_test)\.rb$|(?:^|/)test_[^/]*\.rb$", path)),
)
