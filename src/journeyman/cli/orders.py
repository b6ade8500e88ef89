"""Submit a work order and watch it.

Watching is never what keeps an order alive: Ctrl-C detaches, and the order goes on.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from journeyman.cli.background_server import ensure_server
from journeyman.cli.client import Client
from journeyman.cli.render import Story
from journeyman.cli.terminal import console, note, one_line, print_json, print_json_line, styled, warn
from journeyman.errors import Conflict, InvalidInput
from journeyman.settings import Settings

_DETACHED = 130
_WAITING_FOR_A_PERSON = frozenset({"paused", "awaiting_approval"})


def new_order(
    task: str | None,
    repository: str,
    workflow: str | None = None,
    agent: str | None = None,
    model: str | None = None,
    sandbox: str | None = None,
    budget: float | None = None,
    branch: str | None = None,
    base: str | None = None,
    issue: int | None = None,
    priority: int | None = None,
) -> dict[str, Any]:
    """The request for an order; what is not given is left to the server."""
    if task == "-":
        task = sys.stdin.read()
    if not task and issue is None:
        raise InvalidInput("there is no task", hint='Say what is wanted: jm run "Fix the failing test".')
    given = {
        "repository_url": repository_address(repository),
        "initial_prompt": task,
        "workflow_type": workflow,
        "agent": agent,
        "model": model,
        "sandbox_type": sandbox,
        "budget_usd": budget,
        "git_branch_name": branch,
        "base_branch": base,
        "github_issue_number": None if issue is None else str(issue),
        "priority": priority,
    }
    return {name: value for name, value in given.items() if value is not None}


def repository_address(text: str) -> str:
    """An address as it is; a directory as the absolute path of the repository around it."""
    if "://" in text:
        return text
    path = Path(text).expanduser()
    if not path.is_dir():
        return text
    found = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False
    )
    # A bare repository has no top-level directory and is named by its own path.
    return found.stdout.removesuffix("\n") if found.returncode == 0 else str(path.resolve())


def run(settings: Settings, order: dict[str, Any], *, as_json: bool) -> int:
    ensure_server(settings)
    return submit(settings, order, watch=True, as_json=as_json)


def submit(settings: Settings, order: dict[str, Any], *, watch: bool, as_json: bool) -> int:
    client = Client(settings)
    answer = client.submit(order)
    made = answer["agent_work_order"]
    if watch:
        return _follow(client, made["agent_work_order_id"], as_json=as_json)
    if as_json:
        print_json(answer)
        return 0
    _warn_about_isolation(client)
    order_id = made["agent_work_order_id"]
    console().print(styled((order_id, "bold"), f"  {made['status']}  {made['git_branch_name']}"))
    note(f"Watch it with `jm watch {order_id}`.")
    return 0


def prompt(settings: Settings, order_id: str, text: str, mode: str | None, *, as_json: bool) -> None:
    answer = Client(settings).prompt(order_id, text, mode)
    if as_json:
        print_json(answer)
        return
    console().print(styled((order_id, "bold"), f"  {answer['message']}"))
    note(f"Watch it with `jm watch {order_id}`.")


def control(
    settings: Settings, order_id: str, action: str, body: dict[str, Any] | None, *, as_json: bool
) -> None:
    """Pause, resume, cancel, retry or fork an order."""
    _say_status(Client(settings).control(order_id, action, body), as_json=as_json)


def _say_status(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    order = answer["agent_work_order"]
    console().print(styled((order["agent_work_order_id"], "bold"), f"  {order['status']}"))


def decide(
    settings: Settings,
    order_id: str,
    step: str | None,
    decision: str,
    comment: str,
    *,
    rework: bool,
    as_json: bool,
) -> None:
    """Approve or reject a step; without a name, the one that waits."""
    client = Client(settings)
    if step is None:
        waiting = sorted({one["step"] for one in client.approvals(order_id) if one["decision"] == "waiting"})
        if len(waiting) != 1:
            raise Conflict(
                f"{len(waiting)} steps of {order_id} wait for a decision",
                hint=f"Name one of them: {', '.join(waiting)}."
                if waiting
                else "`jm show` tells what it does.",
            )
        [step] = waiting
    _say_status(client.decide(order_id, step, decision, comment, rework=rework), as_json=as_json)


def cleanup(settings: Settings, *, dry_run: bool, as_json: bool) -> None:
    """Clear away what is not needed any more, or say what that would be."""
    answer = Client(settings).cleanup(dry_run=dry_run)
    if as_json:
        print_json(answer)
        return
    for what in answer["removed"]:
        console().print(one_line(what))
    if not answer["removed"]:
        note("There is nothing to clear away.")


def watch(settings: Settings, order_id: str, *, as_json: bool) -> int:
    return _follow(Client(settings), order_id, as_json=as_json)


def _follow(client: Client, order_id: str, *, as_json: bool) -> int:
    """Tell the order's story to its end. The exit code says how it ended."""
    order = client.order(order_id)
    story = Story(console())
    try:
        if not as_json:
            _warn_about_isolation(client)
        if order["status"] not in _WAITING_FOR_A_PERSON:
            for event in client.events(order_id):
                if as_json:
                    print_json_line(event)
                else:
                    story.tell(event)
            order = client.order(order_id)
    except KeyboardInterrupt:
        note(f"\nDetached; the order goes on. Watch it again with `jm watch {order_id}`.")
        return _DETACHED
    if as_json:
        print_json_line({"type": "state", "agent_work_order": order})
    else:
        story.end(order)
    if order["status"] in _WAITING_FOR_A_PERSON:
        return 3
    return 0 if order["status"] == "completed" else 1


def _warn_about_isolation(client: Client) -> None:
    if client.get("/health")["isolation"] == "none":
        warn("agents run without isolation, as the user of the server (JOURNEYMAN_LOCAL_ISOLATION=none).")
