"""Turn a waiting prompt into the order's next round.

Work goes on the same branch and ends in the same pull request; a question gets an answer and changes nothing.
"""

from typing import Any

from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.prompts import Mode, Prompt
from journeyman.workflows.loader import library

_WORKFLOW_OF: dict[Mode, str] = {"work": "agent_workflow_follow_up", "ask": "agent_workflow_answer"}


def next_round(order: WorkOrder, prompt: Prompt) -> dict[str, Any]:
    """What changes about an order when a prompt becomes its next round."""
    return {
        "status": "pending",
        "round": order.round + 1,
        "attempt": 1,
        "round_prompt": prompt.text,
        "workflow": library()[_WORKFLOW_OF[prompt.mode]].model_dump(mode="json"),
        "error_message": None,
        "error_category": None,
        "error_hint": None,
        "execution_completed_at": None,
    }
