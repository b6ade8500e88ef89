"""What may change about an order is typed as the order has it."""

from dataclasses import fields
from typing import get_type_hints

from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import WorkOrder

SET_ONCE = {
    "agent_work_order_id",
    "repository_url",
    "sandbox_type",
    "workflow_type",
    "workflow",
    "initial_prompt",
    "agent",
    "github_issue_number",
    "priority",
    "forked_from",
    "created_at",
}
WRITTEN_BY_THE_STORE = {"updated_at", "cost_usd", "tokens_in", "tokens_out", "tokens_cache_read"}


def test_every_change_has_the_type_that_the_order_has() -> None:
    of_order = get_type_hints(WorkOrder)
    assert {name: of_order[name] for name in get_type_hints(OrderChanges)} == get_type_hints(OrderChanges)


def test_everything_else_about_an_order_is_set_once_or_written_by_the_store() -> None:
    names = {field.name for field in fields(WorkOrder)}
    assert names - set(get_type_hints(OrderChanges)) == SET_ONCE | WRITTEN_BY_THE_STORE
