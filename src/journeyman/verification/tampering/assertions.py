"""What an assertion looks at, and how much it demands.

The order of demands is coarse on purpose: a test that asked for a value and now asks for anything at all is
found, and a matcher that nobody listed is never called weaker than another.
"""

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from journeyman.verification.tampering.syntax import field, is_literal, lines, named_children, normal, text

if TYPE_CHECKING:
    from tree_sitter import Node


class Strength(IntEnum):
    VACUOUS = 0
    """It holds whatever the code does."""
    LOOSE = 1
    """Something is there: truth, a type, no error."""
    PARTIAL = 2
    """A bound, a part, a pattern, another value than one."""
    EXACT = 3


@dataclass(frozen=True)
class Assertion:
    text: str
    """Without its layout."""
    operands: tuple[str, ...]
    """What is compared; the order differs between frameworks."""
    matcher: str
    strength: Strength
    lines: tuple[int, int]
    shown: str
    """As it is written."""


_EXACT = re.compile(
    r"(?:to|deep|strict|deepstrict|is|list|dict|set|tuple|sequence|multiline|array|iterable|json|contain)*"
    r"(?:equals?|eq|eql|equalto|equalvalues|same|be|bewithin|exactly|none|null|nil|undefined|nullvalue)"
    r"|(?:tohavebeen|tobe)?(?:last|nth)?called(?:once)?(?:with|times)|tomatch(?:inline)?snapshot|elementsmatch"
    r"|raisesregex|equalerror|raises_with_message"
)
_LOOSE = re.compile(
    r"true|false|istrue|isfalse|ok|t|tobetruthy|tobefalsy|tobedefined|truthy|falsy|defined|exists?"
    r"|is_?not_?(?:none|null|nil)|not(?:null|nil|empty|none)|nottobe(?:null|undefined)|is_?instance|instance_?of"
    r"|isinstanceof|tobeinstanceof|tobetypeof|tohavebeencalled|tobecalled|called|no_?error|doesnotthrow|nottothrow|error"
)
_ANYTHING = re.compile(
    r"\b(?:ANY|expect \. (?:any|anything|objectContaining|stringContaining|arrayContaining)|mock \. ANY"
    r"|any_?args|anything|approx|closeTo|be_within)\b"
)
_NOTHING = frozenset({"none", "null", "nil", "undefined"})
_LOGICAL = frozenset({"and", "or", "&&", "||"})
_MAX_DEPTH = 20


def by_matcher(node: "Node", matcher: str, operands: "list[Node]", *, is_negated: bool = False) -> Assertion:
    """An assertion that a name says: `assertEqual(a, b)`, `expect(a).toBe(b)`, `assert.Equal(t, a, b)`."""
    name = re.sub(r"^assert_?(?:that_?)?|[^a-z0-9_]", "", matcher.lower().replace("!", ""))
    if name in ("true", "ok", "", "t", "istrue") and len(operands) >= 1 and not is_negated:
        return by_condition(node, operands[0], matcher=matcher)
    shown = tuple(map(normal, operands))
    strength = Strength.PARTIAL
    if all(map(is_literal, operands[:2])) and (len(operands) > 1 or name in ("tobetruthy", "tobedefined")):
        strength = Strength.VACUOUS
    elif _LOOSE.fullmatch(name) or (re.search("throw|raise", name) and len(operands) < 2):
        strength = Strength.LOOSE
    elif _EXACT.fullmatch(name.replace("_", "")) and not is_negated:
        strength = Strength.EXACT
    if len(shown) > 1 and _ANYTHING.search(shown[1]):
        strength = min(strength, Strength.PARTIAL)
    return Assertion(
        normal(node), shown, f"not {matcher}" if is_negated else matcher, strength, lines(node), text(node)
    )


def by_condition(
    node: "Node", condition: "Node", *, matcher: str = "assert", fails: bool = False
) -> Assertion:
    """An assertion that an expression says. `fails`: the test fails where the condition holds, as in Go."""
    operands, operator, strength = _condition(condition, 0)
    if fails:
        strength = {"!=": Strength.EXACT, "==": Strength.PARTIAL}.get(
            operator, min(strength, Strength.PARTIAL)
        )
        if operator == "!=" and any(one in _NOTHING for one in operands):
            strength = Strength.LOOSE
        elif _is_negated_call(condition):
            strength = Strength.EXACT
    shown = f"if {text(condition)}: {text(node)}" if fails else text(node)
    return Assertion(normal(node), operands, f"{matcher} {operator}".strip(), strength, lines(node), shown)


def _is_negated_call(condition: "Node") -> bool:
    """`!reflect.DeepEqual(got, want)`, which is `got != want`."""
    called = field(condition, "operand") if text(condition).startswith("!") else None
    return len(named_children(field(called, "arguments"))) > 1


def by_comparison(node: "Node", operands: tuple[str, ...], operator: str, *, matcher: str) -> Assertion:
    """An assertion of which only the words are known, as inside a macro of Rust."""
    strength = {"==": Strength.EXACT, "": Strength.LOOSE}.get(operator, Strength.PARTIAL)
    if operands in (("true",), ("! false",)) or (len(operands) == 2 and operands[0] == operands[1]):
        strength = Strength.VACUOUS
    return Assertion(
        normal(node), operands, f"{matcher} {operator}".strip(), strength, lines(node), text(node)
    )


def _condition(node: "Node", depth: int) -> tuple[tuple[str, ...], str, Strength]:
    while node.type in ("parenthesized_expression", "parenthesized_statements") and named_children(node):
        node = named_children(node)[0]
    if node.type == "tuple" and named_children(node) and depth < _MAX_DEPTH:
        # What `assert (x == 1, "message")` holds: never false.
        return _condition(named_children(node)[0], depth + 1)[0], "", Strength.VACUOUS
    if is_literal(node):
        is_false = node.type in ("false", *_NOTHING) or text(node) == "0"
        return (text(node),), "", Strength.PARTIAL if is_false else Strength.VACUOUS
    left, operator, right = _comparison(node)
    if left is None or right is None:
        return (normal(node),), "", Strength.LOOSE
    if operator in _LOGICAL and depth < _MAX_DEPTH:
        first, second = _condition(left, depth + 1), _condition(right, depth + 1)
        pick = max if operator in ("and", "&&") else min
        return first[0] + second[0], operator, pick(first[2], second[2])
    return _compared(left, operator, right)


def _compared(left: "Node", operator: str, right: "Node") -> tuple[tuple[str, ...], str, Strength]:
    operands = (normal(left), normal(right))
    is_same = operands[0] == operands[1] and "(" not in operands[0]
    if is_same or (is_literal(left) and is_literal(right)):
        strength = Strength.VACUOUS
    elif operator in ("==", "===", "is"):
        strength = Strength.PARTIAL if _ANYTHING.search(operands[1]) else Strength.EXACT
    elif right.type in _NOTHING or text(right) == "None":
        strength = Strength.LOOSE
    else:
        strength = Strength.PARTIAL
    return operands, operator, strength


def _comparison(node: "Node") -> "tuple[Node | None, str, Node | None]":
    if node.type == "comparison_operator" and node.named_child_count >= 2:
        return node.named_children[0], normal(field(node, "operators")), node.named_children[-1]
    if node.type in ("binary_expression", "boolean_operator", "binary"):
        return field(node, "left"), text(field(node, "operator")), field(node, "right")
    return None, "", None
