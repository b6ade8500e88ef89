"""Output to the terminal, without anything that could control it.

Agents and tools can print anything, also escape sequences that retitle a window, write the clipboard or
hide text. Every text of theirs goes through `strip_controls` first; styles are ours alone.
"""

import json
import re
import sys
import unicodedata
from typing import Any

from rich.console import Console
from rich.text import Text

from journeyman.errors import JourneymanError

_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # strings for devices
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\x1b[ -/]*[0-~]"
)
_HIDDEN = frozenset("\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2060\ufeff\u061c")


def strip_controls(text: str) -> str:
    """Text without escape sequences, control characters and marks that change its direction."""
    return "".join(filter(_is_visible, _SEQUENCES.sub("", text)))


def _is_visible(character: str) -> bool:
    if character in "\n\t":
        return True
    if character in _HIDDEN or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069":
        return False
    return unicodedata.category(character) not in ("Cc", "Cs")


def single_line(text: str) -> str:
    """The same on one line."""
    return " ".join(strip_controls(text).split())


def short(text: str, width: int = 80) -> str:
    one = single_line(text)
    return one if len(one) <= width else one[: width - 1] + "…"


def console(*, err: bool = False) -> Console:
    """Colour only on a terminal, and never with NO_COLOR; lines are never broken for a pipe."""
    return Console(stderr=err, highlight=False, markup=False, emoji=False, soft_wrap=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    return Text.assemble(*parts)


def print_json(document: Any) -> None:
    # JSON stays within ASCII: what could drive a terminal or break a line is escaped.
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_json_line(document: Any) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def print_error(error: JourneymanError, *, as_json: bool) -> None:
    if as_json:
        document = {"error": {"detail": error.message, "hint": error.hint, "category": error.category}}
        sys.stderr.write(json.dumps(document) + "\n")
        return
    out = console(err=True)
    out.print(styled(("Error: ", "bold red"), strip_controls(error.message)))
    if error.hint:
        out.print(styled(("What to do: ", "bold"), strip_controls(error.hint)))


def warn(text: str) -> None:
    console(err=True).print(styled(("Warning: ", "bold yellow"), strip_controls(text)))


def note(text: str) -> None:
    console(err=True).print(styled((strip_controls(text), "dim")))


def seconds(value: float) -> str:
    if value < 60:
        return f"{value:.1f}s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m{rest:02}s" if hours else f"{minutes}m{rest:02}s"


def money(value: float | None) -> str:
    return (
        "cost unknown"
        if value is None
        else f"${value:.2f}"
        if value >= 0.01 or not value
        else f"${value:.4f}"
    )


def clock(moment: str | None) -> str:
    """A time of the API's, for a person."""
    return moment[:16].replace("T", " ") + " UTC" if moment else ""


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def kept(order: dict[str, Any]) -> str:
    """What there is of an order that did not come to a good end, and where."""
    found = order["kept"]
    if found is None:
        return ""
    count = found["git_commit_count"]
    branch = f"{counted(count, 'commit')} on {found['git_branch_name']}" if count else ""
    snapshot = f"snapshot {found['snapshot_ref']}" if found["snapshot_ref"] else ""
    parts = [branch, snapshot, found["github_pull_request_url"] or ""]
    return ", ".join(part for part in parts if part) or "nothing, for nothing was written"


def lasted(order: dict[str, Any]) -> str:
    """How long it was worked on; time that it waited for people or between rounds does not count."""
    return seconds(order["active_seconds"]) if order["active_seconds"] else ""
