"""Ask something of a running order, and wait for the round that comes of it."""

from typing import Any

from tests.faults.waiting import wait_for
from tests.journeys.product import Product


def prompt(product: Product, order_id: str, text: str, status: int = 200, **more: Any) -> dict[str, Any]:
    body = {"agent_work_order_id": order_id, "prompt_text": text, **more}
    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/prompt", json=body)
    assert answer.status_code == status, answer.text
    result: dict[str, Any] = answer.json()
    return result


def finish_round(product: Product, order_id: str, round: int) -> dict[str, Any]:
    """Wait for the end of a round."""

    def ended() -> dict[str, Any] | None:
        events = list(product.follow(order_id))
        order = product.order(order_id)
        started = [event["round"] for event in events if event["type"] == "agent_work_order_started"]
        return order if started[-1:] == [round] and order["status"] in ("completed", "failed") else None

    return wait_for(ended, f"the end of round {round} of {order_id}")


def control(product: Product, order_id: str, action: str, status: int = 202) -> dict[str, Any]:
    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/{action}")
    assert answer.status_code == status, answer.text
    result: dict[str, Any] = answer.json()
    return result


def in_the_command(event: dict[str, Any]) -> bool:
    return bool(event["type"] == "tool_call_started" and event["tool"] == "shell")
