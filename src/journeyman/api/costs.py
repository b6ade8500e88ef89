"""What models cost: one order by round, step, model and agent, and all orders by day."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from journeyman.api.fields import InDigits
from journeyman.api.services import Given
from journeyman.api.work_orders import Order
from journeyman.gateway.store import CostRow, ModelCalls

router = APIRouter(prefix="/api", tags=["costs"])

Key = TypeVar("Key")


class _Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


class Total(_Answer):
    calls: int
    unpriced_calls: int
    """Calls whose cost is unknown; `cost_usd` is without them."""
    cost_usd: float | None
    """Null when there are calls, and the cost of none is known."""
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int
    tokens_cache_write: int


class StepCost(Total):
    round: int
    step: str


class ModelCost(Total):
    model: str


class AgentCost(Total):
    agent: str


class RoundCost(Total):
    round: int


class OrderCost(_Answer):
    agent_work_order_id: str
    budget_usd: float | None
    total: Total
    by_round: list[RoundCost]
    by_step: list[StepCost]
    by_model: list[ModelCost]
    by_agent: list[AgentCost]


class DayCost(_Answer):
    day: date
    calls: int
    unpriced_calls: int
    cost_usd: float


class Spent(_Answer):
    days: list[DayCost]
    """Days of UTC; those without a call are left out."""
    budget_per_day_usd: float | None
    budget_total_usd: float | None
    spent_total_usd: float


@router.get("/agent-work-orders/{agent_work_order_id}/cost", tags=["agent work orders"])
async def cost(order: Order, services: Given) -> OrderCost:
    """Calls that were answered, through whichever agent."""
    lines = await ModelCalls(services.database).of_order(order.agent_work_order_id)
    return OrderCost(
        agent_work_order_id=order.agent_work_order_id,
        budget_usd=order.budget_usd,
        total=Total(**_sum(lines)),
        by_round=[RoundCost(round=key, **_sum(some)) for key, some in _by(lines, lambda line: line.round)],
        by_step=[
            StepCost(round=key[0], step=key[1], **_sum(some))
            for key, some in _by(lines, lambda line: (line.round, line.step))
        ],
        by_model=[ModelCost(model=key, **_sum(some)) for key, some in _by(lines, lambda line: line.model)],
        by_agent=[AgentCost(agent=key, **_sum(some)) for key, some in _by(lines, lambda line: line.agent)],
    )


@router.get("/spending")
async def spending(services: Given, days: Annotated[int, Query(ge=1, le=366), InDigits] = 30) -> Spent:
    """What all orders spent on models on each of the last days, and what they may."""
    calls = ModelCalls(services.database)
    first = datetime.now(UTC).date() - timedelta(days=days - 1)
    return Spent(
        days=[DayCost.model_validate(day) for day in await calls.by_day(first)],
        budget_per_day_usd=services.settings.budget_per_day_usd,
        budget_total_usd=services.settings.budget_total_usd,
        spent_total_usd=await calls.spent_ever(),
    )


def _by(lines: Iterable[CostRow], key: Callable[[CostRow], Key]) -> list[tuple[Key, list[CostRow]]]:
    """The lines of each key, keys in the order in which they first came."""
    found: dict[Key, list[CostRow]] = {}
    for line in lines:
        found.setdefault(key(line), []).append(line)
    return list(found.items())


def _sum(lines: list[CostRow]) -> dict[str, Any]:
    calls = sum(line.calls for line in lines)
    unpriced = sum(line.unpriced_calls for line in lines)
    known = sum(line.cost_usd for line in lines)
    return {
        "calls": calls,
        "unpriced_calls": unpriced,
        "cost_usd": None if calls and calls == unpriced else known,
        "tokens_in": sum(line.tokens_in for line in lines),
        "tokens_out": sum(line.tokens_out for line in lines),
        "tokens_cache_read": sum(line.tokens_cache_read for line in lines),
        "tokens_cache_write": sum(line.tokens_cache_write for line in lines),
    }
