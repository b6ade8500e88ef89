"""Code that finds out whether it is being tested, or ends the process that reports.

Words are looked for first, and then confirmed in the syntax tree: a comment or a sentence is no finding.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.verification.tampering.findings import Severity, TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.syntax import (
    COMMENTS,
    descendants,
    field,
    grammar_of,
    lines,
    normal,
    parse,
    text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = re.compile(
    rb"PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST_WORKER|JEST_WORKER_ID|VITEST|NODE_ENV|sys\.modules"
    rb"|GITHUB_ACTIONS|GITLAB_CI|\bCI\b|testing\.Testing|test\.v|cfg!?\s*\(|_exit|abort|[eE]xit"
)
_RUNNERS = frozenset(
    {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_WORKER", "JEST_WORKER_ID", "VITEST", "test.v"}
    | {"VITEST_WORKER_ID", "VITEST_POOL_ID"}
)
_PIPELINES = frozenset({"CI", "GITHUB_ACTIONS", "GITLAB_CI", "CONTINUOUS_INTEGRATION"})
_COMPARED = re.compile(
    r"NODE_ENV.{0,20}===? ?[\"']test|[\"']test[\"'] ===? .{0,20}NODE_ENV"
    r"|[\"'](?:_?pytest|unittest)[\"'] in sys \. modules"
)
_HARD_EXITS = frozenset({"os._exit", "os.abort", "os.kill", "process.abort", "exit!", "Process.exit!"})
_EXITS = frozenset(
    {"sys.exit", "exit", "quit", "process.exit", "os.Exit", "System.exit", "Kernel.exit", "abort"}
    | {"std::process::exit", "process::exit", "syscall.Exit", "Runtime.getRuntime().halt", "SystemExit"}
)
_CALLS = ("call", "call_expression", "method_invocation")
_COMPARISONS = ("comparison_operator", "binary_expression")


def compare_marks(
    path: str, base: bytes | None, head: bytes | None, *, is_test: bool
) -> Iterator[TamperFinding]:
    if head is None or grammar_of(path) is None:
        return
    before = Counter(_WORDS.findall(base or b""))
    if Counter(_WORDS.findall(head)) <= before:
        return
    old = Counter(what for what, _ in _marks(path, base, is_test=is_test)) if base is not None else Counter()
    for what, node in _marks(path, head, is_test=is_test):
        if old[what] > 0:
            old[what] -= 1
            continue
        kind, severity, meaning = what
        yield TamperFinding(
            kind=kind,
            path=path,
            lines=lines(node),
            detail=f"{meaning}: {as_code(text(node))}.",
            severity=severity,
        )


_Mark = tuple[TamperKind, Severity, str]


def _marks(path: str, source: bytes, *, is_test: bool) -> "Iterator[tuple[_Mark, Node]]":
    root = parse(grammar_of(path) or "", source)
    for node in descendants(root, lambda one: one.type not in COMMENTS):
        if (exits := _exit(node, is_test=is_test)) is not None:
            yield exits, node
        elif not is_test and (mark := _detection(node)) is not None:
            yield mark, node


def _exit(node: "Node", *, is_test: bool) -> _Mark | None:
    if node.type not in _CALLS:
        return None
    function = _function(node)
    if function in _HARD_EXITS:
        return "process_exit_added", "ask", "The process is ended at once, whatever the tests say"
    if function not in _EXITS or (function == "os.Exit" and normal(field(node, "arguments")) != "( 0 )"):
        return None  # `os.Exit(m.Run())` is how Go reports
    if is_test:
        return "process_exit_added", "ask", "A test ends the process that reports"
    return ("process_exit_added", "notice", "The process is ended") if function == "process.exit" else None


def _function(node: "Node") -> str:
    if node.type == "method_invocation":
        return f"{text(field(node, 'object'))}.{text(field(node, 'name'))}"
    if field(node, "method") is not None:
        receiver = text(field(node, "receiver"))
        return f"{receiver}.{text(field(node, 'method'))}".lstrip(".")
    function = field(node, "function")
    return text(function) if function is not None and function.end_byte - function.start_byte < 60 else ""


def _detection(node: "Node") -> _Mark | None:
    asked: _Mark = ("test_detection", "ask", "Code outside of the tests asks whether it is being tested")
    if not node.child_count:
        word = text(node).strip("\"'`")
        if word in _RUNNERS and node.type != "identifier":
            return asked
        if word in _PIPELINES and node.type in ("property_identifier", "string_content", "string_fragment"):
            return "test_detection", "notice", "Code outside of the tests asks whether it runs in a pipeline"
        return None
    if node.end_byte - node.start_byte > 200:
        return None
    if node.type in _COMPARISONS and _COMPARED.search(normal(node)):
        return asked
    if node.type == "call_expression" and text(field(node, "function")) == "testing.Testing":
        return asked
    if node.type == "macro_invocation" and normal(node) == "cfg ! ( test )":
        return asked
    if node.type == "attribute_item" and normal(node) == "# [ cfg ( not ( test ) ) ]":
        return "test_detection", "ask", "Code is left out, or replaced, when it is tested"
    return None
