"""Whether a step is to run: CEL expressions over what ran before.

The form `{{steps.lint.output.error_count}} > 0` is accepted too. What stands between the braces is
read as a path and becomes part of the expression; values are never pasted into its text, so an
output cannot change what is asked.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.references import STRING, check_names, did_you_mean, name_steps

if TYPE_CHECKING:
    import cel

_MACRO = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*(\w+)")
_PIECE = re.compile(rf"(?P<string>{STRING})|\{{\{{(?P<path>.*?)\}}\}}", re.DOTALL)
_PATH = re.compile(r"(?:steps|order)(?:\.[A-Za-z_][\w-]*|\[\"[^\"\\]*\"\]|\['[^'\\]*'\]|\[\d+\])+")
_DASHED = re.compile(r"\.([A-Za-z_]\w*-[\w-]*)")
_ROOTS = ("steps", "order")


def check_condition(text: str, known_steps: Collection[str], everyone: Collection[str] = ()) -> None:
    """Refuse a condition that could not be answered: its syntax, or a step that will not have run."""
    check_names(_compiled(text)[1], known_steps, everyone)


def holds(text: str, context: Mapping[str, Any]) -> bool:
    """Answer a condition. Raises InvalidWorkflow when there is no answer, or it is not yes or no."""
    program, _ = _compiled(text)
    try:
        answer = program.execute(dict(context))
    except LookupError as error:
        raise InvalidWorkflow(
            f"the condition `{text}` asks for {error}, which is not there",
            hint="Ask has(…) first, or correct the name.",
        ) from error
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidWorkflow(
            f"the condition `{text}` cannot be answered: {error}",
            hint="Compare values of the same type, and ask has(…) before a field that may be missing.",
        ) from error
    if not isinstance(answer, bool):
        raise InvalidWorkflow(
            f"the condition `{text}` gives {answer!r}, which is neither true nor false",
            hint="Compare it with something, as in `… > 0` or `… == 'text'`.",
        )
    return answer


@lru_cache(maxsize=512)
def _compiled(text: str) -> "tuple[cel.Program, frozenset[str]]":
    import cel  # it brings nine megabytes along that an order without conditions never needs

    expression, names = name_steps(_PIECE.sub(_path_of, text))
    bound = _MACRO.findall(expression)
    if len(bound) > 1:
        # Loops inside loops over long outputs would keep a worker busy for hours.
        raise InvalidWorkflow(
            f"the condition `{text}` uses all, exists, map or filter {len(bound)} times",
            hint="Use one of them once; let a shell step compute what needs more.",
        )
    try:
        program = cel.compile(expression)
    except ValueError as error:
        why = re.sub(r"(?s)^.*?ERROR: <input>:\d+:\d+: ", "", str(error)).partition("\n")[0]
        raise InvalidWorkflow(
            f"the condition `{text}` cannot be read: {why}",
            hint="Write a CEL expression, such as `steps.lint.output.error_count > 0`.",
        ) from error
    for unknown in sorted(set(program.variables()) - {*_ROOTS, *bound}):
        raise InvalidWorkflow(
            f"the condition `{text}` uses '{unknown}', which does not exist",
            hint=did_you_mean(unknown, _ROOTS) or "Begin with 'steps.' or 'order.', or put text in quotes.",
        )
    return program, names


def _path_of(match: re.Match[str]) -> str:
    if string := match["string"]:
        if "{{" in string:
            raise InvalidWorkflow(
                f"{string} is a text: what stands in its braces would be compared letter by letter",
                hint="Remove the quotes around the braces.",
            )
        return string
    path = match["path"].strip()
    if not _PATH.fullmatch(path):
        raise InvalidWorkflow(
            f"'{{{{{match['path']}}}}}' is not a path",
            hint="Between braces write steps.<name>.output.<field> or order.<field>.",
        )
    return _DASHED.sub(r'["\1"]', path)
