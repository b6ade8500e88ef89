"""Submit, watch, detach: what a person sees, and what a script reads from the exit code."""

import asyncio
import json
import signal
from dataclasses import replace
from pathlib import Path

from journeyman.access.redaction import Redactor
from journeyman.database import Database
from journeyman.events.feed import Feed
from journeyman.events.types import (
    AgentText,
    GitCommitCreated,
    GithubPullRequestCreated,
    PlanCreated,
    StepCompleted,
    StepStarted,
    ToolCallCompleted,
    ToolCallStarted,
    VerificationAttemptCompleted,
    WorkflowPhaseStarted,
)
from journeyman.settings import Settings
from journeyman.work_orders.store import WorkOrders
from tests.api.parts import Api, EmptyYard, listening, served
from tests.cli.jm import Terminal, ended, read_until

DEMO = ("--model", "scripted/demo")


async def test_submit_prints_the_orders_id_and_comes_back(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    done = await terminal.run("submit", "Fix the pager", "--repository", str(repository), *DEMO)
    assert done.code == 0, done.err
    [order] = await api.accepted()
    assert done.out.startswith(order.agent_work_order_id)
    assert f"jm watch {order.agent_work_order_id}" in done.err
    assert order.repository_url == repository.as_uri()


async def test_every_option_reaches_the_order(api: Api, terminal: Terminal, repository: Path) -> None:
    options = (
        *("--workflow", "agent_workflow_build", "--agent", "builtin", "--sandbox", "git_branch"),
        *("--budget", "1.5", "--branch", "fix/pager", "--base", "main", "--priority", "9", "--json"),
    )
    command = ("submit", "-", "-r", str(repository), *DEMO, *options)
    done = await ended(await terminal.start(*command, stdin=asyncio.subprocess.PIPE), b"Fix the pager")
    assert done.code == 0, done.err
    assert json.loads(done.out)["agent_work_order"]["git_branch_name"] == "fix/pager"
    [order] = await api.accepted()
    assert (order.initial_prompt, order.workflow_type) == ("Fix the pager", "agent_workflow_build")
    assert (order.sandbox_type, order.budget_usd, order.base_branch) == ("git_branch", 1.5, "main")
    assert order.priority == 9
    empty = await terminal.run(*command, stdin=asyncio.subprocess.DEVNULL)
    assert (empty.code, json.loads(empty.err)["error"]["category"]) == (2, "invalid_input")


async def test_the_repository_around_the_working_directory_is_the_default(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    inside = repository / "deep" / "down"
    inside.mkdir(parents=True)
    done = await terminal.run("submit", "Fix it", *DEMO, cwd=inside)
    assert done.code == 0, done.err
    assert (await api.accepted())[0].repository_url == repository.as_uri()


async def test_watching_tells_the_story_as_it_happens_and_ends_with_the_order(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    process = await terminal.start("submit", "Fix the pager", "-r", str(repository), *DEMO, "--watch")
    await read_until(process.stdout, "Fix the pager")
    order_id = (await api.accepted())[0].agent_work_order_id
    await api.begin(
        order_id,
        WorkflowPhaseStarted(phase="planning"),
        StepStarted(step="plan", kind="plan", attempt=1),
        PlanCreated(step="plan", reasoning="r", subtasks=["Fix the off-by-one"]),
        StepCompleted(step="plan", kind="plan", duration_seconds=2.1, output={}),
        ToolCallStarted(step="build", call_id="1", tool="shell", arguments={"command": "make test"}),
        ToolCallCompleted(
            step="build", call_id="1", tool="shell", ok=False, exit_code=2, duration_seconds=0.3, output=""
        ),
        AgentText(step="build", text="Now I "),
        AgentText(step="build", text="know."),
        GitCommitCreated(
            commit_sha="abcdef1234567890",
            message="Count the last page",
            phase="implementing",
            step="build",
            git_commit_count=1,
            git_files_changed=1,
            git_lines_added=3,
            git_lines_removed=1,
        ),
        VerificationAttemptCompleted(
            step="verify", attempt=1, passed=True, commit_sha="abcdef12", checks=[], summary="12 passed"
        ),
        GithubPullRequestCreated(github_pull_request_url="http://forge/1", number=1, draft=True),
    )
    told = await read_until(process.stdout, "draft pull request #1 http://forge/1")
    assert "── planning ──" in told
    assert "1. Fix the off-by-one" in told
    assert "✓ plan  2.1s" in told
    assert "shell  make test  exit 2  0.3s" in told
    assert "Now I know.\n" in told
    assert "abcdef12 Count the last page" in told
    assert "checks, attempt 1: 12 passed" in told
    await api.complete(order_id)
    done = await ended(process)
    assert "✓ completed  verification passed" in done.out
    assert done.code == 0


async def test_a_failed_order_ends_with_one(api: Api, terminal: Terminal, repository: Path) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.fail(order_id, "the checks did not pass")
    done = await terminal.run("watch", order_id)
    assert done.code == 1
    assert "✗ failed" in done.out
    assert "the checks did not pass" in done.out


async def test_an_order_that_waits_for_a_person_ends_with_three(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.services.orders.change(order_id, status="paused")
    assert (await terminal.run("watch", order_id)).code == 3


async def test_watching_as_json_is_a_document_a_line_without_gaps(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.say(order_id, "a\u2028b", "c")
    await api.complete(order_id)
    done = await terminal.run("watch", order_id, "--json")
    documents = [json.loads(line) for line in done.out.splitlines()]
    assert [one["sequence"] for one in documents[:-1]] == [1, 2, 3, 4, 5]
    assert documents[-1]["agent_work_order"]["status"] == "completed"


async def test_interrupting_detaches_and_says_how_to_come_back(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id, WorkflowPhaseStarted(phase="planning"))
    process = await terminal.start("watch", order_id)
    await read_until(process.stdout, "planning")
    process.send_signal(signal.SIGINT)
    done = await ended(process)
    assert done.code == 130
    assert f"jm watch {order_id}" in done.err
    assert (await api.services.orders.get(order_id)).status == "running"


async def test_a_server_that_restarts_is_taken_up_again_where_it_was_left(
    settings: Settings, database: Database, terminal: Terminal, repository: Path
) -> None:
    def restarted(api: Api) -> Api:
        feed = Feed(database)
        orders = WorkOrders(database, feed, Redactor(()))
        return replace(api, services=replace(api.services, feed=feed, orders=orders))

    async with served(settings, database) as first:
        order_id = await first.submit(repository)
        await first.begin(order_id)
        process = await replace(terminal, url=first.url).start("watch", order_id, "--json")
        told = await read_until(process.stdout, "agent_work_order_started")
    second = restarted(first)
    await second.say(order_id, "while nobody listened")
    async with listening(second.services, port=int(first.url.rsplit(":", 1)[1])):
        told += await read_until(process.stdout, "while nobody listened")
        await second.complete(order_id)
        done = await ended(process)
    events = [json.loads(line) for line in (told + done.out).splitlines()]
    assert [event["sequence"] for event in events[:-1]] == [1, 2, 3, 4]
    assert done.code == 0
    assert "trying again" in done.err


async def test_what_agents_print_cannot_drive_the_terminal(
    api: Api, terminal: Terminal, repository: Path
) -> None:
    order_id = await api.submit(repository, initial_prompt="[red]Fix[/red]")
    hostile = "\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1b]0;owned\x1b\\seen\x9b31m\r\u202e"
    await api.begin(order_id)
    await api.say(order_id, hostile, "\x1b]0;split", " over two\x07")
    await api.fail(order_id, f"broken{hostile}")
    done = await terminal.run("watch", order_id)
    assert "seen" in done.out
    assert "[red]Fix[/red]" in done.out
    for output in (done.out, done.err, (await terminal.run("show", order_id)).out):
        assert not any(character in output for character in "\x1b\x07\x9b\r\u202e")


async def test_missing_isolation_is_said_aloud(
    settings: Settings, database: Database, terminal: Terminal, repository: Path
) -> None:
    async with served(settings, database, sandboxes=EmptyYard("none")) as api:
        there = replace(terminal, url=api.url)
        done = await there.run("submit", "Fix it", "-r", str(repository), *DEMO)
        assert "without isolation" in done.err
        shown = await there.run("show", (await api.accepted())[0].agent_work_order_id)
        assert "without isolation" in shown.err


async def test_exit_codes_tell_wrong_use_from_missing_rights_and_from_failure(
    terminal: Terminal, repository: Path
) -> None:
    here = ("-r", str(repository))
    assert (await terminal.run("submit", "x", *here, "--no-such-option")).code == 2
    assert (await terminal.run("submit", *here)).code == 2
    refused = await terminal.run("submit", "x", *here, "--model", "nobody/x")
    assert refused.code == 2
    assert "What to do:" in refused.err
    keyless = await terminal.run("submit", "x", *here, "--model", "openai/gpt-5")
    assert keyless.code == 4
    assert "OPENAI_API_KEY" in keyless.err
    assert (await terminal.run("watch", "wo-00000000")).code == 2
    nobody = replace(terminal, url="http://127.0.0.1:9")
    for command in (("list",), ("run", "x", *here, *DEMO)):
        done = await nobody.run(*command)
        assert done.code == 1
        assert "no server answers" in done.err
        assert "JOURNEYMAN_URL" in done.err


async def test_cleanup_says_what_went_and_with_dry_run_what_would_go(terminal: Terminal) -> None:
    went = await terminal.run("cleanup")
    assert (went.code, went.out) == (0, "log of wo-1a2b3c4d\n")
    would_go = await terminal.run("cleanup", "--dry-run", "--json")
    assert json.loads(would_go.out) == {"dry_run": True, "removed": ["log of wo-1a2b3c4d (would go)"]}
