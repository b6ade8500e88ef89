"""The built-in agent's tools. Each runs in the sandbox; none touches the host.

A tool that fails returns what went wrong, so that the model can do better. Only a lost sandbox is raised,
because nothing the model does could help with it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from journeyman.agents.limits import MAX_OUTPUT_CHARACTERS
from journeyman.sandboxes.base import Sandbox

MAX_FILE_BYTES = 2_000_000
MAX_WRITE_CHARACTERS = 1_000_000
DEFAULT_COMMAND_SECONDS = 120.0
DEFAULT_READ_LINES = 2000

_LONGEST_LINE = 5000
_RESERVED_FOR_NOTES = 500

_SEARCH = """
if command -v rg >/dev/null 2>&1; then
  exec rg --line-number --no-heading --color=never --max-columns=300 --max-columns-preview --sort=path \\
    -e "$1" -- "$2"
fi
exec grep -rnIE --exclude-dir=.git -e "$1" -- "$2"
"""


@dataclass(frozen=True)
class ToolOutput:
    ok: bool
    output: str
    exit_code: int | None = None


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    return text


Plain = Annotated[str, AfterValidator(_without_nul)]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Shell(_Arguments):
    """Run a command with bash in the workspace and get its output and exit code."""

    command: Plain = Field(min_length=1)
    timeout_seconds: float | None = Field(
        default=None, gt=0, description=f"{DEFAULT_COMMAND_SECONDS:g} when left out."
    )


class ReadFile(_Arguments):
    """Read a text file of the workspace. Each line comes with its number and a tab before it."""

    path: Plain = Field(min_length=1)
    offset: int = Field(default=1, ge=1, description="First line, counted from 1.")
    limit: int = Field(default=DEFAULT_READ_LINES, ge=1, description="Number of lines.")


class WriteFile(_Arguments):
    """Write a whole file, making the directories above it. What was in it is gone."""

    path: Plain = Field(min_length=1)
    content: str = Field(max_length=MAX_WRITE_CHARACTERS)


class EditFile(_Arguments):
    """Replace an exact piece of a file. `old` must occur exactly once unless `replace_all` is set."""

    path: Plain = Field(min_length=1)
    old: str = Field(min_length=1, description="The text as it stands in the file, with its indentation.")
    new: str = Field(max_length=MAX_WRITE_CHARACTERS)
    replace_all: bool = False


class Search(_Arguments):
    """Search the files of the workspace for a regular expression; answers `path:line:text`."""

    pattern: Plain = Field(min_length=1)
    path: Plain = Field(default=".", min_length=1, description="File or directory to search in.")


@dataclass(frozen=True)
class Tool:
    name: str
    arguments: type[_Arguments]
    run: Callable[["ToolRunner", Any], Awaitable[ToolOutput]]
    writes: bool = False


class ToolRunner:
    """The tools of one turn, at one sandbox."""

    def __init__(self, sandbox: Sandbox, *, longest_command_seconds: float) -> None:
        self.sandbox = sandbox
        self.longest_command_seconds = longest_command_seconds
        self._writing = asyncio.Lock()

    async def run(self, tool: Tool, arguments: BaseModel) -> ToolOutput:
        try:
            if not tool.writes:
                return await tool.run(self, arguments)
            # The tool calls of one message run concurrently; two edits of a file must not lose one another.
            async with self._writing:
                return await tool.run(self, arguments)
        except OSError as error:
            path = getattr(arguments, "path", "")
            return ToolOutput(False, f"{path}: {error.strerror or error}")


async def _shell(runner: ToolRunner, arguments: Shell) -> ToolOutput:
    asked = arguments.timeout_seconds or DEFAULT_COMMAND_SECONDS
    seconds = min(asked, runner.longest_command_seconds)
    done = await runner.sandbox.execute_command(arguments.command, timeout=seconds)
    ending = (
        f"[ended after {seconds:g} seconds: time limit]"
        if done.timed_out
        else f"[exit code {done.exit_code}]"
    )
    return ToolOutput(done.ok, f"{done.output.rstrip()}\n{ending}".lstrip(), done.exit_code)


async def _read_file(runner: ToolRunner, arguments: ReadFile) -> ToolOutput:
    content = await runner.sandbox.read_file(arguments.path, limit=MAX_FILE_BYTES)
    if b"\0" in content[:8192]:
        return ToolOutput(False, f"{arguments.path} is a binary file")
    if not content:
        return ToolOutput(True, "[the file is empty]")
    lines = content.decode("utf-8", "replace").removesuffix("\n").split("\n")
    first = arguments.offset - 1
    if first >= len(lines):
        return ToolOutput(False, f"{arguments.path} has only {len(lines)} lines")
    numbered = _numbered(lines[first : first + arguments.limit], first + 1)
    last = first + len(numbered)
    text = "\n".join(numbered)
    if len(numbered) < len(lines):
        going_on = f"; go on with offset {last + 1}" if last < len(lines) else ""
        text = f"[lines {first + 1} to {last} of {len(lines)}{going_on}]\n{text}"
    if len(content) == MAX_FILE_BYTES:
        text += (
            f"\n[only the first {MAX_FILE_BYTES:,} bytes of the file can be read; use a command for the rest]"
        )
    return ToolOutput(True, text)


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    """Lines with their numbers, as many as one answer can hold; of a very long line only the beginning."""
    numbered: list[str] = []
    room = MAX_OUTPUT_CHARACTERS - _RESERVED_FOR_NOTES
    for number, line in enumerate(lines, start=first):
        shown = f"{number}\t{line[:_LONGEST_LINE]}"
        if len(line) > _LONGEST_LINE:
            shown += f" [… {len(line) - _LONGEST_LINE:,} more characters of this line …]"
        room -= len(shown) + 1
        if room < 0:
            break
        numbered.append(shown)
    return numbered


async def _write_file(runner: ToolRunner, arguments: WriteFile) -> ToolOutput:
    content = arguments.content.encode()
    await runner.sandbox.write_file(arguments.path, content)
    return ToolOutput(True, f"wrote {len(content):,} bytes to {arguments.path}")


async def _edit_file(runner: ToolRunner, arguments: EditFile) -> ToolOutput:
    content = await runner.sandbox.read_file(arguments.path, limit=MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        return ToolOutput(False, f"{arguments.path} is too large to edit; use a command")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return ToolOutput(False, f"{arguments.path} is not UTF-8 text; use a command")
    if "\r\n" in text and "\r\n" not in arguments.old:
        # Models write plain line breaks; the file keeps its own.
        arguments = arguments.model_copy(
            update={
                "old": arguments.old.replace("\n", "\r\n"),
                "new": arguments.new.replace("\r\n", "\n").replace("\n", "\r\n"),
            }
        )
    problem = _why_not(text, arguments)
    if problem:
        return ToolOutput(False, problem)
    count = text.count(arguments.old)
    changed = text.replace(arguments.old, arguments.new)
    await runner.sandbox.write_file(arguments.path, changed.encode())
    return ToolOutput(
        True, f"replaced {count} {'occurrence' if count == 1 else 'occurrences'} in {arguments.path}"
    )


def _why_not(text: str, edit: EditFile) -> str:
    """What keeps an edit from being made, or nothing."""
    if edit.old == edit.new:
        return "old and new are the same"
    count = text.count(edit.old)
    if count == 0:
        return f"old was not found in {edit.path}; it must match exactly.{_nearest(text, edit.old)}"
    if count > 1 and not edit.replace_all:
        return f"old occurs {count} times in {edit.path}; give more lines around it, or set replace_all"
    return ""


def _nearest(text: str, old: str) -> str:
    """Where the first line stands with other spacing: what most failed edits get wrong."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    for number, line in enumerate(text.split("\n"), start=1):
        if wanted and line.strip() == wanted:
            return f" Line {number} is {line!r}."
    return ""


async def _search(runner: ToolRunner, arguments: Search) -> ToolOutput:
    done = await runner.sandbox.execute_command(
        ["bash", "-c", _SEARCH, "search", arguments.pattern, arguments.path],
        timeout=min(60.0, runner.longest_command_seconds),
    )
    if done.exit_code == 1 and not done.output.strip():
        return ToolOutput(True, "[no matches]")
    if done.timed_out:
        return ToolOutput(False, f"{done.output}\n[the search took too long; narrow the path]")
    return ToolOutput(done.ok, done.output, done.exit_code)


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("shell", Shell, _shell),
        Tool("read_file", ReadFile, _read_file),
        Tool("write_file", WriteFile, _write_file, writes=True),
        Tool("edit_file", EditFile, _edit_file, writes=True),
        Tool("search", Search, _search),
    )
}
