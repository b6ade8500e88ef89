"""Commands that a repository brings: `.claude/commands/**/*.md`, called as `/name arguments` in a prompt.

A command is text for an agent and nothing else: what looks like a shell command or a file in it is neither
run nor read here. An invalid file is left out and reported; the others are used.
"""

import re
import shlex
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from journeyman.errors import InvalidInput
from journeyman.work_orders.order import MAX_PROMPT_CHARACTERS

DIRECTORY = ".claude/commands"
MAX_FILES = 100
MAX_BYTES = 64_000

_MAX_LINE_CHARACTERS = 300
_WORD = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_PATH = re.compile(rf"{re.escape(DIRECTORY)}/((?:{_WORD}/){{0,4}}{_WORD})\.md")
_CALLED = re.compile(rf"/({_WORD}(?::{_WORD}){{0,4}})(?:\s+(.*))?", re.DOTALL)
_HEAD = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PLAIN_LINE = re.compile(r"(description|argument-hint):[ \t]+(?![\"'|>])(.+)")
_PLACEHOLDER = re.compile(r"\\?\$(ARGUMENTS|[1-9](?![0-9]))")


@dataclass(frozen=True)
class CommandFile:
    """A file of the commands' directory, unparsed."""

    path: str
    size: int
    is_link: bool = False
    content: bytes = b""
    """Empty for a file that is too large to be read."""


@dataclass(frozen=True)
class Command:
    name: str
    """`test`, or `frontend:test` for one in a directory below."""
    description: str
    argument_hint: str
    path: str
    body: str = field(repr=False)


@dataclass(frozen=True)
class CommandFileProblem:
    path: str
    message: str
    hint: str


@dataclass(frozen=True)
class CommandCall:
    """A prompt that has the shape of a command's call."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Commands:
    """The valid commands of a repository, and what is wrong with the other files."""

    commands: tuple[Command, ...] = ()
    problems: tuple[CommandFileProblem, ...] = ()

    def find(self, name: str) -> Command | None:
        """The command of this name; the last part is enough where only one command ends with it."""
        exact = [one for one in self.commands if one.name == name]
        ending = [one for one in self.commands if one.name.rpartition(":")[2] == name]
        return exact[0] if exact else ending[0] if len(ending) == 1 else None


def is_wanted(path: str) -> bool:
    """Whether a path is a command's, or what stands where their directory should be."""
    return path.endswith(".md") or path == DIRECTORY


def read_commands(files: Iterable[CommandFile]) -> Commands:
    """Parse the files below the directory; those that are not Markdown are ignored."""
    commands: list[Command] = []
    problems: list[CommandFileProblem] = []
    wanted = sorted((file for file in files if is_wanted(file.path)), key=lambda file: file.path)
    for file in wanted[:MAX_FILES]:
        try:
            commands.append(_read(file))
        except InvalidInput as error:
            problems.append(CommandFileProblem(file.path, error.message, error.hint))
    if (more := len(wanted) - MAX_FILES) > 0:
        message = f"{more} more files are not read: a repository may have {MAX_FILES} commands"
        problems.append(CommandFileProblem(DIRECTORY, message, "Remove commands that are not needed."))
    return Commands(tuple(sorted(commands, key=lambda one: one.name)), tuple(problems))


def call_in(prompt: str) -> CommandCall | None:
    """The call that a prompt begins with; None for anything else, a path such as `/etc/hosts` among it."""
    found = _CALLED.fullmatch(prompt.strip())
    return CommandCall(found[1], found[2] or "") if found else None


def expand(command: Command, arguments: str) -> str:
    """The command's text with the arguments in their places, or after it where it has no place for them."""
    words = _words(arguments)

    def fill(found: re.Match[str]) -> str:
        if found[0].startswith("\\"):
            return found[0][1:]
        if found[1] == "ARGUMENTS":
            return arguments
        place = int(found[1])
        return words[place - 1] if place <= len(words) else ""

    places = [one for one in _PLACEHOLDER.finditer(command.body) if not one[0].startswith("\\")]
    longest = len(command.body) + max(1, len(places)) * len(arguments)
    if longest > MAX_PROMPT_CHARACTERS:
        raise InvalidInput(
            f"/{command.name} with these arguments has more than {MAX_PROMPT_CHARACTERS:,} characters",
            hint="Call it with shorter arguments.",
        )
    text = _PLACEHOLDER.sub(fill, command.body)
    return text if places or not arguments else f"{text}\n\nArguments: {arguments}"


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a quote that is an apostrophe
        return arguments.split()


def _read(file: CommandFile) -> Command:
    if file.is_link:
        raise InvalidInput("it is a link, which is not followed", hint="Put the file itself there.")
    if (found := _PATH.fullmatch(file.path)) is None:
        raise InvalidInput(
            "its name cannot be called",
            hint="Use letters, digits, '-' and '_', at most 64 in each part, at most four directories deep.",
        )
    if file.size > MAX_BYTES:
        raise InvalidInput(
            f"it has {file.size:,} bytes; a command may have {MAX_BYTES:,}",
            hint="Put long material into another file and refer to it.",
        )
    head, body = _split_front_matter(_text(file.content))
    if not body:
        raise InvalidInput("it says nothing", hint="Write what the agent should do, or remove the file.")
    first = next(line for line in body.splitlines() if line.strip())
    return Command(
        name=found[1].replace("/", ":"),
        description=_line(head.get("description")) or _line(first.lstrip("# ")),
        argument_hint=_line(head.get("argument-hint")),
        path=file.path,
        body=body,
    )


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"it is not valid UTF-8 (byte {error.start})", hint="Save the file as UTF-8."
        ) from None
    bad = next((c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"), None)
    if bad is not None:
        raise InvalidInput(f"it holds the control character U+{ord(bad):04X}", hint="Remove it.")
    return text


def _split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Front matter and body. Unknown keys belong to other programs and are ignored."""
    if not text.startswith("---"):
        return {}, text.strip()
    if (found := _HEAD.match(text)) is None:
        raise InvalidInput("its front matter has no end", hint="End it with a line of three dashes.")
    plain: dict[str, Any] = {}
    rest = []
    for line in found[1].splitlines():
        # Taken as they stand: `[file] [line]` and `Fix: it` are common here, and are no YAML.
        if said := _PLAIN_LINE.fullmatch(line):
            plain[said[1]] = said[2].strip()
        else:
            rest.append(line)
    try:
        others = yaml.safe_load("\n".join(rest)) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = error.problem if isinstance(error, yaml.MarkedYAMLError) else "its values cannot be read"
        raise InvalidInput(
            f"its front matter is not valid YAML: {why}", hint="Write one `key: value` a line."
        ) from None
    if not isinstance(others, dict):
        raise InvalidInput("its front matter is no table", hint="Write one `key: value` a line.")
    return others | plain, text[found.end() :].strip()


def _line(value: object) -> str:
    """A value of the front matter as one line for people."""
    if isinstance(value, list):
        value = " ".join(f"[{one}]" for one in value)
    if not isinstance(value, str | int | float):
        return ""
    line = " ".join(str(value).split())
    return line if len(line) <= _MAX_LINE_CHARACTERS else line[: _MAX_LINE_CHARACTERS - 1].rstrip() + "…"
