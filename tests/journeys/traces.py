"""What an order leaves behind: processes on the machine, and a story that can be checked."""

from collections import Counter
from typing import Any

import psutil

from journeyman.sandboxes.identity import jail_uid


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
