"""What `jm` shows: for people as text, for programs as JSON."""

import asyncio
import json
import os
import pty
import sys
from pathlib import Path

import pytest

from journeyman.cli.terminal import seconds, strip_controls
from journeyman.events.types import CommandProblem, FoundCommand, RepositoryCommandsFound
from tests.api.parts import Api
from tests.cli.jm import JM, Terminal


@pytest.fixture
async def order_id(api: Api, repository: Path) -> str:
    """A finished order."""
    order_id = await api.submit(repository, initial_prompt="Fix the pager")
    await api.begin(order_id)
    await api.open_pull_request(order_id)
    await api.complete(order_id)
    return order_id


async def test_list_and_show_tell_the_state(terminal: Terminal, order_id: str) -> None:
    listed = await terminal.run("list")
    assert all(word in listed.out for word in (order_id, "completed", "passed", "Fix the pager"))
    shown = await terminal.run("show", order_id)
    for word in ("completed", "passed", "/local-forge/pull-requests/1", "builtin · scripted/demo"):
        assert word in shown.out


async def test_a_list_is_narrowed_by_its_options(terminal: Terminal, order_id: str, repository: Path) -> None:
    for options in (("--status", "failed"), ("-q", "elsewhere"), ("-r", "https://github.com/acme/x")):
        assert json.loads((await terminal.run("list", *options, "--json")).out)["total_count"] == 0
    found = await terminal.run("list", "-r", str(repository), "--status", "completed", "--json")
    assert json.loads(found.out)["total_count"] == 1
    assert (await terminal.run("list", "--status", "lost")).code == 2


async def test_the_commands_of_a_repository_are_listed_with_what_is_wrong(
    api: Api, terminal: Terminal, order_id: str
) -> None:
    assert "no commands" in (await terminal.run("commands", order_id)).err
    told = RepositoryCommandsFound(
        commit_sha="0" * 40,
        commands=[FoundCommand(name="fix", description="Fix one", argument_hint="[number]", path="a/fix.md")],
        problems=[CommandProblem(path="a/b c.md", message="it is odd", hint="Rename it.")],
    )
    await api.services.orders.emit(order_id, told)
    listed = await terminal.run("commands", order_id)
    assert "/fix [number]" in listed.out
    assert "Fix one" in listed.out
    assert "a/b c.md: it is odd. Rename it." in listed.err


async def test_logs_are_printed_and_followed_without_chatter(
    api: Api, terminal: Terminal, order_id: str
) -> None:
    printed = await terminal.run("logs", order_id)
    followed = await terminal.run("logs", order_id, "-f")
    assert printed.out == followed.out
    assert [line.split()[2] for line in printed.out.splitlines()] == [
        "agent_work_order_created",
        "agent_work_order_started",
        "github_pull_request_created",
        "agent_work_order_completed",
    ]
    lines = (await terminal.run("logs", order_id, "-f", "--json")).out.splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 3, 4]


async def test_choices_say_what_is_missing(terminal: Terminal) -> None:
    models = (await terminal.run("models")).out
    assert any(line.split()[:2] == ["scripted/demo", "ready"] for line in models.splitlines())
    assert "OPENAI_API_KEY" in models
    assert "agent_workflow_plan_build_test" in (await terminal.run("workflows")).out
    assert "builtin" in (await terminal.run("agents")).out


async def test_colour_is_for_terminals_that_want_it(terminal: Terminal, order_id: str) -> None:
    async def on_a_terminal(**environment: str) -> str:
        reader, writer = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            JM, "list", env=terminal.environment(TERM="xterm", **environment), stdout=writer, stderr=writer
        )
        os.close(writer)
        try:
            said = await asyncio.to_thread(_read_all, reader)
        finally:
            os.close(reader)
        assert await process.wait() == 0
        return said

    assert "\x1b[" in await on_a_terminal()
    # With NO_COLOR a terminal may still be shown dim and bold text: colours are what is left out.
    assert "\x1b[32m" not in await on_a_terminal(NO_COLOR="1")
    assert "\x1b" not in (await terminal.run("list")).out


def _read_all(descriptor: int) -> str:
    said = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # how Linux tells that the other side of a terminal was closed
            return said.decode()
        if not piece:
            return said.decode()
        said += piece


async def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "sys.argv = ['jm', '--help']\n"
        "from journeyman.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'sqlalchemy', 'dbos', 'pydantic_ai', 'fastapi', 'pydantic', 'httpx2', 'rich', 'uvicorn'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().endswith("loaded: []\n")
    assert "doctor" in out.decode()


async def test_doctor_needs_no_server_and_says_what_to_do(home: Path, tmp_path: Path) -> None:
    nobody = Terminal(home / "new", "http://127.0.0.1:9")
    done = await nobody.run("doctor", "--json")
    found = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert done.code == 0, done.out
    assert {name: check["state"] for name, check in found.items()} == {
        "git": "good",
        "sandbox": "good",
        "home": "good",
        "leftovers": "good",
        "database": "good",
        "models": "optional",
        "agent": "optional",
        "github": "optional",
        "server": "optional",
    }
    assert "GITHUB_TOKEN" in found["github"]["hint"]
    empty = await nobody.run("doctor", environment={"PATH": str(tmp_path)})
    assert empty.code == 1
    assert "apt-get install git" in empty.out
    assert "apt-get install bubblewrap" in empty.out
    unjailed = await nobody.run("doctor", environment={"JOURNEYMAN_LOCAL_ISOLATION": "none"})
    assert "WITHOUT isolation" in unjailed.out
    lost = await nobody.run("doctor", environment={"DATABASE_URL": "postgresql://127.0.0.1:9/x"})
    assert lost.code == 1
    assert "DATABASE_URL" in lost.out


async def test_an_unknown_setting_is_told_before_anything_happens(terminal: Terminal) -> None:
    done = await terminal.run("list", environment={"JOURNEYMAN_PROT": "1"})
    assert done.code == 2
    assert "JOURNEYMAN_PORT" in done.err


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x9b2Jx", "2Jx"),
        ("a\rb\x08c\x00d", "abcd"),
        ("\u202egnp.exe", "gnp.exe"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("naïve ✓ 漢字", "naïve ✓ 漢字"),
        ("\x1b", ""),
    ],
)
def test_text_of_others_is_made_harmless(hostile: str, harmless: str) -> None:
    assert strip_controls(hostile) == harmless


@pytest.mark.parametrize(
    ("value", "told"), [(0.04, "0.0s"), (59.94, "59.9s"), (60, "1m00s"), (3725, "1h02m05s")]
)
def test_durations_are_told_as_people_say_them(value: float, told: str) -> None:
    assert seconds(value) == told
