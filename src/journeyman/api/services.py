"""What the handlers are given.

`app.py` fills it in: no handler knows which forge, sandbox or agent it talks to.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends
from starlette.requests import HTTPConnection

from journeyman.agents.base import Agent
from journeyman.agents.small_model import SmallModel
from journeyman.database import Database
from journeyman.engine.transitions import Standstill, Stop
from journeyman.events.feed import Feed
from journeyman.forges.base import Forge, PullRequestStore
from journeyman.gateway.gateway import Gateway
from journeyman.git.mirror import Mirror
from journeyman.sandboxes.base import SandboxProvider
from journeyman.settings import Settings
from journeyman.work_orders.approvals import ApprovalDecision
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.catalog import WorkflowCatalog


class Control(Protocol):
    """What can be done to an order from the API, wherever its worker is."""

    def wake(self) -> None:
        """Say that an order waits to be started; a worker in another process hears of it by itself."""
        ...

    async def stop_order(self, order_id: str, stop: Stop) -> WorkOrder:
        """Pause or cancel; returns when nothing of the order runs any more."""
        ...

    async def positions(self) -> Mapping[str, int]:
        """The place in the line of every order that waits to be started."""
        ...

    async def requeue(self, order_id: str, *, after: Standstill) -> WorkOrder: ...

    async def retry_from(self, order_id: str, step: str) -> WorkOrder: ...

    async def fork(self, order_id: str, step: str, *, prompt: str | None, **changes: Any) -> WorkOrder: ...

    async def decide(
        self, order_id: str, step: str | None, decision: ApprovalDecision, comment: str
    ) -> WorkOrder:
        """Take a person's decision on a step that waits for it; None means the one that does."""
        ...

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        """Clear away what the retention policy lets go of; says what went, or would go."""
        ...


@dataclass(frozen=True)
class Forges:
    by_name: Mapping[str, Forge]
    """By `Repository.forge`."""
    local_pull_requests: PullRequestStore

    def __getitem__(self, name: str) -> Forge:
        return self.by_name[name]


@dataclass(frozen=True)
class Branches:
    """The branches of orders, as the mirrors of this machine have them."""

    mirror_of: Callable[[WorkOrder], Awaitable[Mirror]]
    """The mirror of an order's repository, with what the order holds by now."""
    refresh: Callable[[WorkOrder], None]
    """Looks in the background whether people have pushed to the branch of an idle order."""


@dataclass(frozen=True)
class Models:
    gateway: Gateway
    small: SmallModel | None = None
    """Sorts prompts; without one a rule does."""


@dataclass(frozen=True)
class Host:
    """The machine that the API runs on."""

    sandboxes: SandboxProvider
    is_ready: Callable[[], Awaitable[Mapping[str, bool]]]


@dataclass(frozen=True)
class Services:
    settings: Settings
    orders: WorkOrders
    feed: Feed
    forges: Forges
    branches: Branches
    host: Host
    agents: Mapping[str, Agent]
    """By name; the first is the one that orders get when they name none."""
    models: Models
    workflows: WorkflowCatalog
    control: Control

    @property
    def database(self) -> Database:
        return self.orders.database


async def _services_of(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


Given = Annotated[Services, Depends(_services_of)]
"""A handler's parameter of this type is the running product's parts."""
