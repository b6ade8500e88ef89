"""What a repository says in `.cursor/environment.json` is used as far as it can be."""

import json

import pytest

from journeyman.environments.adopted.cursor import adopt
from journeyman.environments.definition import Definition
from journeyman.environments.plan import Service
from tests.environments.projects import project_of


def adopted(file: object) -> Definition:
    text = file if isinstance(file, str) else json.dumps(file)
    definition = adopt(project_of({".cursor/environment.json": text}))
    assert definition is not None
    return definition


def test_its_commands_install_and_start() -> None:
    definition = adopted(
        {
            "install": "npm ci",
            "start": "redis-server",
            "terminals": [{"name": "web", "command": "npm run dev"}, {"command": "make watch &"}],
        }
    )
    assert [one.command for one in definition.install or ()] == ["npm ci"]
    assert definition.start == (
        Service(command="redis-server &"),
        Service(command="npm run dev &"),
        Service(command="make watch &"),
    )
    assert definition.notes == ()


def test_what_needs_root_or_containers_is_left_out() -> None:
    definition = adopted(
        {
            "build": {"dockerfile": "Dockerfile"},
            "install": "sudo apt-get install -y htop",
            "start": "sudo service docker start",
            "terminals": [{"command": "docker compose up"}],
        }
    )
    assert (definition.install, definition.start) == (None, None)
    assert len(definition.notes) == 4
    assert any("no containers in the sandbox" in note for note in definition.notes)


@pytest.mark.parametrize(
    "file",
    [
        {"install": ["npm", "ci"], "start": 5, "terminals": {"a": 1}},
        {"terminals": [5, None, {}, {"command": []}]},
        {"terminals": "npm run dev", "env": "x"},
    ],
)
def test_wrong_types_are_notes(file: object) -> None:
    definition = adopted(file)
    assert (definition.install, definition.start) == (None, None)
    assert definition.notes


def test_a_broken_file_is_a_note_and_a_missing_one_nothing() -> None:
    assert "not JSON" in adopted("{install: npm}").notes[0]
    assert adopt(project_of({"a": ""})) is None
