"""Which commands are shown next, by what the server says that the order allows."""

from typing import Any

import pytest

from journeyman.cli.hints import next_commands, next_line


def order(status: str, **more: Any) -> dict[str, Any]:
    return {"agent_work_order_id": "wo-1", "status": status, **more}


@pytest.mark.parametrize(
    ("status", "allowed", "expected"),
    [
        ("paused", ["resume", "cancel", "approve"], ["resume", "cancel"]),
        ("awaiting_approval", ["cancel", "approve"], ["approve", "reject", "cancel"]),
        ("failed", ["retry_from_step", "retry", "prompt"], ["retry", "prompt"]),
        ("completed", ["change_model", "merge", "an_action_of_later"], []),
    ],
)
def test_only_what_the_order_allows_is_offered(status: str, allowed: list[str], expected: list[str]) -> None:
    assert next_commands(order(status, allowed_actions=allowed)) == expected


def test_a_server_that_does_not_say_what_is_allowed_gets_no_hint() -> None:
    assert next_line(order("paused")) == ""


def test_a_hint_names_the_order() -> None:
    assert next_line(order("paused", allowed_actions=["resume"])) == "jm resume wo-1"
