"""Submit a work order and watch it.

Watching is never what keeps an order alive: Ctrl-C detaches, and the order goes on.
"""

from typing import Any

from journeyman.cli.background_server import ensure_server
from journeyman.cli.client import Client
from journeyman.cli.order_request import OrderRequest
from journeyman.cli.render import EventRenderer
from journeyman.cli.terminal import console, note, print_json, print_json_line, single_line, styled, warn
from journeyman.errors import Conflict
from journeyman.settings import Settings

_DETACHED = 130
_WAITING_FOR_A_PERSON = frozenset({"paused", "awaiting_approval"})


def submit_and_watch(settings: Settings, request: OrderRequest, *, as_json: bool) -> int:
    body = request.body()
    ensure_server(settings)
    return _submit(settings, body, watch=True, as_json=as_json)


def submit_order(settings: Settings, request: OrderRequest, *, watch: bool, as_json: bool) -> int:
    return _submit(settings, request.body(), watch=watch, as_json=as_json)


def _submit(settings: Settings, body: dict[str, Any], *, watch: bool, as_json: bool) -> int:
    client = Client(settings)
    answer = client.submit(body)
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
    _print_status(Client(settings).control(order_id, action, body), as_json=as_json)


def _print_status(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    order = answer["agent_work_order"]
    console().print(styled((order["agent_work_order_id"], "bold"), f"  {order['status']}"))


def answer_approval(
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
                else "`jm show` shows what it does.",
            )
        [step] = waiting
    _print_status(client.decide(order_id, step, decision, comment, rework=rework), as_json=as_json)


def cleanup(settings: Settings, *, dry_run: bool, as_json: bool) -> None:
    """Remove what is no longer kept, or say what that would be."""
    answer = Client(settings).cleanup(dry_run=dry_run)
    if as_json:
        print_json(answer)
        return
    for what in answer["removed"]:
        console().print(single_line(what))
    if not answer["removed"]:
        note("There is nothing to remove.")


def watch(settings: Settings, order_id: str, *, as_json: bool) -> int:
    return _follow(Client(settings), order_id, as_json=as_json)


def _follow(client: Client, order_id: str, *, as_json: bool) -> int:
    """Render the order's events until it is idle. The exit code says how it ended."""
    order = client.order(order_id)
    renderer = EventRenderer(console())
    try:
        if not as_json:
            _warn_about_isolation(client)
        if order["status"] not in _WAITING_FOR_A_PERSON:
            for event in client.events(order_id):
                if as_json:
                    print_json_line(event)
                else:
                    renderer.render(event)
            order = client.order(order_id)
    except KeyboardInterrupt:
        note(f"\nDetached; the order goes on. Watch it again with `jm watch {order_id}`.")
        return _DETACHED
    if as_json:
        print_json_line({"type": "state", "agent_work_order": order})
    else:
        renderer.end(order)
    if order["status"] in _WAITING_FOR_A_PERSON:
        return 3
    return 0 if order["status"] == "completed" else 1


def _warn_about_isolation(client: Client) -> None:
    if client.get("/health")["isolation"] == "none":
        warn("agents run without isolation, as the user of the server (JOURNEYMAN_LOCAL_ISOLATION=none).")
