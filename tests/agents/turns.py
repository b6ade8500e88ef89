"""A built-in agent at work in tests: on a script, in a directory, with everything it tells kept."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from journeyman.agents.base import Assignment, Happening, Outcome
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.roles import ROLES
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import Sandbox
from journeyman.settings import RoleName
from tests.gateway.calls import settings_with, write_script
from tests.standins.plain_sandbox import PlainSandbox

Kind = TypeVar("Kind")


@dataclass
class Workplace:
    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    told: list[Happening] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = self.home / "tree"
        self.tree.mkdir()
        self.settings = settings_with(self.home, **self.environment)
        self.sandbox: Sandbox = PlainSandbox(self.tree)
        self.agent = BuiltinAgent(Gateway(self.settings), self.settings, retry_base_seconds=0.01)

    async def tell(self, *happenings: Happening) -> None:
        self.told += happenings

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [happening for happening in self.told if isinstance(happening, kind)]

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
        **limits: Any,
    ) -> Outcome:
        assignment = Assignment(
            role=ROLES[role], prompt=prompt, model=model, deliverable=deliverable, **limits
        )
        return await self.agent.work(assignment, self.sandbox, self.tell)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"tools": [call(name, **arguments)]}


def says(text: str) -> dict[str, Any]:
    return {"say": text}
