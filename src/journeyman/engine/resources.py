"""What a worker works with.

Everything here can be rebuilt from the order, the mirror and its snapshots; losing the process loses
nothing but time.
"""

from dataclasses import dataclass, replace

from journeyman.agents.catalog import AgentCatalog
from journeyman.engine.checkout import OrderCheckout
from journeyman.engine.handover import Handover
from journeyman.engine.repositories import Repositories
from journeyman.engine.step_contexts import StepContexts
from journeyman.engine.store import Claims
from journeyman.engine.teardown import Teardown
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.git.mirror import Mirror
from journeyman.sandboxes.base import SandboxProvider
from journeyman.settings import Settings
from journeyman.steps.order_environment import EnvironmentParts, OrderEnvironment
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders


@dataclass(frozen=True, kw_only=True, repr=False)  # the engine's log would hold all of it
class WorkerResources:
    settings: Settings
    orders: WorkOrders
    workspaces: OpenWorkspaces
    sandboxes: SandboxProvider
    agents: AgentCatalog
    handover: Handover
    environments: EnvironmentParts

    def held_by(self, holder: str) -> "WorkerResources":
        """The same for one claim of an order: its writes are refused once the order is claimed again."""
        return replace(self, orders=self.orders.held_by(holder))

    @property
    def worker_id(self) -> str:
        return self.handover.worker_id

    @property
    def claims(self) -> Claims:
        return self.handover.claims

    @property
    def repositories(self) -> Repositories:
        return self.workspaces.repositories

    @property
    def checkout(self) -> OrderCheckout:
        return OrderCheckout(
            settings=self.settings,
            orders=self.orders,
            repositories=self.repositories,
            workspaces=self.workspaces,
            handover=self.handover,
            small_model=self.agents.small_model,
        )

    @property
    def step_contexts(self) -> StepContexts:
        return StepContexts(
            settings=self.settings,
            orders=self.orders,
            workspaces=self.workspaces,
            sandboxes=self.sandboxes,
            agents=self.agents,
            handover=self.handover,
            environments=self.environments,
        )

    def environment_of(self, order: WorkOrder, mirror: Mirror) -> OrderEnvironment:
        return OrderEnvironment(orders=self.orders, order=order, mirror=mirror, parts=self.environments)

    @property
    def teardown(self) -> Teardown:
        return Teardown(self.settings, self.orders, self.workspaces, self.sandboxes, self.handover)
