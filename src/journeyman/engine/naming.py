"""Name an order and its branch when it is taken up for the first time, where a small model is set.

Names that a person chose stay. A branch has its name for good from the moment that it is written down where
it begins; until then naming may happen twice, and the second time counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from journeyman.agents.small_model import SmallModel
from journeyman.events.log import read_all
from journeyman.events.types import (
    AgentNotice,
    AgentWorkOrderChanged,
    AgentWorkOrderCreated,
    AgentWorkOrderNamed,
    StoredEvent,
)
from journeyman.work_orders.changes import DecidedChange, OrderChanges
from journeyman.work_orders.order import WorkOrder, branch_name_of, title_of
from journeyman.work_orders.repository_record import ENVIRONMENT_CHECK, ENVIRONMENT_FILE
from journeyman.work_orders.store import WorkOrders


@dataclass(frozen=True)
class MadeUp:
    """Which of an order's names no person chose."""

    title: bool
    branch: bool


def made_up(order: WorkOrder, events: Sequence[StoredEvent]) -> MadeUp:
    """The title of an issue, or of an order that this one was forked from, is a person's."""
    first = next((one.event.title for one in events if isinstance(one.event, AgentWorkOrderCreated)), "")
    renamed = any(isinstance(one.event, AgentWorkOrderChanged) and one.event.title for one in events)
    chosen = renamed or order.title != first or bool(order.github_issue_number or order.forked_from)
    return MadeUp(
        title=not chosen,
        branch=order.git_branch_name == branch_name_of(first, order.agent_work_order_id),
    )


@dataclass(frozen=True)
class Chosen:
    title: str
    git_branch_name: str


async def ask_for_names(
    small_model: SmallModel | None, orders: WorkOrders, order: WorkOrder, task: str
) -> Chosen | None:
    """Names for what no person named. Emits what the question cost, or why it has no answer."""
    if small_model is None or order.workflow_type in (ENVIRONMENT_CHECK, ENVIRONMENT_FILE):
        return None
    order_id = order.agent_work_order_id
    free = made_up(order, await read_all(orders.database, order_id))
    if not (free.title or free.branch):
        return None
    suggestion = await small_model.names(order, task)
    if suggestion.answer is not None:
        counted = small_model.event_of("prepare", suggestion.answer)
        await orders.usage.add(order_id, order.round, "prepare", suggestion.answer.usage, counted)
    if suggestion.value is None:
        notice = f"the order keeps the name made from its task: {suggestion.fault}"
        await orders.emit(order_id, AgentNotice(step="prepare", text=notice))
        return None
    sayable = re.search("[A-Za-z0-9]", suggestion.value.branch) is not None
    return Chosen(
        title=title_of(suggestion.value.title) if free.title else order.title,
        git_branch_name=branch_name_of(suggestion.value.branch, order_id)
        if free.branch and sayable
        else order.git_branch_name,
    )


def naming(before: WorkOrder, chosen: Chosen | None, now: WorkOrder) -> DecidedChange:
    """What changes about the order as it is now; a title that a person gave it meanwhile stays."""
    if chosen is None:
        return [], {}
    title = chosen.title if now.title == before.title else now.title
    changes: OrderChanges = {"title": title, "git_branch_name": chosen.git_branch_name}
    if changes == {"title": now.title, "git_branch_name": now.git_branch_name}:
        return [], {}
    return [AgentWorkOrderNamed(title=title, git_branch_name=chosen.git_branch_name)], changes
