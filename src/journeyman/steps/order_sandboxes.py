"""The sandboxes of one order: those that its agents work in, and clean ones for checks."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from journeyman.agents.catalog import AgentCatalog
from journeyman.environments.plan import Environment
from journeyman.environments.resolve import SERVER
from journeyman.environments.services import start_services
from journeyman.environments.setup import ReadyEnvironment
from journeyman.events.types import AgentNotice, SandboxCreated
from journeyman.failpoints import failpoint
from journeyman.git.workspace import Workspace
from journeyman.git.workspaces import Workspaces
from journeyman.sandboxes.base import Sandbox, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.settings import Settings
from journeyman.steps.order_environment import OrderEnvironment
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders


def limits_of(settings: Settings) -> SandboxLimits:
    """What a sandbox may use, by the settings."""
    return SandboxLimits(
        memory_mb=settings.sandbox_memory_mb,
        processes=settings.sandbox_processes,
        output_bytes=settings.sandbox_output_bytes,
        disk_mb=settings.sandbox_disk_mb,
        files=settings.sandbox_files,
    )


@dataclass(frozen=True, kw_only=True)
class OrderSandboxes:
    settings: Settings
    orders: WorkOrders
    order: WorkOrder
    workspace: Workspace
    workspaces: Workspaces
    provider: SandboxProvider
    agents: AgentCatalog
    environment: OrderEnvironment
    step: str

    async def open(self, writable: bool) -> Sandbox:
        """The order's sandbox; False gives the one whose workspace cannot be written."""
        order_id, started = self.order.agent_work_order_id, time.monotonic()
        failpoint("sandbox_started")
        agents = self.agents.of_order(self.order)  # they share it, so it shows what any of them needs
        keeps_sessions = any(agent.keeps_sessions for agent in agents)
        ready = await self.environment.ready()
        hosts = await self.environment.hosts(ready.environment)
        await ready.copy_files(self.workspace.tree, order_id)
        sandbox = await self.provider.setup(
            SandboxSpec(
                order_id=order_id,
                tree=self.workspace.tree,
                git_directories=self.workspace.git_directories,
                writable=writable,
                network=self.settings.sandbox_network,
                shown=self._shown(ready, hosts, *(path for agent in agents for path in agent.shown)),
                hidden=tuple(sorted({name for agent in agents for name in agent.hidden})),
                home=self.agents.homes.open(order_id, writable=writable) if keeps_sessions else None,
                layers=ready.mounts,
                env=self._variables(ready),
                path=ready.path,
                limits=limits_of(self.settings),
            )
        )
        await self._equip(sandbox, ready.environment, hosts, "agent")
        failpoint("sandbox_created")
        current = await self.orders.get(order_id)
        if current.sandbox_identifier is None or (
            writable and current.sandbox_identifier != sandbox.identifier
        ):
            created = SandboxCreated(
                sandbox_identifier=sandbox.identifier,
                sandbox_type=self.order.sandbox_type,
                isolation=self.provider.isolation,
                duration_seconds=round(time.monotonic() - started, 3),
            )
            await self.orders.change(order_id, created, sandbox_identifier=sandbox.identifier)
        return sandbox

    @asynccontextmanager
    async def clean(
        self, commit_sha: str, purpose: Literal["proof", "baseline"] = "proof"
    ) -> AsyncIterator[Sandbox]:
        """A sandbox on a clean checkout of a commit, with nothing of the agents.

        For a proof, what an agent left running ends first: it could only disturb.
        """
        order_id = self.order.agent_work_order_id
        ready = await self.environment.ready(commit_sha)
        hosts = await self.environment.hosts(ready.environment)
        if purpose == "proof":
            await self.provider.cleanup(order_id, only_writable=True)
        async with self.workspaces.checkouts.open(self.workspace.mirror, order_id, commit_sha) as checkout:
            await ready.copy_files(checkout.tree, order_id)
            sandbox = await self.provider.setup(
                SandboxSpec(
                    order_id=order_id,
                    purpose=purpose,
                    tree=checkout.tree,
                    git_directories=checkout.git_directories,
                    network=self.settings.sandbox_network,
                    shown=self._shown(ready, hosts),
                    layers=ready.mounts,
                    env=self._variables(ready),
                    path=ready.path,
                    limits=limits_of(self.settings),
                )
            )
            try:
                await self._equip(sandbox, ready.environment, hosts, "proof")
                yield sandbox
            finally:
                await sandbox.cleanup()

    async def describe_environment(self, commit_sha: str) -> dict[str, Any]:
        """What `clean` gives the checks of a commit, as evidence records it: of variables only the names."""
        ready = await self.environment.ready(commit_sha)
        return {
            "layer": ready.layer.key if ready.layer else None,
            "image": ready.environment.image,
            "isolation": self.provider.isolation,
            "variables": sorted(name for name, _ in self._variables(ready)),
        }

    def _shown(self, ready: ReadyEnvironment, hosts: tuple[str, ...], *others: Path) -> tuple[Path, ...]:
        certificates = [self.environment.parts.egress.certificates] if hosts else []
        return tuple(sorted({*ready.shown, *certificates, *others}))

    def _variables(self, ready: ReadyEnvironment) -> tuple[tuple[str, str], ...]:
        """The environment's variables; its secrets only where the server's own definition lets them in."""
        environment, stored = ready.environment, self.settings.environment_secrets
        if not (environment.secrets_in_agent_phase and environment.source == SERVER):
            return ready.env
        secrets = {name: stored[name].get_secret_value() for name in environment.secrets if name in stored}
        return tuple(sorted({**dict(ready.env), **secrets}.items()))

    async def _equip(
        self,
        sandbox: Sandbox,
        environment: Environment,
        hosts: tuple[str, ...],
        phase: Literal["agent", "proof"],
    ) -> None:
        """Open the sandbox's way out and start its services, once for each sandbox.

        A later step waits for the same start, and adds the hosts that people allowed meanwhile.
        """
        equipped = self.environment.parts.equipped
        is_new = sandbox not in equipped
        network = equipped.setdefault(sandbox, None)
        if network is not None:
            network.use(self.step, hosts)
        elif is_new and hosts:
            network = await self.environment.open_network(hosts, step=self.step, phase=phase)
            equipped[sandbox] = network
            await sandbox.attach(network.session)
        started = await start_services(
            sandbox, environment.start, environment.env, workdir=environment.workdir
        )
        for failed in (one for one in started if is_new and not one.ok):
            text = f"the service `{failed.service.command}` cannot be used: {failed.problem}"
            await self.orders.emit(self.order.agent_work_order_id, AgentNotice(step=self.step, text=text))
