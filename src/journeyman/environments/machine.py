"""What of this machine an installed environment depends on, found without starting a program.

A tool that was replaced is another file; asking each for its version would take longer than to mount a layer.
"""

import os
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from journeyman.environments.key import Machine
from journeyman.sandboxes.jail import search_path
from journeyman.settings import Settings

_OS_RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


def read_machine(settings: Settings, tools: Iterable[str]) -> Machine:
    path = search_path(settings.sandbox_paths)
    found = {name: _identity(place) for name in tools if (place := shutil.which(name, path=path))}
    return Machine(architecture=os.uname().machine, system=_system(), tools=found)


def _identity(place: str) -> str:
    facts = os.stat(place)
    return f"{os.path.realpath(place)} {facts.st_size} {facts.st_mtime_ns}"


@cache
def _system() -> str:
    for path in _OS_RELEASE:
        if path.is_file():
            facts = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
            names = (facts.get(name, "").strip('"') for name in ("ID", "VERSION_ID", "BUILD_ID"))
            return " ".join(name for name in names if name)
    return os.uname().sysname
