"""Who says what a repository needs, best first: the server, its own file, files of other products, detection.

Our own file is an agreement, so a mistake in it ends the order with its line. A file of another product is a
hint, so what cannot be used of it is a note.
"""

import shlex
from collections.abc import Iterable
from dataclasses import replace

from journeyman.environments.adopted import copilot, cursor, devcontainer, open_inspect
from journeyman.environments.definition import Definition, apply, parse_definition, too_large
from journeyman.environments.plan import Environment, InstallCommand
from journeyman.environments.project import Project

SERVER = "server"
ENVIRONMENT_FILE = ".journeyman/environment.yaml"
_OTHER_SPELLING = ".journeyman/environment.yml"


def resolve(project: Project, *, stored: str | None, detected: Environment) -> Environment:
    """Raises InvalidEnvironment where the definition of the server or of the repository is wrong.

    `project` is the base commit's, so that an agent cannot widen what it may do; `stored` is the text that
    the server has for the repository.
    """
    definition = _own(project, stored)
    if definition is None:
        definition = _adopted(project, detected)
    if definition is None:
        return detected
    environment = apply(definition, detected)
    return replace(environment, key_files=_key_files(environment, project))


def own_file(project: Project) -> str | None:
    """The path of the repository's own definition, where it has one."""
    return next((path for path in (ENVIRONMENT_FILE, _OTHER_SPELLING) if project.has(path)), None)


def _own(project: Project, stored: str | None) -> Definition | None:
    if stored is not None:
        return parse_definition(stored, source=SERVER)
    found = [path for path in (ENVIRONMENT_FILE, _OTHER_SPELLING) if project.has(path)]
    if not found:
        return None
    if found[0] not in project.contents:
        raise too_large(found[0])
    definition = parse_definition(project.text(found[0]), source=found[0])
    if len(found) == 1:
        return definition
    return replace(definition, notes=(*definition.notes, f"{found[1]} is not read beside {found[0]}."))


def _adopted(project: Project, detected: Environment) -> Definition | None:
    """The first that has commands, or else the first that says anything, with the notes of those before."""
    adopters = (devcontainer.adopt, cursor.adopt, copilot.adopt, open_inspect.adopt)
    found = [one for one in (adopt(project) for adopt in adopters) if one is not None]
    if not found:
        return None
    chosen = next((one for one in found if one.install or one.start), None)
    chosen = chosen or next((one for one in found if one.image or one.env or one.tools), None)
    if chosen is None:
        notes = [note for one in found for note in one.notes]
        return Definition(source=detected.source, notes=tuple(notes), is_adopted=True)
    notes = [note for one in found[: found.index(chosen) + 1] for note in one.notes]
    return replace(chosen, notes=tuple(notes))


def _key_files(environment: Environment, project: Project) -> tuple[str, ...]:
    """Those of detection, the definition itself, and scripts of the repository that install commands call."""
    scripts = [path for one in environment.install for path in _paths_in(one) if project.has(path)]
    own = [environment.source] if project.has(environment.source) else []
    return tuple(dict.fromkeys((*environment.key_files, *own, *scripts)))


def _paths_in(install: InstallCommand) -> Iterable[str]:
    try:
        words = shlex.split(install.command, comments=True)
    except ValueError:  # a quotation that does not end
        words = install.command.split()
    here = "" if install.workdir == "." else f"{install.workdir}/"
    for word in words:
        path = (
            word.removeprefix("/workspace/")
            if word.startswith("/workspace/")
            else here + word.removeprefix("./")
        )
        yield path.rstrip(";")
