"""Tests of a source file, and what each of them does.

Only tests whose text differs are read further than their names: most of a changed file is unchanged.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from journeyman.verification.tampering.assertions import Assertion, Strength
from journeyman.verification.tampering.syntax import (
    COMMENTS,
    descendants,
    field,
    lines,
    named_children,
    text,
    tokens,
)

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, kw_only=True)
class Language:
    """What the comparison has to know of a language and its test frameworks."""

    find: "Callable[[Node], Iterator[Case]]"
    assertion: "Callable[[Node, Node | None], Assertion | None]"
    """Of a node and the condition under which it is reached."""
    skips: "Callable[[Node], bool]"
    """Whether a call ends the test without a result."""
    called: "Callable[[Node], str]"
    """The name of what a call calls; empty for other nodes."""
    functions: frozenset[str]
    blocks: frozenset[str]
    ends: frozenset[str]
    """Statements after which the rest of their block is not reached."""
    swallows: "Callable[[Node], bool]"
    """Whether a statement hides what is raised inside it."""
    is_collected: Callable[[str], bool]
    """Whether runners look for tests in a file of this path."""


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    """With the classes, modules or groups that it is in."""
    node: "Node"
    """With its decorators."""
    body: "Node | None"
    marks: str = ""
    """Decorators and modifiers."""
    skipped: str = ""
    """The mark by which it is not run, or may fail."""
    is_focused: bool = False
    is_retried: bool = False
    rows: int | None = None
    """How many rows its table has, where that can be counted."""

    @cached_property
    def text(self) -> str:
        return text(self.node)

    @cached_property
    def content(self) -> tuple[str, str, str, int | None]:
        """All of it but its name."""
        return text(self.body or self.node), self.marks, self.skipped, self.rows

    @cached_property
    def lines(self) -> tuple[int, int]:
        return lines(self.node)

    @cached_property
    def words(self) -> Counter[tuple[str, str]]:
        """Pairs of neighbouring words, without its name: what a renamed test has in common with itself."""
        found = tokens(self.body or self.node)
        return Counter(pairwise(found))


@dataclass(frozen=True)
class Behaviour:
    assertions: list[Assertion]
    calls: list[str]
    skipped: str


def read_behaviour(node: "Node", language: Language) -> Behaviour:
    """What happens below a node, as far as it is reached."""
    found = Behaviour([], [], "")
    stack: list[tuple[Node, bool, Node | None]] = [(node, False, None)]
    while stack:
        node, is_swallowed, guard = stack.pop()
        if (assertion := language.assertion(node, guard)) is not None:
            if is_swallowed:
                assertion = replace(assertion, strength=Strength.VACUOUS)
            found.assertions.append(assertion)
        if name := language.called(node):
            found.calls.append(name)
            if not found.skipped and language.skips(node):
                found = replace(found, skipped=text(node))
        is_swallowed = is_swallowed or language.swallows(node)
        condition = field(node, "condition") if node.type.startswith("if") else None
        stack.extend((one, is_swallowed, condition or guard) for one in reversed(reached(node, language)))
    return found


def reached(node: "Node", language: Language) -> "list[Node]":
    """The children of a node that can be reached: not those behind a `return`, nor below `if False`."""
    if not node.child_count or node.type in COMMENTS:
        return []
    if node.type.startswith(("if", "while")) and text(field(node, "condition")).strip("()") in _NEVER:
        return [one for one in (field(node, "alternative"),) if one is not None]
    if node.type not in language.blocks:
        return node.children
    end = next((place for place, one in enumerate(node.children) if _ends(one, language)), None)
    return node.children if end is None else node.children[: end + 1]


_NEVER = frozenset({"False", "false", "0", "None", "nil", "null"})


def _ends(statement: "Node", language: Language) -> bool:
    if statement.type == "expression_statement" and statement.named_child_count == 1:
        statement = named_children(statement)[0] if named_children(statement) else statement
    return statement.type in language.ends


def is_empty(case: Case, language: Language) -> bool:
    """Whether nothing is done in the body of a test."""
    if case.body is None:
        return True
    block = next((one for one in descendants(case.body) if one.type in language.blocks), case.body)
    return not any(_does_something(one) for one in reached(block, language) if one.is_named)


def _does_something(statement: "Node") -> bool:
    if statement.type in (
        "pass_statement",
        "return_statement",
        "return_expression",
        "empty_statement",
        *COMMENTS,
    ):
        return False
    inner = named_children(statement)
    return not (
        statement.type == "expression_statement"
        and (not inner or (len(inner) == 1 and inner[0].type in ("string", "ellipsis", "return_expression")))
    )
