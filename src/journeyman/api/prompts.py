"""Prompts to an order that was accepted: queued while a round runs, then a round of their own."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict

from journeyman.api.fields import InDigits, OrderId, Task
from journeyman.api.forge_limits import in_time
from journeyman.api.models import Body
from journeyman.api.services import Given, Services
from journeyman.api.work_orders import Order, repository_of
from journeyman.errors import InvalidInput
from journeyman.events.types import AgentNotice
from journeyman.forges.pull_request_state import check_still_open
from journeyman.work_orders.order import WorkOrder, check_prompt
from journeyman.work_orders.prompts import Mode, PromptStatus, mode_of

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}", tags=["prompts"])


class PromptRequest(Body):
    agent_work_order_id: OrderId
    prompt_text: Task
    mode: Mode | None = None
    """`work` or `ask`; left out, the small model decides, or a text that ends as a question asks."""


class PromptAnswer(BaseModel):
    agent_work_order_id: str
    prompt_accepted: bool
    message: str
    number: int


class PromptView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    number: int
    text: str
    mode: Mode
    status: PromptStatus
    round: int | None
    created_at: datetime


class PromptViews(BaseModel):
    agent_work_order_id: str
    prompts: list[PromptView]


@router.post("/prompt")
async def prompt(order: Order, request: PromptRequest, services: Given) -> PromptAnswer:
    """Queue a prompt: work for the order's branch, or a question about it."""
    if request.agent_work_order_id != order.agent_work_order_id:
        raise InvalidInput(
            f"the body names {request.agent_work_order_id!r}, the address {order.agent_work_order_id}",
            hint="Name the same order in both.",
        )
    text = check_prompt(request.prompt_text).strip()
    if not text:
        raise InvalidInput("the prompt is empty", hint="Say what is wanted.")
    mode = request.mode or await _mode_of(services, order, text)
    if mode == "work":
        repository = repository_of(order, services.settings)
        looking = check_still_open(services.orders, services.forges[repository.forge], repository, order)
        await in_time(looking, repository)
    added = await services.orders.prompts.add(order.agent_work_order_id, text, mode)
    services.control.wake()
    begins = "now" if order.is_finished else f"when the order, which is {order.status}, has come to its end"
    return PromptAnswer(
        agent_work_order_id=order.agent_work_order_id,
        prompt_accepted=True,
        message=f"{'An answer' if mode == 'ask' else 'Work'} begins {begins}.",
        number=added.number,
    )


async def _mode_of(services: Services, order: WorkOrder, text: str) -> Mode:
    """The mode that the small model chooses; by the text alone where there is no model, or it fails."""
    if services.models.small is None:
        return mode_of(text)
    sorted_prompt = await services.models.small.prompt_intent(order, text)
    if sorted_prompt.answer is not None:
        counted = services.models.small.event_of("prompt", sorted_prompt.answer)
        await services.orders.usage.add(
            order.agent_work_order_id, order.round, "prompt", sorted_prompt.answer.usage, counted
        )
    if sorted_prompt.value is not None:
        return sorted_prompt.value.mode
    notice = f"the prompt was sorted by its last character: {sorted_prompt.fault}"
    await services.orders.emit(order.agent_work_order_id, AgentNotice(step="prompt", text=notice))
    return mode_of(text)


@router.get("/prompts")
async def prompts(order: Order, services: Given) -> PromptViews:
    found = await services.orders.prompts.of_order(order.agent_work_order_id)
    return PromptViews(
        agent_work_order_id=order.agent_work_order_id,
        prompts=[PromptView.model_validate(one) for one in found],
    )


@router.delete("/prompts/{number}")
async def cancel_prompt(
    order: Order, number: Annotated[int, Path(ge=1, le=2**31 - 1), InDigits], services: Given
) -> PromptViews:
    """Withdraw a prompt that has not become a round yet."""
    await services.orders.prompts.cancel(order.agent_work_order_id, number)
    return await prompts(order, services)
