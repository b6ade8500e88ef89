"""Commands of an order's repository, as they were found when the order was started.

They are read from the order's events: a server without a copy of the repository can answer too.
"""

from fastapi import APIRouter
from pydantic import BaseModel

from journeyman.api.services import Given
from journeyman.api.work_orders import Order
from journeyman.events.log import first_of
from journeyman.events.types import CommandProblem, FoundCommand, RepositoryCommandsFound

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}", tags=["prompts"])


class CommandViews(BaseModel):
    commands: list[FoundCommand] = []
    problems: list[CommandProblem] = []
    """Files that are no commands because something is wrong with them."""


@router.get("/commands")
async def commands(order: Order, services: Given) -> CommandViews:
    """What a prompt to this order can call as `/name arguments`; nothing before its first round has begun."""
    stored = await first_of(services.database, order.agent_work_order_id, "repository_commands_found")
    if stored is None or not isinstance(stored.event, RepositoryCommandsFound):
        return CommandViews()
    return CommandViews(commands=stored.event.commands, problems=stored.event.problems)
