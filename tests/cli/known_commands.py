"""Every command of `jm` with its options, as typer knows them."""

import typer
from typer.core import TyperGroup

from journeyman.cli.main import app


def options_of(group: TyperGroup) -> dict[str, set[str]]:
    """The options of every command, those below another too."""
    found: dict[str, set[str]] = {}
    for name, command in group.commands.items():
        found[name] = {option for parameter in command.params for option in parameter.opts}
        if isinstance(command, TyperGroup):
            found |= {f"{name} {below}": options for below, options in options_of(command).items()}
    return found


def known_commands() -> dict[str, set[str]]:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    return options_of(root)
