"""`--json` is understood by every command, and what it prints is JSON."""

import json
from pathlib import Path

import typer
from typer.core import TyperGroup

from journeyman.cli.main import app
from tests.cli.jm import Terminal


def options_of(group: TyperGroup) -> dict[str, set[str]]:
    """The options of every command, those below another too."""
    found: dict[str, set[str]] = {}
    for name, command in group.commands.items():
        found[name] = {option for parameter in command.params for option in parameter.opts}
        if isinstance(command, TyperGroup):
            found |= {f"{name} {below}": options for below, options in options_of(command).items()}
    return found


def test_every_command_takes_json() -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    known = options_of(root)
    assert {"migrate", "serve", "agents install"} <= known.keys()
    assert [name for name, options in known.items() if "--json" not in options] == []


async def test_migrating_answers_in_json(home: Path) -> None:
    done = await Terminal(home).run("migrate", "--json")
    assert (done.code, json.loads(done.out)) == (0, {"migrated": True})
