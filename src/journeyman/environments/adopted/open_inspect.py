"""Open-Inspect's `.openinspect/setup.sh` and `start.sh`: scripts for its set-up, and before each session."""

from journeyman.environments.adopted.reader import Reader
from journeyman.environments.adopted.shell import needs_root
from journeyman.environments.definition import Definition
from journeyman.environments.project import Project

_SETUP, _START = ".openinspect/setup.sh", ".openinspect/start.sh"


def adopt(project: Project) -> Definition | None:
    found = [path for path in (_SETUP, _START) if project.has(path)]
    if not found:
        return None
    reader = Reader(found[0])
    for path in found:
        if needs_root(project.text(path)):
            reader.note(f"{path} asks for root, which nothing in the sandbox has; that part of it will fail")
    if _SETUP in found:
        reader.install(f"bash {_SETUP}")
    if _START in found:
        reader.start(f"bash {_START}", in_background=False)
    return reader.definition()
