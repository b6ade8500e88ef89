"""What is accepted as a work order, and what is refused with nothing stored."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from journeyman.database import Database
from journeyman.sandboxes.base import Readiness
from journeyman.settings import Settings
from tests.api.parts import ORDERS, Api, EmptyYard, IdleAgent, git, problem_of, served

CONTRACT = {
    "agent_work_order_id",
    "repository_url",
    "sandbox_type",
    "sandbox_identifier",
    "workflow_type",
    "git_branch_name",
    "agent_session_id",
    "github_issue_number",
    "status",
    "current_phase",
    "title",
    "agent",
    "model",
    "created_at",
    "updated_at",
    "execution_started_at",
    "execution_completed_at",
    "github_pull_request_url",
    "pull_request_state",
    "git_commit_count",
    "git_files_changed",
    "git_lines_added",
    "git_lines_removed",
    "error_message",
    "error_category",
    "error_hint",
    "kept",
    "cost_usd",
    "tokens_in",
    "tokens_out",
    "tokens_cache_read",
    "budget_usd",
    "verification",
    "worker_id",
    "queue_position",
    "resume_at",
    "active_seconds",
    "active_since",
    "allowed_actions",
}


async def test_an_order_is_stored_handed_to_the_engine_and_answered_with_the_contracts_fields(
    api: Api, repository: Path
) -> None:
    answer = await api.client.post(
        ORDERS,
        json={
            "repository_url": str(repository),
            "sandbox_type": "git_branch",
            "workflow_type": "agent_workflow_build",
            "initial_prompt": "Fix the last page\n\nIt is cut off.",
            "model": "scripted/demo",
            "budget_usd": 2.5,
            "priority": 3,
        },
    )
    assert answer.status_code == 201
    order = answer.json()["agent_work_order"]
    assert order.keys() == CONTRACT
    order_id = order["agent_work_order_id"]
    assert answer.json()["logs_url"] == f"{ORDERS}/{order_id}/logs"
    assert (order["status"], order["title"], order["agent"]) == ("pending", "Fix the last page", "builtin")
    assert order["git_branch_name"] == f"journeyman/fix-the-last-page-{order_id}"
    assert order["repository_url"] == repository.as_uri()
    [submitted] = await api.accepted()
    assert submitted.agent_work_order_id == order_id
    assert submitted.workflow["steps"][0]["kind"] == "build"
    assert submitted.priority == 3
    logs = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert [entry["event"] for entry in logs] == ["agent_work_order_created"]


async def test_what_is_left_out_is_chosen_by_the_server(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    order = (await api.client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
    assert (order["sandbox_type"], order["workflow_type"]) == (
        "git_worktree",
        "agent_workflow_plan_build_test",
    )


@pytest.mark.parametrize(
    "url",
    [
        "--upload-pack=touch /tmp/owned",
        "ext::sh -c id",
        "https://user:secret@github.com/acme/thing",
        "git@gitlab.com:acme/thing.git",
        "git@github.com.evil.example:acme/thing.git",
        "git@github.com:acme/thing.git --upload-pack=x",
        "git@github.com:/etc/passwd/x",
        "alice@github.com:acme/thing.git",
        "ssh://alice@github.com/acme/thing.git",
        "ssh://git@127.0.0.1/acme/thing.git",
        "ssh://git@github.com/~/thing.git",
        "http://127.0.0.1:8700/acme/thing",
        "http://[::1]/acme/thing",
        "http://169.254.169.254/latest/meta-data",
        "https://github.com.evil.example/acme/thing",
        "https://github.com/acme",
        "https://github.com/acme/thing?ref=x",
        "https://github.com/../..",
        "file://elsewhere/etc",
        "/no/such/directory",
        "relative/path",
        "",
        "https://github.com/acme/thi\nng",
        "https://github.com/acme/thing\x00",
    ],
)
async def test_an_address_that_is_no_repository_is_refused(api: Api, url: str) -> None:
    body = {"repository_url": url, "initial_prompt": "x", "model": "scripted/demo"}
    problem = problem_of(await api.client.post(ORDERS, json=body), 422)
    assert problem["category"] == "invalid_input"
    assert problem["hint"]
    assert await api.stored() == 0
    assert await api.accepted() == []


async def test_directories_are_refused_where_the_operator_does_not_allow_them(
    settings: Settings, database: Database, repository: Path
) -> None:
    closed = settings.model_copy(update={"allow_local_repositories": False})
    async with served(closed, database) as api:
        for address in (str(repository), repository.as_uri()):
            body = {"repository_url": address, "initial_prompt": "x", "model": "scripted/demo"}
            problem = problem_of(await api.client.post(ORDERS, json=body), 422)
            assert "JOURNEYMAN_ALLOW_LOCAL_REPOSITORIES" in problem["hint"]
        assert await api.stored() == 0


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"git_branch_name": "-x"}, "branch name"),
        ({"git_branch_name": "a..b"}, "branch name"),
        ({"git_branch_name": "`id`"}, "branch name"),
        ({"git_branch_name": "refs/heads/x"}, "branch name"),
        ({"git_branch_name": "main"}, "git_branch_name"),
        ({"git_branch_name": "dev", "base_branch": "dev"}, "git_branch_name"),
        ({"base_branch": "--force"}, "branch name"),
        ({"initial_prompt": "a\x00b"}, "U+0000"),
        ({"initial_prompt": "a\x1b]0;owned\x07b"}, "U+001B"),
        ({"initial_prompt": "x" * 200_001}, "characters"),
        ({"initial_prompt": " \n "}, "no task"),
        ({"initial_prompt": None}, "no task"),
        ({"initial_prompt": 7}, "initial_prompt"),
        ({"budget_usd": -1}, "budget_usd"),
        ({"budget_usd": "much"}, "budget_usd"),
        ({"budget_usd": "1.5"}, "budget_usd"),
        ({"budget_usd": True}, "budget_usd"),
        ({"budget_usd": 10**400}, "budget_usd"),
        ({"priority": "3"}, "priority"),
        ({"priority": True}, "priority"),
        ({"priority": 10}, "priority"),
        ({"priority": -1}, "priority"),
        ({"priority": 1.5}, "priority"),
        ({"sandbox_type": "docker"}, "sandbox_type"),
        ({"budget": 3}, "budget"),
        ({"github_issue_number": "0"}, "github_issue_number"),
        ({"github_issue_number": "7; rm"}, "github_issue_number"),
        ({"github_issue_number": 7}, "issues"),
        ({"model": "demo"}, "demo"),
        ({"model": "nobody/gpt"}, "nobody"),
        ({"model": "scripted/\u0000"}, "model"),
        ({"agent": "bultin"}, "bultin"),
        ({"workflow_type": "agent_workflow_bild"}, "agent_workflow_bild"),
    ],
)
async def test_a_wrong_field_is_named_and_nothing_is_stored(
    api: Api, repository: Path, fields: dict[str, Any], named: str
) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo", **fields}
    problem = problem_of(await api.client.post(ORDERS, json=body), 422)
    assert named in problem["detail"]
    assert problem["hint"]
    assert await api.stored() == 0
    assert await api.accepted() == []


async def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    wrong = {"workflow_type": "agent_workflow_bild", "agent": "bultin"}
    meant = {"workflow_type": "agent_workflow_build", "agent": "builtin"}
    for name, value in wrong.items():
        problem = problem_of(await api.client.post(ORDERS, json={**body, name: value}), 422)
        assert problem["hint"] == f"Did you mean '{meant[name]}'?"


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"{",
            b"[]",
            b'"text"',
            b"",
            b'{"repository_url": NaN}',
            b"\xff\xfe",
            b'{"repository_url": "\xff"}',
        ),
        b"[" * 100_000,
        b'{"priority": ' + b"9" * 5000 + b"}",
    ],
)
async def test_a_body_that_is_no_order_is_refused(api: Api, body: bytes) -> None:
    answer = await api.client.post(ORDERS, content=body, headers={"Content-Type": "application/json"})
    problem_of(answer, 422)
    assert await api.stored() == 0


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-Infinity", "1e999", '"2"', "-0.01", "1" * 400])
async def test_a_budget_that_is_no_amount_is_refused(api: Api, repository: Path, amount: str) -> None:
    order_id = await api.submit(repository)
    body = f'{{"repository_url": "{repository}", "initial_prompt": "x", "budget_usd": {amount}}}'
    change, fork = f'{{"budget_usd": {amount}}}', f'{{"from_step": "build", "budget_usd": {amount}}}'
    for method, path, content in (
        ("POST", ORDERS, body),
        ("PATCH", f"{ORDERS}/{order_id}", change),
        ("POST", f"{ORDERS}/{order_id}/fork", fork),
    ):
        headers = {"Content-Type": "application/json"}
        answer = await api.client.request(method, path, content=content, headers=headers)
        assert [one["field"] for one in problem_of(answer, 422)["errors"]] == ["budget_usd"]


async def test_nothing_is_taken_for_what_it_is_not(api: Api) -> None:
    for value in (0, 1, "false", "no", None):
        problem_of(await api.client.post("/api/cleanup", json={"dry_run": value}), 422)


@pytest.mark.parametrize("field", ["initial_prompt", "agent", "model", "workflow_type", "git_branch_name"])
async def test_half_a_character_is_refused(api: Api, repository: Path, field: str) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    content = json.dumps({**body, field: "\ud800"})
    answer = await api.client.post(ORDERS, content=content, headers={"Content-Type": "application/json"})
    problem_of(answer, 422)
    assert await api.stored() == 0


async def test_a_body_of_more_than_a_megabyte_is_refused_before_it_is_read(
    api: Api, repository: Path
) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x" * 1_100_000}
    problem_of(await api.client.post(ORDERS, json=body), 413)

    async def endless() -> Any:
        for _ in range(200):
            yield b"x" * 10_000

    problem_of(await api.client.post(ORDERS, content=endless()), 413)
    assert await api.stored() == 0


async def test_an_order_without_a_model_is_told_how_to_name_one(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x"}
    hint = problem_of(await api.client.post(ORDERS, json=body), 422)["hint"]
    assert all(name in hint for name in ("--model", "JOURNEYMAN_MODEL", "jm demo"))


async def test_the_servers_model_is_used_when_the_order_names_none(
    settings: Settings, database: Database, repository: Path
) -> None:
    async with served(settings.model_copy(update={"model": "scripted/demo"}), database) as api:
        order_id = await api.submit(repository, model=None)
        assert (await api.services.orders.get(order_id)).model == "scripted/demo"


async def test_the_demo_works_on_the_sample_and_on_nothing_else(
    settings: Settings, database: Database, repository: Path
) -> None:
    async with served(settings.model_copy(update={"scripts": None}), database) as api:
        sample = (await api.client.post("/api/sample")).json()
        order_id = await api.submit(Path(sample["repository_url"].removeprefix("file://")))
        body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
        refused = problem_of(await api.client.post(ORDERS, json=body), 422)
        assert "sample" in refused["detail"]
        assert "ANTHROPIC_API_KEY" in refused["hint"]
        assert [order.agent_work_order_id for order in await api.accepted()] == [order_id]
        models = (await api.client.get("/api/models")).json()["models"]
        assert {model["name"] for model in models if model["sample_only"]} == {"scripted/demo"}


async def test_a_model_without_its_key_is_refused(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "openai/gpt-5"}
    assert "OPENAI_API_KEY" in problem_of(await api.client.post(ORDERS, json=body), 401)["hint"]
    assert await api.stored() == 0


async def test_an_empty_repository_is_refused(api: Api, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q", "-b", "main")
    body = {"repository_url": str(empty), "initial_prompt": "x", "model": "scripted/demo"}
    problem_of(await api.client.post(ORDERS, json=body), 422)
    assert await api.stored() == 0


async def test_an_agent_or_sandbox_that_is_not_ready_is_refused_with_what_it_needs(
    settings: Settings, database: Database, repository: Path
) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    needs = Readiness(False, "Install it.")
    async with served(settings, database, agents={"builtin": IdleAgent(ready=needs)}) as api:
        assert problem_of(await api.client.post(ORDERS, json=body), 503)["hint"] == "Install it."
    async with served(settings, database, sandboxes=EmptyYard(ready=needs)) as api:
        assert problem_of(await api.client.post(ORDERS, json=body), 503)["hint"] == "Install it."
        assert await api.stored() == 0


async def test_the_same_key_and_body_make_one_order(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    key = {"Idempotency-Key": "first"}
    answers = await asyncio.gather(*(api.client.post(ORDERS, json=body, headers=key) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["agent_work_order"]["agent_work_order_id"] for answer in answers}) == 1
    assert await api.stored() == 1


async def test_the_same_key_with_another_body_is_a_conflict(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    key = {"Idempotency-Key": "first"}
    await api.client.post(ORDERS, json=body, headers=key)
    other = await api.client.post(ORDERS, json={**body, "initial_prompt": "y"}, headers=key)
    assert problem_of(other, 409)["category"] == "conflict"
    assert await api.stored() == 1


async def test_a_quick_job_is_a_work_order_with_the_defaults(
    settings: Settings, database: Database, repository: Path
) -> None:
    async with served(settings.model_copy(update={"model": "scripted/demo"}), database) as api:
        answer = await api.client.post("/submit", json={"repo_url": str(repository), "task": "Fix it"})
        assert answer.status_code == 201
        job = answer.json()
        assert job == {"job_id": (await api.accepted())[0].agent_work_order_id, "status": "pending"}
        status = (await api.client.get(f"/status/{job['job_id']}")).json()
        assert (status["status"], status["current_phase"]) == ("pending", None)
        result = (await api.client.get(f"/result/{job['job_id']}")).json()
        assert (result["pr_url"], result["plan_reasoning"], result["iterations"]) == (None, None, 0)
        problem_of(await api.client.get("/result/wo-nothere0"), 404)
        problem_of(await api.client.post("/submit", json={"repo_url": str(repository)}), 422)


async def test_a_new_order_is_told_when_to_come_again_while_too_many_wait(
    settings: Settings, database: Database, repository: Path
) -> None:
    async with served(settings.model_copy(update={"max_queued_orders": 2}), database) as api:
        first, _ = [await api.submit(repository) for _ in range(2)]
        body = {"repository_url": str(repository), "initial_prompt": "One more", "model": "scripted/demo"}
        refused = await api.client.post(ORDERS, json=body)
        problem = problem_of(refused, 429)
        assert (problem["title"], problem["category"]) == ("Queue full", "rate_limited")
        assert int(refused.headers["retry-after"]) > 0
        fork = await api.client.post(f"{ORDERS}/{first}/fork", json={"from_step": "build"})
        assert problem_of(fork, 429)["title"] == "Queue full"
        assert await api.stored() == 2
        await api.begin(first)
        await api.submit(repository)


async def test_a_request_that_was_accepted_before_is_answered_though_too_many_wait(
    settings: Settings, database: Database, repository: Path
) -> None:
    async with served(settings.model_copy(update={"max_queued_orders": 1}), database) as api:
        body = {"repository_url": str(repository), "initial_prompt": "Fix it", "model": "scripted/demo"}
        answers = [
            await api.client.post(ORDERS, json=body, headers={"Idempotency-Key": "once"}) for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert await api.stored() == 1
