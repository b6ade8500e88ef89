"""Killed at any moment, the product goes on where it was: nothing is lost and nothing is done twice."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from journeyman.sandboxes.identity import jail_uid
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, calls, git, make_repository, says

BUILDS: dict[str, Any] = {
    "when": {"role": "build"},
    "replies": [
        calls("write_file", path="adder.py", content=FIXED),
        calls("write_file", path="notes.txt", content="an untracked file\n"),
        calls("shell", command="setsid sleep 600 >/dev/null 2>&1 & sleep 0.3; echo ready"),
        says("Done."),
    ],
}


def step(kind: str, name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["type"] == kind and event.get("step") == name


MOMENTS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "accepted": lambda event: event["type"] == "agent_work_order_created",
    "started": lambda event: event["type"] == "agent_work_order_started",
    "workspace made": lambda event: event["type"] == "sandbox_created",
    "planning": step("tool_call_started", "plan"),
    "planned": step("step_completed", "plan"),
    "building": step("tool_call_completed", "build"),
    "in a command": lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell",
    "built": step("git_commit_created", "build"),
    "verifying": step("step_started", "verify"),
    "verified": step("verification_attempt_completed", "verify"),
    "publishing": step("step_started", "publish"),
    "pushed": lambda event: event["type"] == "git_push_completed",
    "published": step("step_completed", "publish"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_order_goes_on_after_a_kill(product: Product, tmp_path: Path, moment: str) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, BUILDS)
    order_id = product.submit(repository, model)
    product.until(order_id, MOMENTS[moment])
    product.kill()
    assert processes_of(order_id) == []
    product.start()
    order = product.finish(order_id)

    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    branch = order["git_branch_name"]
    assert git(repository, "show", f"{branch}:adder.py") == FIXED.strip()
    assert git(repository, "show", f"{branch}:notes.txt") == "an untracked file"
    pull_requests = product.get(f"/api/local-forge/pull-requests?repository_url={repository.as_uri()}")
    assert pull_requests["total_count"] == 1
    check_story(product.events(order_id))
    assert processes_of(order_id) == []
    assert product.leftovers() == []


def test_a_stop_that_was_asked_for_loses_nothing_either(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, BUILDS)
    order_id = product.submit(repository, model)
    product.until(order_id, MOMENTS["in a command"])
    product.stop()
    assert processes_of(order_id) == []
    product.start()
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    check_story(product.events(order_id))


def processes_of(order_id: str) -> list[int]:
    """Every process of an order's jail, by the user that only it has."""
    uid = jail_uid(order_id)
    found = []
    for process in psutil.process_iter():
        try:
            if uid is not None and process.uids().real == uid:
                process.wait(10)
        except psutil.NoSuchProcess:
            continue
        except psutil.TimeoutExpired:
            found.append(process.pid)
    return found


def check_story(events: list[dict[str, Any]]) -> None:
    """The sequence is dense, and a step that ended was not begun again."""
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    completed: set[str] = set()
    for event in events:
        if event["type"] == "step_started":
            assert event["step"] not in completed, f"{event['step']} was done twice"
        if event["type"] == "step_completed":
            completed.add(event["step"])
    kinds = Counter(event["type"] for event in events)
    assert kinds["agent_work_order_completed"] == 1
    assert kinds["github_pull_request_created"] == 1
