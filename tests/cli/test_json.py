"""`--json` is understood by every command, and what it prints is JSON of the documented shape."""

import json
import re
from pathlib import Path

from tests.api.parts import Api
from tests.cli.jm import Terminal
from tests.cli.known_commands import known_commands

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def documented_fields() -> dict[str, list[str]]:
    """The fields that the reference promises, by command."""
    section = REFERENCE.read_text(encoding="utf-8").partition("## JSON\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.MULTILINE)
    return {
        command: re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", fields))
        for commands, fields in rows
        for command in re.findall(r"`(.+?)`", commands)
    }


def test_every_command_takes_json() -> None:
    known = known_commands()
    assert {"migrate", "serve", "agents install"} <= known.keys()
    assert [name for name, options in known.items() if "--json" not in options] == []


async def test_migrating_answers_in_json(home: Path) -> None:
    done = await Terminal(home).run("migrate", "--json")
    assert (done.code, json.loads(done.out)) == (0, {"migrated": True})


def test_the_reference_says_what_every_command_prints_as_json() -> None:
    assert {name for name in documented_fields() if " --" not in name} == known_commands().keys()


async def test_documents_have_the_fields_that_the_reference_promises(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    order_id = await api.submit(repository, initial_prompt="Fix the pager")
    await api.begin(order_id)
    await api.complete(order_id)
    promised = documented_fields()
    for command in (
        *(("list",), ("show", order_id), ("logs", order_id), ("diff", order_id), ("commands", order_id)),
        *(("models",), ("agents",), ("workflows",), ("cleanup", "--dry-run"), ("doctor",)),
        ("prompt", order_id, "Go on.", "--mode", "work"),
        ("submit", "Fix it", "-r", str(repository), "--model", "scripted/demo"),
    ):
        done = await terminal.run(*command, "--json")
        assert done.code == 0, (command, done.err)
        document = json.loads(done.out)
        assert [field for field in promised[command[0]] if field not in document] == [], command


async def test_an_error_is_one_document_on_standard_error(terminal: Terminal) -> None:
    done = await terminal.run("show", "wo-00000000", "--json")
    assert (done.code, done.out) == (2, "")
    assert json.loads(done.err)["error"].keys() == {"detail", "hint", "category"}
