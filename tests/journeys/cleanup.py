"""Orders with unfinished work in them, and what cleaning up makes of them."""

from typing import Any

from tests.faults.waiting import wait_for
from tests.journeys.product import Product
from tests.journeys.repositories import calls, git, says

WAITS = "[ -e half.txt ] && mv half.txt found.txt || { echo half done > half.txt; sleep 600; }"
HANGS: dict[str, Any] = {
    "when": {"role": "build"},
    "replies": [calls("shell", command=WAITS), says("Done.")],
}


def wait_for_half(product: Product, order_id: str) -> None:
    """Half of the work is done, and nothing of it is committed."""
    product.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    half = product.home / "workspaces" / order_id / "tree" / "half.txt"
    wait_for(lambda: half.exists() and half.read_text(), f"half of the work of {order_id}")


def cleanup(product: Product, *, dry_run: bool = False) -> list[str]:
    answer = product.request("POST", "/api/cleanup", json={"dry_run": dry_run})
    assert answer.status_code == 200, answer.text
    removed: list[str] = answer.json()["removed"]
    return removed


def mirror_refs(product: Product) -> list[str]:
    [mirror] = (product.home / "mirrors").glob("*.git")
    return git(mirror, "for-each-ref", "--format=%(refname)").splitlines()
