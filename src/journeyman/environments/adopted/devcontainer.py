"""`devcontainer.json` of the Dev Container specification: an image, and commands for stages of its life.

Its image is noted, not used by jails; its commands name paths of that image, which are rewritten to the
sandbox's workspace.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from journeyman.environments.adopted.reader import Reader
from journeyman.environments.definition import Definition
from journeyman.environments.project import Project

_WORKSPACE = "/workspace"
_FIRST = (".devcontainer/devcontainer.json", ".devcontainer.json")
_SEVERAL = re.compile(r"\.devcontainer/[^/]+/devcontainer\.json")
_INSTALL = ("onCreateCommand", "updateContentCommand", "postCreateCommand")
_IGNORED = {
    "initializeCommand": "it is for the developer's own machine",
    "postAttachCommand": "it is for an editor",
}
_VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?(?::([^}]*))?\}")
_FOLDERS = {
    "containerWorkspaceFolder": _WORKSPACE,
    "localWorkspaceFolder": _WORKSPACE,
    "containerWorkspaceFolderBasename": "workspace",
    "localWorkspaceFolderBasename": "workspace",
}
_FEATURE = re.compile(r"(?:^|/)features/(python|node|go|rust|java|ruby|php|dotnet)(?::|$)")
_ANY_VERSION = ("latest", "lts", "none", "os-provided", "stable", "system", "")


def adopt(project: Project) -> Definition | None:
    several = sorted(path for path in project.paths if _SEVERAL.fullmatch(path))
    path = next((one for one in (*_FIRST, *several) if project.has(one)), None)
    if path is None:
        return None
    reader = Reader(path)
    if path in several[:1] and len(several) > 1:
        reader.note(f"the repository has {len(several)} such files; this is the first")
    file = reader.mapping(project)
    return reader.definition() if file is None else _definition(reader, file, project)


def _definition(reader: Reader, file: Mapping[str, Any], project: Project) -> Definition:
    written = file.get("workspaceFolder")
    folder, workdir = _folders(_rewritten(written), project) if isinstance(written, str) else ("", None)
    for name in _INSTALL:
        for command in _commands(reader, name, file.get(name)):
            reader.install(_rewritten(command, folder))
    for command in _commands(reader, "postStartCommand", file.get("postStartCommand")):
        reader.start(_rewritten(command, folder), in_background=False)
    for name, why in _IGNORED.items():
        if file.get(name):
            reader.note(f"{name} was left out: {why}")
    for name in ("containerEnv", "remoteEnv"):
        reader.set_variables(_variables(reader, file.get(name)))
    _note_image(reader, file)
    _features(reader, file.get("features"))
    image = file.get("image")
    valid = reader.valid("image", _rewritten(image)) if isinstance(image, str) else None
    return reader.definition(workdir=workdir, image=valid)


def _commands(reader: Reader, name: str, value: object) -> list[str]:
    """A text for a shell, the words of one command, or several of both by name."""
    if value is None or value in ("", [], {}):
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return [shlex.join(value)]
    if isinstance(value, dict) and not any(isinstance(one, dict) for one in value.values()):
        return [command for one in value.values() for command in _commands(reader, name, one)]
    reader.note(f"{name} is not a command, and was left out")
    return []


def _variables(reader: Reader, values: object) -> object:
    """Without those that are taken from the developer's machine and say no default."""
    if not isinstance(values, dict):
        return values
    kept = {}
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, str) and any(
            found[1] not in _FOLDERS and found[3] is None for found in _VARIABLE.finditer(value)
        ):
            reader.note(f"the variable {name} was left out: its value is that of another machine")
        else:
            kept[name] = _rewritten(value) if isinstance(value, str) else value
    return kept


def _rewritten(text: str, folder: str = "") -> str:
    """With the variables of the specification replaced, and paths of the container's workspace by ours."""

    def value(found: re.Match[str]) -> str:
        if found[1] in _FOLDERS:
            return _FOLDERS[found[1]]
        return (found[3] or "") if found[1] in ("localEnv", "containerEnv", "env") else found[0]

    replaced = _VARIABLE.sub(value, text)
    if not folder:
        return replaced
    return re.sub(rf"(?<![\w./-]){re.escape(folder)}(?![\w.-])", _WORKSPACE, replaced)


def _folders(folder: str, project: Project) -> tuple[str, str | None]:
    """Where the container has the repository, and the directory of it in which an editor opens."""
    parts = [part for part in folder.split("/") if part]
    depth = 2 if parts[:1] == ["workspaces"] else 1
    inside = "/".join(parts[depth:])
    if any(path.startswith(f"{inside}/") for path in project.paths):
        return "/" + "/".join(parts[:depth]), inside
    return "/" + "/".join(parts) if parts else "", None


def _note_image(reader: Reader, file: Mapping[str, Any]) -> None:
    build = file.get("build")
    dockerfile = file.get("dockerFile") or (build.get("dockerfile") if isinstance(build, dict) else None)
    if dockerfile:
        reader.note(f"what {dockerfile} installs is not there: images are not built here")
    if file.get("dockerComposeFile"):
        reader.note(
            "its services are containers, which are not started here; "
            "name programs under 'start' of an environment file instead"
        )


def _features(reader: Reader, features: object) -> None:
    if not isinstance(features, dict):
        return
    others = []
    for name, options in features.items():
        found = _FEATURE.search(str(name))
        if not found:
            others.append(str(name).rpartition("/")[2].partition(":")[0])
            continue
        version = options.get("version") if isinstance(options, dict) else options
        if isinstance(version, str | int | float) and str(version).lower() not in _ANY_VERSION:
            reader.need_tool(found[1], version)
    if others:
        reader.note(f"features are not installed here: {', '.join(sorted(others))}")
