"""What an order's network refused, and what people allowed: for the order, or for its repository."""

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, Field

from journeyman.api.models import Body
from journeyman.api.services import Given, Services
from journeyman.api.work_orders import Order
from journeyman.events.log import read_all
from journeyman.work_orders.network import Scope, check_host, denied_hosts
from journeyman.work_orders.order import WorkOrder

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}/network", tags=["network"])


class AllowRequest(Body):
    host: str = Field(min_length=1, max_length=300)
    """A name, without scheme, port or path."""
    scope: Scope


class DeniedAccess(BaseModel):
    host: str
    port: int
    phase: str
    step: str | None
    command: str | None
    reason: str
    may_be_allowed: bool
    """Whether a person can allow it; a private address never is."""
    denied_at: AwareDatetime
    """When it was last refused."""
    allowed: Scope | None
    """For whom it is allowed by now; null while it is not."""


class AllowedAccess(BaseModel):
    host: str
    scope: Scope
    allowed_at: AwareDatetime


class NetworkView(BaseModel):
    agent_work_order_id: str
    denied: list[DeniedAccess]
    """Each host once."""
    allowed: list[AllowedAccess]
    """To this order, and to its repository."""


@router.get("")
async def network(order: Order, services: Given) -> NetworkView:
    return await _view(order, services)


@router.post("/allow")
async def allow(order: Order, request: AllowRequest, services: Given) -> NetworkView:
    """Let sandboxes reach a host; private names and addresses are refused."""
    events = await read_all(services.database, order.agent_work_order_id)
    await services.orders.grants.add(order, check_host(request.host, events), request.scope)
    return await _view(order, services)


async def _view(order: WorkOrder, services: Services) -> NetworkView:
    grants = await services.orders.grants.of_order(order)
    events = await read_all(services.database, order.agent_work_order_id)
    return NetworkView(
        agent_work_order_id=order.agent_work_order_id,
        denied=[
            DeniedAccess(
                **one.denied.model_dump(exclude={"type"}), denied_at=one.denied_at, allowed=one.granted
            )
            for one in denied_hosts(events, grants)
        ],
        allowed=[
            AllowedAccess(host=grant.host, scope=grant.scope, allowed_at=grant.created_at) for grant in grants
        ],
    )
