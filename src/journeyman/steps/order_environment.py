"""The environment of one order: what its commits need, installed before any agent works.

What is installed, and what its network may reach, is decided by the base commit and the server alone: an agent
cannot widen its own rights. A commit of the order that changes lock files or manifests gets a layer of its own,
made by the base's commands from the commit's files and shown to no other order.
"""

from dataclasses import dataclass

from journeyman.environments.plans import EnvironmentPlans, Planned
from journeyman.environments.setup import EnvironmentSetup, ReadyEnvironment
from journeyman.git.mirror import Mirror
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders


@dataclass(frozen=True, kw_only=True)
class OrderEnvironment:
    orders: WorkOrders
    order: WorkOrder
    mirror: Mirror
    plans: EnvironmentPlans
    setup: EnvironmentSetup

    async def planned(self) -> Planned:
        """What the order's base commit says that it needs."""
        assert self.order.base_commit_sha is not None, "the order is prepared first"
        repository = await self.orders.repositories.of_url(self.order.repository_url)
        stored = repository.definition if repository else None
        return await self.plans.at(self.mirror, self.order.base_commit_sha, stored)

    async def ready(self, commit_sha: str | None = None) -> ReadyEnvironment:
        """The environment of the base commit, or of one of the order's own, installed."""
        planned = await self.planned()
        base = self.order.base_commit_sha
        commit = commit_sha or base
        assert commit is not None
        project = planned.project if commit == base else await self.plans.project(self.mirror, commit)
        is_changed = any(
            project.blobs.get(path) != planned.project.blobs.get(path)
            for path in planned.environment.key_files
        )
        return await self.setup.prepare(
            self.mirror,
            commit if is_changed else base,
            planned.environment,
            project if is_changed else planned.project,
            owner_id=self.order.agent_work_order_id,
            repository_url=self.order.repository_url,
            private_to=self.order.agent_work_order_id if is_changed else None,
            emit=self._emit,
        )
