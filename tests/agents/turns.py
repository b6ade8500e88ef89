"""A built-in agent at work in tests: on a script, in a directory, with all its events kept."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from journeyman.agents.base import AgentEvent, Assignment, Outcome
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.roles import ROLES
from journeyman.gateway.accounts import Account
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import Sandbox
from journeyman.settings import RoleName
from tests.gateway.calls import settings_with, write_script
from tests.standins.plain_sandbox import PlainSandbox

Kind = TypeVar("Kind")
STEP = "build"


@dataclass
class Workplace:
    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    events: list[AgentEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = self.home / "tree"
        self.tree.mkdir()
        self.settings = settings_with(self.home, **self.environment)
        self.sandbox: Sandbox = PlainSandbox(self.tree)
        self.agent = BuiltinAgent(Gateway(self.settings), self.settings, retry_base_seconds=0.01)

    async def emit(self, *events: AgentEvent) -> None:
        self.events += events

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    async def play(self, *replies: dict[str, Any], **assignment: Any) -> Outcome:
        """One turn of work on a model that gives these replies."""
        model = write_script(self.settings, "play", {"replies": list(replies)})
        return await self.work(model, **assignment)

    async def work(
        self,
        model: str,
        *,
        prompt: str = "Do it.",
        role: RoleName = "build",
        deliverable: type[BaseModel] | None = None,
        **more: Any,
    ) -> Outcome:
        account = Account(
            order_id="wo-turn", round=1, step=STEP, role=role, agent=self.agent.name, model=model
        )
        choices = {"account": account, "prompt": prompt, "deliverable": deliverable, **more}
        assignment = Assignment(role=ROLES[role], model=model, **choices)
        return await self.agent.work(assignment, self.sandbox, self.emit)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"tools": [call(name, **arguments)]}


def says(text: str) -> dict[str, Any]:
    return {"say": text}
