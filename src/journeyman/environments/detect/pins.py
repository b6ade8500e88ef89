"""Versions that a repository pins for version managers: `.tool-versions`, `mise.toml`, `.java-version`.

The nearest file counts, then that of the root.
"""

import tomllib
from collections.abc import Iterator

from journeyman.environments.detect.found import under
from journeyman.environments.plan import ToolNeed
from journeyman.environments.project import Project

_NAMES = {
    "java": ("java",),
    "ruby": ("ruby",),
    "php": ("php",),
    "go": ("golang", "go"),
    "cargo": ("rust",),
    "dotnet": ("dotnet", "dotnet-core", "dotnet-sdk"),
    "cmake": ("cmake",),
    "mvn": ("maven",),
    "gradle": ("gradle",),
}
_OWN_FILES = {"java": ".java-version", "ruby": ".ruby-version", "go": ".go-version"}


def pinned(project: Project, directory: str, tool: str) -> ToolNeed | None:
    for place in dict.fromkeys((directory, "")):
        for path, version in _said(project, place, tool):
            if version:
                return ToolNeed(tool=tool, version=version, said_in=path)
    return None


def _said(project: Project, place: str, tool: str) -> Iterator[tuple[str, str]]:
    names = _NAMES.get(tool, (tool,))
    if own := _OWN_FILES.get(tool):
        path = under(place, own)
        yield path, _first_word(project.text(path))
    if tool in ("java", "mvn", "gradle"):
        path = under(place, ".sdkmanrc")
        yield path, _assigned(project.text(path), names[0])
    path = under(place, ".tool-versions")
    for line in project.text(path).splitlines():
        name, _, versions = line.partition("#")[0].strip().partition(" ")
        if name in names:
            yield path, _first_word(versions)
    for name in ("mise.toml", ".mise.toml", ".config/mise.toml"):
        path = under(place, name)
        yield path, _of_mise(project.text(path), names)


def _first_word(text: str) -> str:
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    words = next((line.split() for line in lines if line), [])
    return words[0] if words else ""


def _assigned(text: str, name: str) -> str:
    pairs = (line.partition("=") for line in text.splitlines())
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _of_mise(text: str, names: tuple[str, ...]) -> str:
    try:
        tools = tomllib.loads(text).get("tools", {})
    except tomllib.TOMLDecodeError:
        return ""
    for name in names:
        value = tools.get(name) if isinstance(tools, dict) else None
        value = value[0] if isinstance(value, list) and value else value
        value = value.get("version") if isinstance(value, dict) else value
        if isinstance(value, str | int | float):
            return str(value)
    return ""
