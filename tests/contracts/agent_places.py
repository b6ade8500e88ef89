"""An agent with a place to work in: the real jail, the real program, a scripted model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journeyman.agents.acp import AcpAgent
from journeyman.agents.base import Agent, AgentEvent, Assignment, Outcome
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.claude_code import ClaudeCode
from journeyman.agents.codex import Codex
from journeyman.agents.gemini import Gemini
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.opencode import OpenCode
from journeyman.agents.roles import ROLES
from journeyman.events.types import (
    AgentText,
    ToolCallCompleted,
    ToolCallStarted,
)
from journeyman.gateway.accounts import Account
from journeyman.gateway.door.door import Door
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import Sandbox, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import RoleName, Settings
from tests.agents.acp_commands import command_of
from tests.agents.installed import INSTALLED
from tests.gateway.calls import settings_with, write_script
from tests.gateway.ledgers import open_door
from tests.sandboxes.specs import give_away

Make = Callable[[Settings, Door], Agent]
PROGRAMS: dict[str, Make] = {
    "claude_code": lambda settings, door: ClaudeCode(door, NpmPackages(settings)),
    "opencode": lambda settings, door: OpenCode(door, NpmPackages(settings)),
    "codex": lambda settings, door: Codex(door, NpmPackages(settings)),
    "gemini": lambda settings, door: Gemini(door, NpmPackages(settings)),
    "acp": lambda settings, door: AcpAgent(
        "acp", command_of(NpmPackages(settings), "opencode"), door, settings
    ),
}
AGENTS: dict[str, Make] = {
    "builtin": lambda settings, _: BuiltinAgent(Gateway(settings), settings, retry_base_seconds=0.01),
    **PROGRAMS,
}
KEYS = {
    name: f"canary-of-{name.lower()}" for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
}
ORDER = "wo-contract"


@dataclass
class AgentPlace:
    """One order's place with one agent; `restart` is what a new start of Journeyman would find."""

    make: Make
    settings: Settings
    place: Path
    events: list[AgentEvent] = field(default_factory=list)
    busy: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        self._open = AsyncExitStack()
        door = await self._open.enter_async_context(open_door(self.settings))
        self.agent = self.make(self.settings, door)
        self.sandboxes = LocalSandboxes(self.settings)

    async def close(self) -> None:
        await self.sandboxes.close()
        await self._open.aclose()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    @property
    def tree(self) -> Path:
        return self.place / "tree"

    async def sandbox(self, role: RoleName = "build") -> Sandbox:
        for path in (self.tree, self.place / "sessions"):
            path.mkdir(exist_ok=True)
            give_away(path, ORDER)
        about = self.agent.about
        spec = SandboxSpec(
            order_id=ORDER,
            tree=self.tree,
            writable=ROLES[role].may_write,
            shown=about.shown,
            hidden=about.hidden,
            home=self.place / "sessions" if about.keeps_sessions else None,
        )
        return await self.sandboxes.setup(spec)

    async def emit(self, *events: AgentEvent) -> None:
        self.events += events
        if any(isinstance(event, ToolCallStarted) for event in events):
            self.busy.set()

    async def work(self, *replies: dict[str, Any], role: RoleName = "build", **more: Any) -> Outcome:
        model = more.pop("model", None) or write_script(self.settings, "contract", {"replies": list(replies)})
        account = Account(order_id=ORDER, round=1, step="step", role=role, agent=self.agent.name, model=model)
        assignment = Assignment(
            **{"role": ROLES[role], "prompt": "Do it.", "model": model, "account": account, **more}
        )
        return await self.agent.work(assignment, await self.sandbox(role), self.emit)

    @property
    def said(self) -> str:
        return "".join(each.text for each in self.events if isinstance(each, AgentText))

    def finished(self) -> list[ToolCallCompleted]:
        return [each for each in self.events if isinstance(each, ToolCallCompleted)]


async def opened(make: Make, home: Path, place: Path) -> AsyncIterator[AgentPlace]:
    paths = {
        "JOURNEYMAN_AGENTS_DIRECTORY": str(INSTALLED),
        "JOURNEYMAN_SANDBOX_PATHS": str(INSTALLED / "opencode"),
    }
    settings = settings_with(home, **paths, **KEYS)
    (place / "tree").mkdir()
    bench = AgentPlace(make, settings, place)
    await bench.open()
    yield bench
    await bench.close()


def shell(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "shell", "arguments": {"command": command}}]}
