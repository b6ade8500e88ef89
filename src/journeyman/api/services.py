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
from journeyman.work_orders.approvals import Answer
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.catalog import WorkflowCatalog


class Control(Protocol):
    """Who can stop orders and let them go on."""

    async def stop_order(self, order_id: str, stop: Stop) -> WorkOrder:
        """Pause or cancel; returns when nothing of the order runs any more."""
        ...

    async def positions(self) -> Mapping[str, int]:
        """The place in the line of every order that waits to be started."""
        ...

    async def requeue(self, order_id: str, *, after: Standstill) -> WorkOrder: ...

    async def retry_from(self, order_id: str, step: str) -> WorkOrder: ...

    async def fork(self, order_id: str, step: str, *, prompt: str | None, **changes: Any) -> WorkOrder: ...

    async def decide(self, order_id: str, step: str | None, decision: Answer, comment: str) -> WorkOrder:
        """Take a person's decision on a step that waits for it; None means the one that does."""
        ...

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        """Clear away what the retention policy lets go of; says what went, or would go."""
        ...


@dataclass(frozen=True)
class Services:
    settings: Settings
    database: Database
    orders: WorkOrders
    feed: Feed
    forges: Mapping[str, Forge]
    """By `Repository.forge`."""
    local_pull_requests: PullRequestStore
    mirror_of: Callable[[WorkOrder], Awaitable[Mirror]]
    """The mirror of an order's repository, with what the order holds by now."""
    sandboxes: SandboxProvider
    agents: Mapping[str, Agent]
    """By name; the first is the one that orders get when they name none."""
    gateway: Gateway
    workflows: WorkflowCatalog
    refresh_branch: Callable[[WorkOrder], None]
    """Looks, beside the answer, whether people have pushed to the branch of an order at rest."""
    order_accepted: Callable[[], None]
    """Tells the worker of this process, if it has one, that an order waits."""
    control: Control
    is_ready: Callable[[], Awaitable[Mapping[str, bool]]]
    small_model: SmallModel | None = None
    """Sorts prompts; without one a rule does."""


async def _services_of(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


Given = Annotated[Services, Depends(_services_of)]
"""A handler's parameter of this type is the running product's parts."""
