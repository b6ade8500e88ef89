"""Collects what can be used of a file that was written for another product, and a note for the rest.

Every value passes the rules of our own environment file, so that nothing gets in here that could not be
written there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from journeyman.environments import schema
from journeyman.environments.adopted.shell import without_root
from journeyman.environments.definition import Definition, canonical_tool
from journeyman.environments.document import is_printable
from journeyman.environments.plan import InstallCommand, Service, ToolNeed
from journeyman.environments.project import Project
from journeyman.environments.yaml_text import comment

_MAX_NOTES = 30
_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)


class Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self._notes: list[str] = []
        self._install: list[InstallCommand] = []
        self._start: list[Service] = []
        self._env: dict[str, str] = {}
        self._tools: dict[str, ToolNeed] = {}

    def note(self, what: str) -> None:
        text = f"{self.source}: {comment(what)}"
        if len(self._notes) < _MAX_NOTES and text not in self._notes:
            self._notes.append(text)

    def text(self, project: Project) -> str | None:
        if self.source not in project.contents:
            self.note("it is too large to be read, and was left out")
        return project.contents.get(self.source)

    def mapping(self, project: Project) -> Mapping[str, Any] | None:
        """A JSON file with comments and trailing commas; a note where it is not a mapping."""
        text = self.text(project)
        if text is None:
            return None
        plain = _COMMENTS.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
        try:
            value = json.loads(_TRAILING_COMMA.sub(lambda found: found[1] or " ", plain))
        except (ValueError, RecursionError) as error:
            self.note(f"it is not JSON ({error}), and was left out")
            return None
        if not isinstance(value, dict):
            self.note("it is not a mapping of fields, and was left out")
            return None
        return value

    def install(self, command: object, workdir: str = ".") -> None:
        if not self._has_room("install", len(self._install), schema.MAX_COMMANDS):
            return
        usable = self._usable(command)
        if usable and self.valid("install", [{"command": usable, "workdir": workdir}]):
            self._install.append(InstallCommand(command=usable, why=self.source, workdir=workdir))

    def start(self, command: object, *, in_background: bool) -> None:
        if not self._has_room("start", len(self._start), schema.MAX_SERVICES):
            return
        usable = self._usable(command)
        if usable and self.valid("start", [usable]):
            background = in_background and not usable.endswith("&")
            self._start.append(Service(command=f"{usable} &" if background else usable))

    def _has_room(self, name: str, count: int, most: int) -> bool:
        if count >= most:
            self.note(f"it has more than {most} commands for '{name}'; the rest was left out")
        return count < most

    def set_variables(self, values: object) -> None:
        if values is None:
            return
        if not isinstance(values, dict):
            self.note("its variables are not a mapping, and were left out")
            return
        for name, value in values.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if not isinstance(value, str | int | float):
                self.note(f"the variable {name} is not text, and was left out")
            elif self.valid("env", {str(name): text}):
                self._env[str(name)] = text

    def need_tool(self, name: str, version: object) -> None:
        if isinstance(version, int | float) and not isinstance(version, bool):
            version = f"{version:g}"
        if isinstance(version, str) and self.valid("tools", {name: version}):
            tool = canonical_tool(name)
            self._tools.setdefault(tool, ToolNeed(tool=tool, version=version, said_in=self.source))

    def valid(self, field: str, value: object) -> Any:
        """The value as our own file would have it, or None and a note."""
        if not all(map(is_printable, _texts_in(value))):
            self.note(f"{field}: a text holds a control character, and was left out")
            return None
        try:
            return getattr(schema.EnvironmentFile.model_validate({field: value}), field)
        except ValidationError as error:
            first = error.errors()[0]
            what = first.get("ctx", {}).get("what") or first["msg"]
            self.note(f"{field}: {what}; it was left out")
            return None

    def definition(self, *, workdir: str | None = None, image: str | None = None) -> Definition:
        """Without commands in it where none could be used, so that detection finds its own."""
        return Definition(
            source=self.source,
            install=tuple(self._install) or None,
            start=tuple(self._start) or None,
            env=dict(self._env),
            workdir=workdir,
            image=image,
            tools=tuple(self._tools.values()),
            notes=tuple(self._notes),
            is_adopted=True,
        )

    def _usable(self, command: object) -> str | None:
        if not isinstance(command, str):
            self.note("a command is not text, and was left out")
            return None
        if len(command) > schema.MAX_COMMAND:
            self.note(f"a command is longer than {schema.MAX_COMMAND:,} characters, and was left out")
            return None
        usable, notes = without_root(command.replace("\r\n", "\n"))
        for note in notes:
            self.note(note)
        return usable.strip() or None


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _texts_in(list(pair))
    elif isinstance(value, list):
        for one in value:
            yield from _texts_in(one)
