"""Work orders for tests."""

from datetime import UTC, datetime
from typing import Any

from journeyman.work_orders.order import WorkOrder, new_order_id
from journeyman.workflows.loader import library


def an_order(**changes: Any) -> WorkOrder:
    now = datetime.now(UTC)
    order_id = changes.pop("agent_work_order_id", new_order_id())
    values: dict[str, Any] = {
        "agent_work_order_id": order_id,
        "repository_url": "https://github.com/acme/thing",
        "sandbox_type": "git_worktree",
        "workflow_type": "agent_workflow_build",
        "workflow": library()["agent_workflow_build"].model_dump(mode="json"),
        "title": "Fix the pager",
        "initial_prompt": "Fix the pager",
        "agent": "builtin",
        "model": "scripted/demo",
        "git_branch_name": f"journeyman/fix-the-pager-{order_id}",
        "base_branch": "main",
        "created_at": now,
        "updated_at": now,
    }
    return WorkOrder(**{**values, **changes})
