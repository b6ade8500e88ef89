"""Tests of JavaScript and TypeScript: vitest, jest, mocha, node:test, ava, Playwright, Deno."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, Strength, by_matcher
from journeyman.verification.tampering.cases import Case, Language
from journeyman.verification.tampering.syntax import descendants, field, lines, named_children, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = re.compile(r"[fx]?(?:it|test|specify|Deno\.test|t\.test)")
_GROUPS = re.compile(r"[fx]?(?:describe|suite|context)")
_SKIP_WORDS = frozenset({"skip", "skipIf", "runIf", "todo", "fails", "failing", "fixme"})
_SKIP_CALL = re.compile(r"(?:this|t|ctx|context|test|it)\.(?:skip|todo)")
_TAP = frozenset(
    {"is", "not", "deepEqual", "true", "false", "truthy", "falsy", "throws", "throwsAsync", "regex", "ok"}
    | {"equal", "same", "notOk", "strictSame", "match", "like", "fail", "snapshot", "plan", "rejects"}
)
_NAMES = ("string", "template_string", "binary_expression", "identifier", "member_expression")
_MAX_CHAIN = 60


def _find(root: "Node") -> Iterator[Case]:
    stack: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        node, path, skipped = stack.pop()
        kind, words = _kind(node)
        if not kind:
            stack.extend((one, path, skipped) for one in reversed(node.named_children))
            continue
        arguments = named_children(field(node, "arguments"))
        name = " ".join(text(arguments[0]).strip("'\"`").split())
        options = " ".join(normal(one) for one in arguments[1:] if one.type == "object")
        mark = skipped or _skip_mark(words, options)
        if kind == "group":
            stack.extend((one, (*path, name), mark) for one in reversed(arguments[1:]))
            if _is_focused(words, options):
                yield _case(node, (*path, name), "", words, options, [])
            continue
        yield _case(node, (*path, name), mark, words, options, arguments)


def _case(
    node: "Node", path: tuple[str, ...], skipped: str, words: list[str], options: str, arguments: "list[Node]"
) -> Case:
    body = next((one for one in reversed(arguments[1:]) if "function" in one.type), None)
    return Case(
        name=" > ".join(path),
        node=node,
        body=body,
        marks=f"{' '.join(words)} {options}",
        skipped=skipped,
        is_focused=_is_focused(words, options),
        is_retried=bool(re.search(r"\bretr(?:y|ies) :", options)),
        rows=_rows(node),
    )


def _kind(node: "Node") -> tuple[str, list[str]]:
    """Whether a call makes a test or a group of them, and the words it is called by: `it`, `only`, `each`."""
    if node.type != "call_expression":
        return "", []
    arguments = named_children(field(node, "arguments"))
    if not arguments or arguments[0].type not in _NAMES:
        return "", []
    words = _words(field(node, "function"))
    if not words or (arguments[0].type not in _NAMES[:2] and len(arguments) < 2):
        return "", []
    first = ".".join(words[:2]) if words[0] in ("Deno", "t") else words[0]
    if _GROUPS.fullmatch(first) or (first == "test" and "describe" in words):
        return "group", words
    has_body = any("function" in one.type for one in arguments[1:]) or "todo" in words
    return ("test", words) if _TESTS.fullmatch(first) and (has_body or len(arguments) > 1) else ("", [])


def _words(callee: "Node | None") -> list[str]:
    found: list[str] = []
    for _ in range(_MAX_CHAIN):
        if callee is None:
            return []
        if callee.type == "member_expression":
            found.append(text(field(callee, "property")))
            callee = field(callee, "object")
        elif callee.type == "call_expression":
            callee = field(callee, "function")
        else:
            found.append(text(callee) if callee.type in ("identifier", "this") else "")
            return found[::-1] if found[-1] else []
    return []


def _skip_mark(words: list[str], options: str) -> str:
    if words[0].startswith("x") or _SKIP_WORDS & set(words[1:]):
        return ".".join(words)
    found = re.search(r"\b(?:skip|todo) : (?!false\b)\S+", options)
    return found[0] if found else ""


def _is_focused(words: list[str], options: str) -> bool:
    return words[0].startswith("f") or "only" in words[1:] or bool(re.search(r"\bonly : true", options))


def _rows(node: "Node") -> int | None:
    """The rows of `it.each([...])`."""
    callee = field(node, "function")
    if callee is None or callee.type != "call_expression":
        return None
    tables = [one for one in named_children(field(callee, "arguments")) if one.type == "array"]
    return len(named_children(tables[0])) if tables else None


def _assertion(node: "Node", guard: "Node | None") -> Assertion | None:
    if node.type == "expression_statement" and named_children(node):
        return _property_assertion(named_children(node)[0])
    if node.type != "call_expression":
        return None
    function, arguments = field(node, "function"), named_children(field(node, "arguments"))
    if function is None:
        return None
    if function.type == "identifier":
        name = text(function)
        return by_matcher(node, name, arguments) if re.fullmatch(r"assert\w*|fail", name) else None
    if function.type != "member_expression":
        return None
    matcher = text(field(function, "property"))
    return _chained(node, matcher, arguments, *_root(function))


def _chained(
    node: "Node", matcher: str, arguments: "list[Node]", root: "Node | None", words: list[str]
) -> Assertion | None:
    """An assertion at the end of a chain: `expect(a).not.toBe(b)`, `assert.equal(a, b)`, `.expect(200)`."""
    if root is None:
        return None
    if root.type == "call_expression" and text(field(root, "function")) in ("expect", "should", "assert"):
        subject = named_children(field(root, "arguments"))[:1]
        return by_matcher(node, matcher, subject + arguments, is_negated="not" in words)
    name = text(root)
    if name == "assert" or "should" in words or (name == "expect" and matcher in ("assertions", "fail")):
        return by_matcher(node, matcher, arguments, is_negated="not" in words)
    if name == "t" and matcher in _TAP:
        return by_matcher(node, matcher, arguments)
    if matcher == "expect" and arguments:
        header = normal(arguments[0]) if len(arguments) > 1 else ""
        expected = normal(arguments[-1])
        return Assertion(
            f".expect({header}, {expected})",
            (f".expect {header}",),
            "expect",
            Strength.EXACT,
            lines(node),
            text(node),
        )
    return by_matcher(node, matcher, arguments) if re.match(r"assert[A-Z]", matcher) else None


def _property_assertion(expression: "Node") -> Assertion | None:
    """`expect(x).to.be.true`, and `expect(x)` without anything, which demands nothing."""
    if expression.type == "call_expression" and text(field(expression, "function")) == "expect":
        subject = tuple(map(normal, named_children(field(expression, "arguments"))[:1]))
        shown = text(expression)
        return Assertion(shown, subject, "expect", Strength.VACUOUS, lines(expression), shown)
    if expression.type != "member_expression":
        return None
    root, words = _root(expression)
    if root is None or root.type != "call_expression" or text(field(root, "function")) != "expect":
        return None
    return by_matcher(
        expression, words[-1], named_children(field(root, "arguments"))[:1], is_negated="not" in words
    )


def _root(node: "Node") -> "tuple[Node | None, list[str]]":
    """Where a chain of properties and calls begins, and its properties."""
    words: list[str] = []
    current: Node | None = node
    for _ in range(_MAX_CHAIN):
        if current is None:
            break
        if current.type == "member_expression":
            words.append(text(field(current, "property")))
            current = field(current, "object")
        elif current.type == "call_expression" and field(current, "function") is not None:
            function = field(current, "function")
            if function is not None and function.type == "identifier":
                return current, words[::-1]
            current = function
        else:
            return current, words[::-1]
    return None, []


def _called(node: "Node") -> str:
    if node.type != "call_expression":
        return ""
    return text(field(node, "function")).rpartition(".")[2][:200]


def _swallows(node: "Node") -> bool:
    handler = field(node, "handler") if node.type == "try_statement" else None
    block = field(handler, "body")
    return block is not None and not any(
        one.type in ("throw_statement", "call_expression") for one in descendants(block)
    )


JAVASCRIPT = Language(
    find=_find,
    assertion=_assertion,
    skips=lambda node: bool(_SKIP_CALL.fullmatch(text(field(node, "function"))[:40])),
    called=_called,
    functions=frozenset({"function_declaration", "variable_declarator"}),
    blocks=frozenset({"statement_block"}),
    ends=frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"}),
    swallows=_swallows,
    is_collected=lambda path: bool(
        re.search(
            r"(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$", path
        )
    ),
)
