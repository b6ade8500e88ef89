"""Cursor's `.cursor/environment.json`: a command that installs, and others that go on running."""

from journeyman.environments.adopted.reader import Reader
from journeyman.environments.definition import Definition
from journeyman.environments.project import Project

_PATH = ".cursor/environment.json"


def adopt(project: Project) -> Definition | None:
    if not project.has(_PATH):
        return None
    reader = Reader(_PATH)
    file = reader.mapping(project)
    if file is None:
        return reader.definition()
    if file.get("build") or file.get("snapshot"):
        reader.note("its image is built by Cursor and is not used here")
    if "install" in file:
        reader.install(file["install"])
    if "start" in file:
        reader.start(file["start"], in_background=True)
    terminals = file.get("terminals") or []
    for terminal in terminals if isinstance(terminals, list) else [terminals]:
        reader.start(terminal.get("command") if isinstance(terminal, dict) else None, in_background=True)
    reader.set_variables(file.get("env"))
    return reader.definition()
