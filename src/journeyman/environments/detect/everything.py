"""Detection with all ecosystems, and with what CI files say in passing."""

from dataclasses import replace

from journeyman.environments.detect import dotnet, go, java, native, node, php, python, ruby, rust
from journeyman.environments.detect.ci_hints import read_hints
from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.plan import Environment
from journeyman.environments.project import Project

_ECOSYSTEMS = (
    *(python.detect, node.detect, rust.detect, go.detect, java.detect, ruby.detect, php.detect),
    *(dotnet.detect, native.detect),
)


def detect_everything(project: Project) -> Environment:
    hints, notes = read_hints(project)
    environment = detect_environment(project, hints, _ECOSYSTEMS)
    return replace(environment, notes=(*environment.notes, *notes))
