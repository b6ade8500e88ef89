"""Pause, resume, cancel and try again.

The answer to a pause or a cancel comes when it is done: from then on nothing of the order happens.
"""

from fastapi import APIRouter

from journeyman.api.models import OneWorkOrder
from journeyman.api.services import Given
from journeyman.api.work_orders import Order

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}", tags=["control"])


@router.post("/pause", status_code=202)
async def pause(order: Order, services: Given) -> OneWorkOrder:
    """Stop the order where it is; it keeps its workspace and can be resumed."""
    return OneWorkOrder.of(await services.control.stop_order(order.agent_work_order_id, "paused"))


@router.post("/cancel", status_code=202)
async def cancel(order: Order, services: Given) -> OneWorkOrder:
    """Stop the order for good; its branch and commits stay, and it can still be retried."""
    return OneWorkOrder.of(await services.control.stop_order(order.agent_work_order_id, "cancelled"))


@router.post("/resume", status_code=202)
async def resume(order: Order, services: Given) -> OneWorkOrder:
    """Let a paused order go on from the step it was stopped in."""
    return OneWorkOrder.of(await services.control.go_on(order.agent_work_order_id, after="pause"))


@router.post("/retry", status_code=202)
async def retry(order: Order, services: Given) -> OneWorkOrder:
    """Let a failed or cancelled order go on from the step that failed; finished steps are not done again."""
    return OneWorkOrder.of(await services.control.go_on(order.agent_work_order_id, after="failure"))
