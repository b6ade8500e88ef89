"""Which commands an order allows next.

The server says so in `allowed_actions`. One that does not is older than this client: then no hint is given.
"""

from typing import Any

_COMMANDS = {
    "approve": ("approve", "reject"),
    "resume": ("resume",),
    "retry": ("retry",),
    "prompt": ("prompt",),
    "fork": ("fork",),
    "pause": ("pause",),
    "cancel": ("cancel",),
}
"""By action, the most useful first. Actions without a command of their own are left out."""


def next_commands(order: dict[str, Any]) -> list[str]:
    """Commands of `jm` that the order allows as it is now."""
    allowed = set(order.get("allowed_actions") or ())
    if order["status"] != "awaiting_approval":
        allowed.discard("approve")  # allowed while any step is open, but no step waits for it
    return [command for action, commands in _COMMANDS.items() if action in allowed for command in commands]


def next_line(order: dict[str, Any]) -> str:
    """The same for a person; empty when nothing is known."""
    return ", ".join(f"jm {command} {order['agent_work_order_id']}" for command in next_commands(order))
