"""`jm --help`: every command in a group, with its whole summary, in a terminal of usual width."""

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from journeyman.cli.main import app
from tests.cli.known_commands import known_commands

WIDTH = 80


def help_of(*command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": str(WIDTH)}, terminal_width=WIDTH)
    assert done.exit_code == 0, done.output
    return done.output


def test_commands_are_grouped() -> None:
    shown = help_of()
    groups = [line.rstrip(":") for line in shown.splitlines() if line.endswith(":") and line[0] != " "]
    assert groups == ["Options", "Work orders", "Change an order", "What can be chosen", "Server"]
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for name in root.commands:
        assert f"\n  {name} " in shown


@pytest.mark.parametrize("command", ["", *known_commands()])
def test_no_line_is_cut_or_wider_than_the_terminal(command: str) -> None:
    shown = help_of(*command.split())
    assert [line for line in shown.splitlines() if len(line) > WIDTH or line.endswith("...")] == [
        line for line in shown.splitlines() if line.startswith("Usage:") and line.endswith("...")
    ]


def test_the_summary_of_every_command_fits_on_its_line() -> None:
    rows = [line for line in help_of().splitlines() if line.startswith("  ")]
    assert [line for line in rows if line.startswith("    ")] == []


def test_the_version_is_printed() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output.split()[0]) == (0, "jm")
