"""End an order that could not be brought forward, however often it was begun again."""

from datetime import UTC, datetime

from journeyman.engine.store import Held
from journeyman.events.types import AgentWorkOrderFailed
from journeyman.work_orders.store import WorkOrders


async def give_up(orders: WorkOrders, held: Held, why: str) -> None:
    """Fail the order. Its branch, its snapshots and its workspace stay: nothing is cleared away here."""
    message = f"the order made no progress, though it was begun again several times: {why}"
    hint = "The server's log says more. What was done is on the order's branch; retry goes on from there."
    order = await orders.get(held.order_id)
    failed = AgentWorkOrderFailed(
        error_message=message,
        error_category="internal",
        hint=hint,
        github_pull_request_url=order.github_pull_request_url,
    )
    await orders.change(
        held.order_id,
        failed,
        status="failed",
        error_message=message,
        error_category="internal",
        error_hint=hint,
        execution_completed_at=datetime.now(UTC),
    )
