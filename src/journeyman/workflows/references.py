"""Which steps an expression speaks of: one rule for conditions and templates.

Every use of `steps` must name its step in plain sight (`steps.lint` or `steps["fix-lint"]`), so that a
workflow can be checked before it runs. A dotted name with a dash, which both languages would read as a
subtraction, is rewritten to the bracket form.
"""

import re
from collections.abc import Collection
from difflib import get_close_matches

from journeyman.errors import InvalidWorkflow

STRING = r'"(?:\\.|[^"\\])*+"|\'(?:\\.|[^\'\\])*+\''
_USE = re.compile(
    rf"{STRING}|(?<![\w.])steps(?!\w)"
    r"(?:\s*\.\s*(?P<plain>[A-Za-z_][\w-]*)|\s*\[\s*(?P<quoted>\"[^\"\\]*\"|'[^'\\]*')\s*\])?",
    re.DOTALL,
)


def name_steps(expression: str) -> tuple[str, frozenset[str]]:
    """The expression with dashed names made safe, and the names of the steps it uses."""
    names: set[str] = set()

    def rewritten(match: re.Match[str]) -> str:
        text = match[0]
        if text[0] in "\"'":
            return text
        if quoted := match["quoted"]:
            names.add(quoted[1:-1])
            return text
        if not match["plain"]:
            raise InvalidWorkflow(
                "'steps' is used without naming a step",
                hint='Write steps.<name>.output.<field>, or steps["<name>"].output.<field>.',
            )
        names.add(match["plain"])
        return f'steps["{match["plain"]}"]' if "-" in match["plain"] else text

    return _USE.sub(rewritten, expression), frozenset(names)


def did_you_mean(word: str, known: Collection[str]) -> str:
    close = get_close_matches(word, sorted(known), n=1)
    return f"Did you mean '{close[0]}'?" if close else ""


def check_names(names: Collection[str], upstream: Collection[str], everyone: Collection[str] = ()) -> None:
    """Refuse names of steps that need not have run. `everyone` separates a late step from a misspelt one."""
    for name in sorted(set(names) - set(upstream)):
        if name in everyone:
            raise InvalidWorkflow(
                f"it refers to step '{name}', which does not have to be done before this one",
                hint=f"Add '{name}' to depends_on, or refer to a step that comes before.",
            )
        meant = did_you_mean(name, {*upstream, *everyone})
        raise InvalidWorkflow(
            f"it refers to step '{name}', which does not exist",
            hint=meant or "Correct the name, or add the step.",
        )
