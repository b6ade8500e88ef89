"""Check whether a repository can be worked on, through the server, and print what it found.

The check is an order: Ctrl-C detaches and it goes on, as with any other.
"""

from typing import Any

from rich.console import Console

from journeyman.cli.background_server import ensure_server
from journeyman.cli.client import Client
from journeyman.cli.render import EventRenderer
from journeyman.cli.terminal import (
    console,
    note,
    print_json,
    seconds,
    short,
    single_line,
    strip_controls,
    styled,
)
from journeyman.settings import Settings

_DETACHED = 130
_SIGNS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "environment": ("!", "yellow"),
    "timed_out": ("✗", "red"),
    "flaky": ("~", "yellow"),
    "unavailable": ("○", "dim"),
}


def check_repository(settings: Settings, repository_url: str, *, as_json: bool) -> int:
    ensure_server(settings)
    client = Client(settings)
    known = client.add_repository(repository_url)["repository"]
    begun = client.check_environment(known["repository_id"])
    renderer = EventRenderer(console(err=True))
    try:
        for event in client.events(begun["agent_work_order_id"]):
            renderer.render(event)
    except KeyboardInterrupt:
        note("\nDetached; the check goes on. The same command joins it again.")
        return _DETACHED
    answer = client.get(f"/api/repositories/{known['repository_id']}/environment")
    if as_json:
        print_json(answer)
    else:
        _print(console(), answer, client.url)
    return 0 if answer["repository"]["environment_state"] == "ready" else 1


def _print(out: Console, answer: dict[str, Any], url: str) -> None:
    repository, report = answer["repository"], answer["report"]
    if report is None:
        out.print(styled(("○ ", "yellow"), f"{single_line(repository['repository_url'])} was not checked"))
        return
    ready = repository["environment_state"] == "ready"
    sign, style = ("✓", "bold green") if ready else ("✗", "bold red")
    words = "ready" if ready else "needs attention"
    out.print(
        styled((f"{sign} {words}  {report['score']}/100  ", style), single_line(repository["repository_url"]))
    )
    if report["ecosystems"]:
        out.print(styled(("  " + ", ".join(map(single_line, report["ecosystems"])), "dim")))
    for check in report["checks"]:
        mark, colour = _SIGNS.get(check["outcome"], ("?", "yellow"))
        took = seconds(check["duration_seconds"])
        out.print(
            styled(
                (f"  {mark} ", colour),
                f"{single_line(check['name']):<20} {check['outcome']:<12} {took:>7}  ",
                (short(check["summary"] or check["command"], 100), "dim"),
            )
        )
    for finding in report["findings"]:
        out.print()
        out.print(styled(("  ✗ " if finding["blocks"] else "  – ", "bold"), strip_controls(finding["what"])))
        out.print(styled(("    What to do: ", "dim"), strip_controls(finding["remedy"])))
        if finding["command"]:
            out.print(styled(("    $ ", "dim"), short(finding["command"], 200)))
        if finding["failed_command"]:
            out.print(styled((f"    It showed at: {short(finding['failed_command'], 200)}", "dim")))
    if report["proposed_definition"] and not ready and not report["mistakes"]:
        out.print()
        out.print(styled(("Proposed .journeyman/environment.yaml:", "bold")))
        out.print(styled(strip_controls(report["proposed_definition"])))
    if not ready:
        page = f"{url}/repositories/{repository['repository_id']}"
        out.print(styled(("Edit it, try it and open it as a pull request: ", "dim"), page))
