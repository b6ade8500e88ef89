"""The lines of an environment file that is proposed: with comments, and as a person would write them."""

import re
from collections.abc import Mapping, Sequence

import yaml

_UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffc\U00010000-\U0010ffff]+"
)
Fields = Mapping[str, str | float | bool | Sequence[str] | None]
"""The long form of an entry; what is None or empty is not written."""


def comment(text: str) -> str:
    """One line, without anything that could end the comment."""
    return _UNPRINTABLE.sub(" ", text)[:300]


def quoted(text: str) -> str:
    """Text on one line, in quotes where YAML would read it as something else."""
    dumped = yaml.safe_dump(text, width=float("inf"), allow_unicode=True, default_flow_style=True)
    line = dumped.removesuffix("\n").removesuffix("\n...")
    if "\n" in line:
        line = yaml.safe_dump(text, width=float("inf"), default_style='"').removesuffix("\n")
    return line


def section(name: str, entries: Sequence[Sequence[str]]) -> list[str]:
    """A field and what is below it; nothing where that is empty."""
    if not entries:
        return []
    return ["", f"{name}:", *(f"  {line}" for entry in entries for line in entry)]


def pair(name: str, value: str) -> list[str]:
    return [f"{quoted(name)}: {quoted(value)}"]


def item(command: str, more: Fields, why: str = "") -> list[str]:
    """An entry of a list of commands: plain where the command says all."""
    said = f"  # {comment(why)}" if why and "\n" not in command else ""
    if not any(more.values()):
        return _indented(f"- {_block(command)}{said}", 2)
    first, *others = [f"command: {_block(command)}{said}", *_fields(more)]
    return [*_indented(f"- {first}", 4), *(line for one in others for line in _indented(f"  {one}", 4))]


def named(name: str, command: str, more: Fields, why: str = "") -> list[str]:
    """A command under its name: plain where that says all."""
    said = f"  # {comment(why)}" if why and "\n" not in command else ""
    if not any(more.values()):
        return _indented(f"{quoted(name)}: {_block(command)}{said}", 2)
    entries = [f"command: {_block(command)}{said}", *_fields(more)]
    return [f"{quoted(name)}:", *(line for one in entries for line in _indented(f"  {one}", 4))]


def _fields(more: Fields) -> list[str]:
    found = []
    for name, value in more.items():
        if isinstance(value, bool):
            found += [f"{name}: true"] if value else []
        elif isinstance(value, float):
            found.append(f"{name}: {value:g}")
        elif isinstance(value, str):
            found += [f"{name}: {_block(value)}"] if value else []
        elif value:
            found.append(f"{name}: [{', '.join(map(_in_list, value))}]")
    return found


def _in_list(text: str) -> str:
    return (
        quoted(text)
        if re.fullmatch(r"[\w./-]+", text)
        else yaml.safe_dump(text, default_style='"', width=float("inf")).removesuffix("\n")
    )


def _block(text: str) -> str:
    """Several lines are shown as such where YAML keeps every character of them."""
    lines = text.split("\n")
    is_plain = not _UNPRINTABLE.search("".join(lines)) and not lines[0].startswith(" ") and all(lines)
    return "|-\n" + text if len(lines) > 1 and is_plain else quoted(text)


def _indented(text: str, depth: int) -> list[str]:
    """The lines of a block are further in than the field that they belong to."""
    first, *others = text.split("\n")
    return [first, *(" " * depth + line for line in others)]
