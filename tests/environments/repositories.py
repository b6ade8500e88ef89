"""Repositories with an environment, and a set-up for them: real git, a real jail, no network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.environments.egress.base import Egress
from journeyman.environments.layers import Layers
from journeyman.environments.plan import Environment, InstallCommand
from journeyman.environments.project import read_project
from journeyman.environments.setup import EnvironmentSetup, ReadyEnvironment
from journeyman.events.types import Event
from journeyman.git.mirrors import Mirrors
from journeyman.sandboxes.base import Sandbox, SandboxLimits, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.work_orders.order import new_order_id
from tests.git.repositories import commit_files, make_repository, remote_of, repository_at
from tests.sandboxes.specs import give_away

IGNORED = ".venv/\nnode_modules/\n__pycache__/\n/_version.py\n/build/\n"
INSTALL = "mkdir -p .venv/bin && cp lock .venv/installed && echo cached > ~/.package && echo 1 > _version.py"


def environment(*commands: str, **more: object) -> Environment:
    install = tuple(InstallCommand(command=command, why="a test") for command in commands or (INSTALL,))
    return Environment(install=install, key_files=("lock",), **more)  # type: ignore[arg-type]


@dataclass
class EnvironmentPlace:
    """A home with layers and sandboxes, and one repository that orders work on."""

    directory: Path
    settings: Settings
    egress: Egress | None = None
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    events: list[Event] = field(default_factory=list)
    source: Path = field(init=False)

    def __post_init__(self) -> None:
        self.source = self.directory / "source"
        if not self.source.exists():
            make_repository(self.source, {"lock": "one\n", ".gitignore": IGNORED, "src/a.py": "a = 1\n"})
        self.jails = LocalSandboxes(self.settings)
        self.layers = Layers(self.settings.home / "layers", max_mb=self.settings.layers_max_mb)
        self.setup = EnvironmentSetup(self.settings, self.jails, self.layers, self.egress, self.limits)

    def commit(self, files: dict[str, str]) -> None:
        commit_files(self.source, files, "Change")

    async def prepare(
        self,
        wanted: Environment | None = None,
        *,
        order_id: str = "",
        private_to: str | None = None,
        source: Path | None = None,
    ) -> ReadyEnvironment:
        source = source or self.source
        mirrors = Mirrors(self.settings.home / "mirrors")
        mirror = await mirrors.refresh(repository_at(source), remote_of(source))
        commit_sha = mirror.resolve("main")
        return await self.setup.prepare(
            mirror,
            commit_sha,
            wanted or environment(),
            await read_project(mirror, commit_sha),
            owner_id=order_id or new_order_id(),
            repository_url=str(source),
            private_to=private_to,
            emit=self.emit,
        )

    async def emit(self, event: Event) -> None:
        self.events.append(event)

    def told(self) -> list[str]:
        return [event.type for event in self.events]

    @asynccontextmanager
    async def sandbox(self, ready: ReadyEnvironment) -> AsyncIterator[Sandbox]:
        """A new order's sandbox with the environment, on an empty workspace."""
        order_id = new_order_id()
        tree = self.directory / order_id
        tree.mkdir()
        give_away(tree, order_id)
        await ready.copy_files(tree, order_id)
        sandbox = await self.jails.setup(
            SandboxSpec(order_id=order_id, tree=tree, layers=ready.mounts, env=ready.env, path=ready.path)
        )
        yield sandbox
        await self.jails.cleanup(order_id)
