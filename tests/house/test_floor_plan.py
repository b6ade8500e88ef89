"""Who may import whom: a room uses the rooms to its right, never one to its left or beside it.

Imports inside functions and under TYPE_CHECKING count: they tie rooms together all the same.
"""

from collections.abc import Iterable

import pytest

from tests.house.source import FLOOR_PLAN, Module, modules, own_imports, parse

_PLACE = {room: place for place, rooms in enumerate(FLOOR_PLAN) for room in rooms}
_FRONT_DOOR = "__init__"
"""The package's own `__init__.py`, which everybody imports without knowing and so imports nothing."""


def trespasses(house: Iterable[Module]) -> list[str]:
    found = []
    for module in house:
        if module.room not in _PLACE and module.room != _FRONT_DOOR:
            found.append(f"{module.path}: the room '{module.room}' is not on the floor plan")
            continue
        for name, line in own_imports(module):
            room = name.partition(".")[0]
            if room not in _PLACE:
                # A name of the package itself, such as its version.
                continue
            if room != module.room and _PLACE[room] <= _PLACE.get(module.room, len(FLOOR_PLAN)):
                found.append(f"{module.path}:{line}: {module.room} may not import {name}")
    return found


def test_every_room_imports_only_rooms_to_its_right() -> None:
    found = trespasses(modules())
    assert not found, "\n".join(found)


def test_every_room_of_the_plan_exists() -> None:
    assert set(_PLACE) - {module.room for module in modules()} == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("errors.py", "import journeyman.settings"),
        ("settings.py", "from journeyman import database"),
        ("forges/local.py", "from journeyman.sandboxes.base import Sandbox"),
        ("events/log.py", "def f():\n    from journeyman.work_orders import order"),
        (
            "git/push.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from journeyman.steps import context",
        ),
        ("gateway/prices.py", "from ..agents.base import Agent"),
        ("gateway/deep/prices.py", "from ...git import mirrors"),
        ("api/health.py", "from .. import cli"),
        ("steps/plan.py", "import importlib\nimportlib.import_module('journeyman.engine.workers')"),
        ("__init__.py", "from journeyman.errors import JourneymanError"),
        ("attic/box.py", ""),
    ],
)
def test_an_import_against_the_plan_is_found(path: str, text: str) -> None:
    assert len(trespasses([parse(path, text)])) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cli/main.py", "from journeyman import __version__, app"),
        ("app.py", "import journeyman.errors\nfrom journeyman.forges.local import LocalForge"),
        (
            "forges/local.py",
            "from journeyman.forges.base import Forge\nfrom . import body\nfrom .store import rows",
        ),
        ("agents/builtin/agent.py", "from ..base import Agent\nfrom ...gateway.gateway import Gateway"),
        ("errors.py", "import errno\nimport journeymanship.cli"),
    ],
)
def test_an_import_along_the_plan_is_left_alone(path: str, text: str) -> None:
    assert trespasses([parse(path, text)]) == []
