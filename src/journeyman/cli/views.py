"""Show what the server knows: orders, logs, changes, and what can be chosen."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from journeyman.cli.client import Client, order_path
from journeyman.cli.hints import next_line
from journeyman.cli.terminal import (
    clock,
    console,
    counted,
    kept,
    lasted,
    money,
    note,
    print_json,
    print_json_line,
    short,
    single_line,
    strip_controls,
    styled,
    warn,
)
from journeyman.settings import Settings

_PAGE = 1000
_CHATTER = frozenset({"agent_text", "tool_call_started", "tool_call_completed"})
_STYLES = {"completed": "green", "failed": "red", "running": "blue", "paused": "yellow"}


def list_orders(settings: Settings, *, as_json: bool, **query: Any) -> None:
    answer = Client(settings).get("/api/agent-work-orders", **query)
    if as_json:
        print_json(answer)
        return
    rows = [
        (
            order["agent_work_order_id"],
            _status(order["status"]),
            order["verification"],
            order["created_at"][:16].replace("T", " "),
            short(order["title"], 60),
        )
        for order in answer["agent_work_orders"]
    ]
    if not rows:
        note('No work orders. Make one with `jm run "TASK"`.')
        return
    _print_table(("ID", "STATUS", "VERIFIED", "CREATED", "TITLE"), rows)
    if answer["has_more"]:
        note(f"{answer['total_count']} in all; see more with --offset and --limit.")


def show(settings: Settings, order_id: str, *, as_json: bool) -> None:
    client = Client(settings)
    order = client.order(order_id)
    steps = client.get(order_path(order_id) + "/steps")["steps"]
    cost = client.get(order_path(order_id) + "/cost")
    isolation = client.get("/health")["isolation"]
    if as_json:
        print_json({"agent_work_order": order, "steps": steps, "cost": cost, "isolation": isolation})
        return
    if isolation == "none":
        warn("agents run without isolation, as the user of the server.")
    out = console()
    out.print(styled((order["agent_work_order_id"], "bold"), "  ", short(order["title"], 100)))
    for name, value in _facts(order).items():
        if value:
            out.print(styled((f"  {name:<13}", "dim"), single_line(value)))
    if steps:
        _print_table(("STEP", "STATUS", "ATTEMPTS", "TOKENS", "COST"), [_step_row(step) for step in steps])
    if len(cost["by_model"]) > 1 or len(cost["by_agent"]) > 1:
        rows = [_cost_row(one, one["model"]) for one in cost["by_model"]]
        rows += [_cost_row(one, one["agent"]) for one in cost["by_agent"]]
        _print_table(("MODEL, AGENT", "CALLS", "TOKENS", "COST"), rows)
    if unpriced := cost["total"]["unpriced_calls"]:
        note(
            f"{unpriced} of {cost['total']['calls']} model calls have no known price and are not in the cost."
        )


def _cost_row(cost: dict[str, Any], name: str) -> tuple[str | Text, ...]:
    tokens = f"{cost['tokens_in']}/{cost['tokens_out']}"
    return (single_line(name), str(cost["calls"]), tokens, money(cost["cost_usd"]))


def _facts(order: dict[str, Any]) -> dict[str, str]:
    phase = "" if order["current_phase"] in (None, order["status"]) else f", {order['current_phase']}"
    changes = (
        f"{counted(order['git_commit_count'], 'commit')}, {counted(order['git_files_changed'], 'file')}, "
        f"+{order['git_lines_added']} −{order['git_lines_removed']}"
    )
    return {
        "status": order["status"] + phase,
        "goes on": clock(order["resume_at"]),
        "error": order["error_message"] or "",
        "kept": kept(order),
        "what to do": order["error_hint"] or "",
        "verification": order["verification"],
        "pull request": _pull_request(order),
        "repository": order["repository_url"],
        "branch": order["git_branch_name"],
        "changes": changes,
        "workflow": order["workflow_type"],
        "agent": f"{order['agent']} · {order['model']}",
        "cost": f"{money(order['cost_usd'])}, {order['tokens_in']} tokens in, {order['tokens_out']} out",
        "budget": "" if order["budget_usd"] is None else money(order["budget_usd"]),
        "took": lasted(order),
        "next": next_line(order),
    }


def _step_row(step: dict[str, Any]) -> tuple[str | Text, ...]:
    tokens = f"{step['tokens_in']}/{step['tokens_out']}" if step["tokens_in"] else ""
    cost = money(step["cost_usd"]) if step["tokens_in"] else ""
    return (single_line(step["step"]), _status(step["status"]), str(step["attempts"]), tokens, cost)


def logs(settings: Settings, order_id: str, *, follow: bool, as_json: bool) -> int:
    client = Client(settings)
    if follow:
        return _follow_logs(client, order_id, as_json=as_json)
    path = order_path(order_id) + "/logs"
    answer = client.get(path, limit=_PAGE)
    while answer["has_more"]:
        more = client.get(path, limit=_PAGE, offset=len(answer["log_entries"]))
        answer = {**more, "log_entries": answer["log_entries"] + more["log_entries"]}
    if as_json:
        print_json(answer)
        return 0
    for entry in answer["log_entries"]:
        _print_entry(entry, entry["event"])
    return 0


def _follow_logs(client: Client, order_id: str, *, as_json: bool) -> int:
    client.order(order_id)
    try:
        for event in client.events(order_id):
            if event["type"] in _CHATTER:
                continue
            if as_json:
                print_json_line(event)
            else:
                _print_entry(event, event["type"])
    except KeyboardInterrupt:
        return 130
    return 0


def _print_entry(entry: dict[str, Any], event: str) -> None:
    shown = ("timestamp", "level", "event", "type", "agent_work_order_id", "sequence")
    fields = " ".join(
        f"{name}={short(str(value), 120)}" for name, value in entry.items() if name not in shown
    )
    style = "red" if event.endswith("_failed") else "bold"
    console().print(
        styled((entry["timestamp"][:19].replace("T", " ") + " ", "dim"), (event, style), " " + fields)
    )


def diff(settings: Settings, order_id: str, *, as_json: bool) -> None:
    answer = Client(settings).get(order_path(order_id) + "/diff")
    if as_json:
        print_json(answer)
    elif not sys.stdout.isatty():
        sys.stdout.write(answer["diff"])
    else:
        out = console()
        for one in strip_controls(answer["diff"]).splitlines():
            style = {"+": "green", "-": "red", "@": "cyan"}.get(one[:1], "")
            out.print(Text(one, style))


def commands(settings: Settings, order_id: str, *, as_json: bool) -> None:
    answer = Client(settings).get(order_path(order_id) + "/commands")
    if as_json:
        print_json(answer)
        return
    for problem in answer["problems"]:
        warn(f"{problem['path']}: {problem['message']}. {problem['hint']}")
    if not answer["commands"]:
        note("The repository brings no commands, or the order has not begun.")
        return
    rows = [
        (single_line(f"/{one['name']} {one['argument_hint']}".rstrip()), short(one["description"], 100))
        for one in answer["commands"]
    ]
    _print_table(("COMMAND", ""), rows)


def choices(settings: Settings, noun: str, *, as_json: bool) -> None:
    answer = Client(settings).get(f"/api/{noun}")
    if as_json:
        print_json(answer)
        return
    for trouble in answer.get("troubles", []):
        warn(trouble)
    rows = []
    for one in answer[noun]:
        about = one["needs"] or one.get("description", "")
        name = f"{one['name']} {one.get('version') or ''}".strip() if noun == "agents" else one["name"]
        rows.append(
            (single_line(name), Text("ready", "green") if one["ready"] else "not ready", short(about, 100))
        )
    _print_table((noun.upper().removesuffix("S"), "STATE", ""), rows)


def _status(status: str) -> Text:
    return Text(status, _STYLES.get(status, ""))


def _print_table(heads: tuple[str, ...], rows: Sequence[tuple[str | Text, ...]]) -> None:
    table = Table(*heads, box=None, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(*row)
    out = console()
    # A pipe has no width to fit into: cutting there would lose what the reader of the pipe wants.
    out.print(table, width=None if out.is_terminal else 1000)


def _pull_request(order: dict[str, Any]) -> str:
    if order["github_pull_request_url"] is None:
        return ""
    state = order.get("pull_request_state")
    return f"{order['github_pull_request_url']} ({state})" if state else str(order["github_pull_request_url"])
