"""Turn a waiting prompt into the order's next round.

Work goes on the same branch and ends in the same pull request; a question gets an answer and changes nothing.
"""

from typing import Any

from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.prompts import Mode, Prompt
from journeyman.workflows.loader import library

WORKFLOW_OF: dict[Mode, str] = {"work": "agent_workflow_follow_up", "ask": "agent_workflow_answer"}


def next_round(order: WorkOrder, prompt: Prompt, round: int) -> OrderChanges:
    """What changes about an order when a prompt becomes its next round."""
    workflow = library()[WORKFLOW_OF[prompt.mode]].model_dump(mode="json")
    return {
        "status": "pending",
        "round": round,
        "attempt": order.attempt + 1,
        "round_prompt": prompt.text,
        "round_workflow": workflow,
        "last_writer": _who_goes_on(order, workflow, round),
        "error_message": None,
        "error_category": None,
        "error_hint": None,
        "execution_completed_at": None,
    }


def _who_goes_on(order: WorkOrder, workflow: dict[str, Any], round: int) -> str | None:
    """Whose the uncommitted files are in the next round.

    What a building step of a failed round wrote is gone on with. What a cancelled round left stays its own,
    so that the next begins from the branch's head.
    """
    kinds = {f"{order.round}/{step['name']}": step["kind"] for step in order.current_workflow["steps"]}
    if order.status == "cancelled" or kinds.get(order.last_writer or "") != "build":
        return order.last_writer
    builders = [step["name"] for step in workflow["steps"] if step["kind"] == "build"]
    return f"{round}/{builders[0]}" if builders else order.last_writer
