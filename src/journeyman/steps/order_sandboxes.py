"""The sandboxes of one order: those that its agents work in, and clean ones for checks."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from journeyman.agents.catalog import AgentCatalog
from journeyman.events.types import SandboxCreated
from journeyman.failpoints import failpoint
from journeyman.git.workspace import Workspace
from journeyman.git.workspaces import Workspaces
from journeyman.sandboxes.base import Sandbox, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.settings import Settings
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

    async def open(self, writable: bool) -> Sandbox:
        """The order's sandbox; False gives the one whose workspace cannot be written."""
        order_id, started = self.order.agent_work_order_id, time.monotonic()
        failpoint("sandbox_started")
        agents = self.agents.of_order(self.order)  # they share it, so it shows what any of them needs
        keeps_sessions = any(agent.keeps_sessions for agent in agents)
        sandbox = await self.provider.setup(
            SandboxSpec(
                order_id=order_id,
                tree=self.workspace.tree,
                git_directories=self.workspace.git_directories,
                writable=writable,
                network=self.settings.sandbox_network,
                shown=tuple(sorted({path for agent in agents for path in agent.shown})),
                hidden=tuple(sorted({name for agent in agents for name in agent.hidden})),
                home=self.agents.homes.open(order_id, writable=writable) if keeps_sessions else None,
                limits=limits_of(self.settings),
            )
        )
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
    async def clean(self, commit_sha: str) -> AsyncIterator[Sandbox]:
        """A sandbox on a clean checkout of a commit, with nothing of the agents.

        What an agent left running ends first: it could only disturb.
        """
        order_id = self.order.agent_work_order_id
        await self.provider.cleanup(order_id, only_writable=True)
        async with self.workspaces.checkouts.open(self.workspace.mirror, order_id, commit_sha) as checkout:
            sandbox = await self.provider.setup(
                SandboxSpec(
                    order_id=order_id,
                    purpose="proof",
                    tree=checkout.tree,
                    git_directories=checkout.git_directories,
                    network=self.settings.sandbox_network,
                    limits=limits_of(self.settings),
                )
            )
            try:
                yield sandbox
            finally:
                await sandbox.cleanup()
