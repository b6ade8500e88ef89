"""Renders an order's events for a person as they happen: a line for each one worth knowing.

Events of an unknown type are ignored, so that an older `jm` can watch a newer server.
"""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from journeyman.cli.hints import next_line
from journeyman.cli.terminal import (
    clock,
    counted,
    kept,
    lasted,
    money,
    seconds,
    short,
    single_line,
    strip_controls,
    styled,
)

_ARGUMENTS = ("command", "path", "pattern", "content")
"""The argument that says most about a tool call; the first that is there is shown."""


class EventRenderer:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls: dict[str, dict[str, Any]] = {}
        self._in_text = False
        self._renderers: dict[str, Callable[[dict[str, Any]], None]] = {
            "agent_work_order_created": self._created,
            "sandbox_created": self._sandbox,
            "git_branch_created": self._branch,
            "workflow_phase_started": self._phase,
            "step_started": self._step_started,
            "step_retrying": self._step_retrying,
            "step_completed": self._step_completed,
            "step_failed": self._step_failed,
            "step_skipped": self._step_skipped,
            "plan_created": self._plan,
            "subtask_started": self._subtask,
            "agent_text": self._text,
            "agent_notice": self._notice,
            "repository_commands_found": self._commands,
            "repository_command_expanded": self._command,
            "repository_files_missing": self._files_missing,
            "tool_call_started": self._tool_started,
            "tool_call_completed": self._tool_completed,
            "git_commit_created": self._commit,
            "verification_attempt_completed": self._verification,
            "review_completed": self._review,
            "prompt_started": self._prompt_started,
            "approval_requested": self._approval_requested,
            "approval_decided": self._approval_decided,
            "github_issue_read": self._issue,
            "github_pull_request_created": self._pull_request,
            "github_pull_request_updated": self._pull_request,
            "github_pull_request_closed": self._pull_request_ended,
            "github_pull_request_merged": self._pull_request_ended,
            "github_pull_request_reopened": self._pull_request_ended,
            "git_commits_taken_in": self._taken_in,
            "git_branch_moved": self._branch_moved,
            "environment_setup_started": self._setup_started,
            "environment_command_completed": self._setup_command,
            "environment_ready": self._environment_ready,
            "environment_setup_failed": self._setup_failed,
            "network_denied": self._network_denied,
            "network_allowed": self._network_allowed,
        }

    def render(self, event: dict[str, Any]) -> None:
        renderer = self._renderers.get(event["type"])
        if renderer is not None:
            renderer(event)

    def end(self, order: dict[str, Any]) -> None:
        """The last line: how it ended, what that rests on, how long it took and what it cost."""
        sign, style = {"completed": ("✓", "bold green"), "failed": ("✗", "bold red")}.get(
            order["status"], ("●", "bold yellow")
        )
        facts = [f"verification {order['verification']}", lasted(order), money(order["cost_usd"])]
        self._line((f"{sign} {order['status']}", style), "  " + "  ".join(fact for fact in facts if fact))
        if order["error_message"]:
            self._line(("  " + single_line(order["error_message"]), "red"))
            self._line("  Kept: " + single_line(kept(order)))
        if order["error_hint"]:
            self._line("  What to do: " + single_line(order["error_hint"]))
        if order["resume_at"]:
            self._line(f"  It goes on by itself at {clock(order['resume_at'])}.")
        if order["github_pull_request_url"]:
            self._line("  " + single_line(order["github_pull_request_url"]))
        if commands := next_line(order):
            self._line(("  Next: " + commands, "dim"))

    def _line(self, *parts: str | tuple[str, str]) -> None:
        if self._in_text:
            self._console.print()
            self._in_text = False
        self._console.print(styled(*parts))

    def _created(self, event: dict[str, Any]) -> None:
        self._line(("● ", "bold blue"), (event["agent_work_order_id"], "bold"), "  ", short(event["title"]))
        used = f"  {event['agent']} · {event['model']}" if event["model"] else ""  # a check needs no model
        chosen = event["workflow_type"] + used
        self._line((f"  {single_line(event['repository_url'])}  {single_line(chosen)}", "dim"))

    def _sandbox(self, event: dict[str, Any]) -> None:
        took = seconds(event["duration_seconds"])
        self._line(
            ("  ✓ ", "green"),
            f"sandbox {single_line(event['sandbox_identifier'])} ({event['isolation']})  {took}",
        )

    def _branch(self, event: dict[str, Any]) -> None:
        name, base = single_line(event["git_branch_name"]), single_line(event["base_branch"])
        self._line(("  ✓ ", "green"), f"branch {name} from {base} {event['base_commit_sha'][:8]}")

    def _phase(self, event: dict[str, Any]) -> None:
        self._line((f"── {event['phase']} ──", "bold"))

    def _step_started(self, event: dict[str, Any]) -> None:
        again = f" (attempt {event['attempt']})" if event["attempt"] > 1 else ""
        self._line(("  ▸ ", "blue"), f"{event['step']}{again}")

    def _step_retrying(self, event: dict[str, Any]) -> None:
        wait = seconds(event["wait_seconds"])
        self._line(
            ("  ↻ ", "yellow"), f"{event['step']} again in {wait}: {short(event['error_message'], 160)}"
        )

    def _step_completed(self, event: dict[str, Any]) -> None:
        self._line(("  ✓ ", "green"), f"{event['step']}  {seconds(event['duration_seconds'])}")

    def _step_failed(self, event: dict[str, Any]) -> None:
        took = seconds(event["duration_seconds"])
        self._line(("  ✗ ", "red"), f"{event['step']}  {took}  {single_line(event['error_message'])}")
        if event.get("hint"):
            self._line("    What to do: " + single_line(event["hint"]))

    def _step_skipped(self, event: dict[str, Any]) -> None:
        self._line(("  – ", "dim"), f"{event['step']} skipped: {short(event['reason'], 160)}")

    def _plan(self, event: dict[str, Any]) -> None:
        for number, title in enumerate(event["subtasks"], start=1):
            self._line(f"    {number}. {short(title)}")

    def _subtask(self, event: dict[str, Any]) -> None:
        self._line(("    ▸ ", "blue"), f"{event['number']}/{event['of']} {short(event['title'])}")

    def _review(self, event: dict[str, Any]) -> None:
        agreed = event["verdict"] == "approve"
        found = "nothing has to change" if agreed else counted(event["findings_count"], "finding")
        sign = ("  ✓ ", "green") if agreed else ("  ! ", "yellow")
        self._line(sign, f"review: {found}  {short(event['summary'], 160)}")

    def _text(self, event: dict[str, Any]) -> None:
        text = strip_controls(event["text"])
        if text:
            self._console.print(styled((text, "dim")), end="")
            self._in_text = not text.endswith("\n")

    def _notice(self, event: dict[str, Any]) -> None:
        self._line(("    ! ", "yellow"), short(event["text"], 160))

    def _commands(self, event: dict[str, Any]) -> None:
        for problem in event["problems"]:
            text = f"{problem['path']} is no command: {problem['message']}"
            self._line(("    ! ", "yellow"), short(text, 160))

    def _files_missing(self, event: dict[str, Any]) -> None:
        for file in event["files"]:
            self._line(("    ! ", "yellow"), short(f"{file['path']} is missing: {file['reason']}", 160))

    def _command(self, event: dict[str, Any]) -> None:
        self._line(("    / ", "dim"), short(f"{event['name']} from {event['path']}", 160))

    def _tool_started(self, event: dict[str, Any]) -> None:
        self._calls[event["call_id"]] = event["arguments"]

    def _tool_completed(self, event: dict[str, Any]) -> None:
        arguments = self._calls.pop(event["call_id"], {})
        said = next((str(arguments[name]) for name in _ARGUMENTS if name in arguments), "")
        code = event.get("exit_code")
        ended = f"exit {code}" if code is not None else "" if event["ok"] else "failed"
        words = [single_line(event["tool"]), short(said, 60), ended, seconds(event["duration_seconds"])]
        mark = ("    · ", "dim") if event["ok"] else ("    · ", "red")
        self._line(mark, "  ".join(word for word in words if word))

    def _commit(self, event: dict[str, Any]) -> None:
        counts = f"(+{event['git_lines_added']} −{event['git_lines_removed']} in all)"
        self._line(("    ● ", "cyan"), f"{event['commit_sha'][:8]} {short(event['message'])}  {counts}")

    def _verification(self, event: dict[str, Any]) -> None:
        mark = {True: ("  ✓ ", "green"), False: ("  ✗ ", "red"), None: ("  ○ ", "yellow")}[event["passed"]]
        self._line(mark, f"checks, attempt {event['attempt']}: {short(event['summary'], 160)}")
        for check in event["checks"]:
            for fault in check.get("faults") or ():
                said = f"{fault['what']}. {fault['remedy']} {fault['command']}"
                self._line(("    ! ", "yellow"), short(said, 300))

    def _prompt_started(self, event: dict[str, Any]) -> None:
        self._line(("── ", "bold"), f"prompt {event['number']}, round {event['round']} ──")

    def _approval_requested(self, event: dict[str, Any]) -> None:
        ask = f"jm approve|reject {event['agent_work_order_id']} {event['step']}"
        self._line(("  ? ", "yellow"), f"{event['step']} waits for a person: {ask}")

    def _approval_decided(self, event: dict[str, Any]) -> None:
        mark = ("  ✓ ", "green") if event["decision"] == "approved" else ("  ✗ ", "red")
        self._line(mark, f"{event['step']} {event['decision']}  {short(event['comment'], 160)}".rstrip())

    def _issue(self, event: dict[str, Any]) -> None:
        self._line(("  ✓ ", "green"), f"issue #{event['github_issue_number']}: {short(event['title'])}")

    def _pull_request(self, event: dict[str, Any]) -> None:
        kind = "draft pull request" if event["draft"] else "pull request"
        self._line(
            ("  ✓ ", "green"), f"{kind} #{event['number']} {single_line(event['github_pull_request_url'])}"
        )

    def _pull_request_ended(self, event: dict[str, Any]) -> None:
        how = event["type"].removeprefix("github_pull_request_")
        self._line(("  ! ", "yellow"), f"pull request #{event['number']} was {how} by a person")

    def _branch_moved(self, event: dict[str, Any]) -> None:
        what = f"{_commits_of_people(event)} on the branch" if event["count"] else "people moved the branch"
        self._line(("    ● ", "cyan"), f"{what}; the next round begins from there")

    def _setup_started(self, event: dict[str, Any]) -> None:
        found = ", ".join(map(single_line, event["ecosystems"])) or single_line(event["source"])
        self._line(("  ▸ ", "blue"), f"set-up: {found}, {counted(len(event['commands']), 'command')}")

    def _setup_command(self, event: dict[str, Any]) -> None:
        mark = ("    · ", "dim") if event["exit_code"] == 0 else ("    · ", "red")
        ended = "timed out" if event["exit_code"] is None else f"exit {event['exit_code']}"
        self._line(mark, f"{short(event['command'])}  {ended}  {seconds(event['duration_seconds'])}")

    def _environment_ready(self, event: dict[str, Any]) -> None:
        how = "reused" if event["reused"] else "installed"
        size = f"{event['size_bytes'] / 1e6:.1f} MB"
        self._line(("  ✓ ", "green"), f"environment {how}  {size}  {seconds(event['duration_seconds'])}")

    def _setup_failed(self, event: dict[str, Any]) -> None:
        self._line(("  ! ", "yellow"), f"set-up: {short(event['reason'], 160)}")
        self._line(("    What to do: ", "dim"), short(event["remedy"], 160))

    def _network_denied(self, event: dict[str, Any]) -> None:
        self._line(("  ! ", "yellow"), f"network: {single_line(event['host'])} denied, {event['reason']}")

    def _network_allowed(self, event: dict[str, Any]) -> None:
        self._line(("  ✓ ", "green"), f"network: {single_line(event['host'])} allowed ({event['scope']})")

    def _taken_in(self, event: dict[str, Any]) -> None:
        self._line(("    ● ", "cyan"), f"{_commits_of_people(event)} taken in")
        if event.get("set_aside_commit_sha"):
            self._line(
                ("    ! ", "yellow"), "they clash with the order's own; the agent works those in again"
            )


def _commits_of_people(event: dict[str, Any]) -> str:
    authors = ", ".join(sorted({single_line(one["author"]) for one in event["commits"]}))
    return f"{counted(event['count'], 'commit')} of {authors or 'people'}"
