"""Another program of another maker behind the same protocol, with less to tell: `gemini --acp`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from journeyman.agents.acp import AcpAgent
from journeyman.agents.base import AgentEvent, Assignment, Outcome
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.roles import ROLES
from journeyman.app import _agents
from journeyman.errors import InvalidSetting
from journeyman.events.types import AgentNotice, ToolCallStarted
from journeyman.gateway.accounts import Account
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import RoleName, Settings
from tests.agents.acp_commands import command_of
from tests.agents.installed import INSTALLED
from tests.gateway.calls import settings_with, write_script
from tests.gateway.ledgers import open_door
from tests.sandboxes.specs import give_away

ORDER = "wo-acp"


class Place:
    def __init__(self, agent: AcpAgent, settings: Settings, sandboxes: LocalSandboxes, path: Path) -> None:
        self._agent, self._settings, self._sandboxes, self._path = agent, settings, sandboxes, path
        self.tree = path / "tree"
        self.events: list[AgentEvent] = []

    async def emit(self, *events: AgentEvent) -> None:
        self.events += events

    async def work(self, command: str, role: RoleName = "build", session_id: str | None = None) -> Outcome:
        for path in (self.tree, self._path / "sessions"):
            path.mkdir(exist_ok=True)
            give_away(path, ORDER)
        shell = {"tools": [{"name": "shell", "arguments": {"command": command}}]}
        model = write_script(self._settings, "acp", {"replies": [shell, {"say": "Done."}]})
        spec = SandboxSpec(
            order_id=ORDER,
            tree=self.tree,
            writable=ROLES[role].may_write,
            home=self._path / "sessions",
        )
        account = Account(order_id=ORDER, round=1, step="s", role=role, agent="gemini_acp", model=model)
        assignment = Assignment(
            role=ROLES[role], prompt="Do it.", model=model, account=account, session_id=session_id
        )
        return await self._agent.work(assignment, await self._sandboxes.setup(spec), self.emit)


@asynccontextmanager
async def opened(home: Path, path: Path) -> AsyncIterator[Place]:
    paths = {"JOURNEYMAN_AGENTS_DIRECTORY": str(INSTALLED), "JOURNEYMAN_SANDBOX_PATHS": str(INSTALLED)}
    settings = settings_with(home, **paths)
    sandboxes = LocalSandboxes(settings)
    async with open_door(settings) as door:
        agent = AcpAgent("gemini_acp", command_of(NpmPackages(settings), "gemini"), door, settings)
        assert (await agent.readiness()).ready
        yield Place(agent, settings, sandboxes, path)
        await sandboxes.close()


async def test_it_works_and_is_followed(home: Path, tmp_path: Path) -> None:
    async with opened(home, tmp_path) as place:
        outcome = await place.work("echo made > made.txt")
        assert (outcome.stop_reason, outcome.text) == ("finished", "Done.")
        assert (place.tree / "made.txt").read_text() == "made\n"
        started = next(each for each in place.events if isinstance(each, ToolCallStarted))
        assert "echo made" in str(started.arguments)


async def test_a_read_only_role_writes_nothing(home: Path, tmp_path: Path) -> None:
    async with opened(home, tmp_path) as place:
        await place.work("echo made > made.txt", role="plan")
        assert list(place.tree.iterdir()) == []


async def test_a_session_that_cannot_be_loaded_is_begun_anew_and_said(home: Path, tmp_path: Path) -> None:
    async with opened(home, tmp_path) as place:
        outcome = await place.work("true", session_id="00000000-0000-4000-8000-000000000000")
        assert outcome.stop_reason == "finished"
        assert "a new one begins" in next(each.text for each in place.events if isinstance(each, AgentNotice))


async def test_a_program_that_is_not_there_is_not_ready(settings: Settings) -> None:
    async with open_door(settings) as door:
        readiness = await AcpAgent("mine", ["no-such-agent", "acp"], door, settings).readiness()
        assert not readiness.ready
        assert "no-such-agent" in readiness.needs


@pytest.mark.parametrize("named", [{"codex": "some agent"}, {"mine": "  "}])
async def test_a_name_that_is_taken_and_an_empty_command_are_refused(
    settings: Settings, named: dict[str, str]
) -> None:
    chosen = settings.model_copy(update={"acp_agents": named})
    async with open_door(settings) as door:
        with pytest.raises(InvalidSetting):
            _agents(chosen, Gateway(chosen), door)
