"""Pause, resume, cancel, retry and fork an order; approve or reject a step that waits for approval.

The response to a pause or a cancel comes when it is done: nothing of the order runs any more.
"""

from datetime import datetime
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from journeyman.api.fields import Comment, Dollars, ModelNameText, NameText, PromptText
from journeyman.api.models import Body, OneWorkOrder
from journeyman.api.services import Given
from journeyman.api.submission import check_choices, check_room
from journeyman.api.work_orders import Order
from journeyman.errors import InvalidInput
from journeyman.work_orders.approvals import ApprovalDecision
from journeyman.work_orders.order import check_prompt

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
    """Resume a paused order at the step it was stopped in."""
    return OneWorkOrder.of(await services.control.requeue(order.agent_work_order_id, after="pause"))


class RetryRequest(Body):
    from_step: NameText | None = None
    """Run this step and everything after it again, also in an order that was completed."""


@router.post("/retry", status_code=202)
async def retry(order: Order, services: Given, request: RetryRequest | None = None) -> OneWorkOrder:
    """Retry a failed or cancelled order from the step that failed; finished steps are not repeated."""
    order_id = order.agent_work_order_id
    if request is not None and request.from_step is not None:
        return OneWorkOrder.of(await services.control.retry_from(order_id, request.from_step))
    return OneWorkOrder.of(await services.control.requeue(order_id, after="failure"))


class ForkRequest(Body):
    from_step: NameText
    initial_prompt: PromptText | None = None
    agent: NameText | None = None
    model: ModelNameText | None = None
    budget_usd: Dollars | None = None


@router.post("/fork", status_code=201)
async def fork(order: Order, request: ForkRequest, services: Given) -> OneWorkOrder:
    """Create an order that continues from what this one had done before a step, with other choices."""
    changes = request.model_dump(include={"agent", "model", "budget_usd"}, exclude_none=True)
    await check_room(services)
    await check_choices(services, order, agent=request.agent, model=request.model)
    prompt = check_prompt(request.initial_prompt or "").strip() or None
    made = await services.control.fork(order.agent_work_order_id, request.from_step, prompt=prompt, **changes)
    return OneWorkOrder.of(made)


class DecisionRequest(Body):
    decision: Literal["approve", "reject"]
    comment: Comment = ""
    rework: bool = False
    """With `reject`: what came before the step is done again, with the comment in mind."""


class ApprovalView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    step: str
    commit_sha: str
    decision: str
    comment: str
    requested_at: datetime
    decided_at: datetime | None


class ApprovalViews(BaseModel):
    agent_work_order_id: str
    approvals: list[ApprovalView]


@router.get("/approvals")
async def approvals(order: Order, services: Given) -> ApprovalViews:
    """What was asked of people, and what they decided, oldest first."""
    found = await services.orders.approvals.of_order(order.agent_work_order_id)
    return ApprovalViews(
        agent_work_order_id=order.agent_work_order_id,
        approvals=[ApprovalView.model_validate(one) for one in found],
    )


@router.post("/approvals/{step}", status_code=202)
async def decide(order: Order, step: NameText, request: DecisionRequest, services: Given) -> OneWorkOrder:
    """Approve or reject a step; the decision is bound to the commit that the branch is at."""
    if request.decision == "approve" and request.rework:
        raise InvalidInput("what is approved needs no rework", hint="Reject it, or leave rework out.")
    refused: ApprovalDecision = "rework" if request.rework else "rejected"
    decision: ApprovalDecision = "approved" if request.decision == "approve" else refused
    comment = check_prompt(request.comment)
    return OneWorkOrder.of(await services.control.decide(order.agent_work_order_id, step, decision, comment))
