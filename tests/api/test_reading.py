"""Lists, look-ups and the records of an order."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from journeyman.database import Database
from journeyman.errors import Internal
from journeyman.events.types import StepFailed, StepRetrying
from journeyman.git.mirrors import Mirrors
from journeyman.sandboxes.base import Readiness
from journeyman.settings import Settings
from journeyman.work_orders.order import Evidence, StepRecord
from tests.api.parts import ORDERS, Api, EmptyYard, git, local_repository, problem_of, served


@pytest.fixture
async def busy(api: Api, repository: Path) -> Api:
    """Three orders: a finished, a running and a waiting one."""
    for title in ("Alpha", "Beta", "Gamma"):
        workflow = "agent_workflow_build" if title == "Beta" else "agent_workflow_plan"
        await api.submit(repository, initial_prompt=title, workflow_type=workflow)
    first, second, _ = [order.agent_work_order_id for order in await api.accepted()]
    await api.begin(first)
    await api.complete(first)
    await api.begin(second)
    return api


async def titles(api: Api, **query: str | int) -> list[str]:
    answer = await api.client.get(ORDERS, params=query)
    assert answer.status_code == 200, answer.text
    return [order["title"] for order in answer.json()["agent_work_orders"]]


async def test_orders_are_listed_newest_first_a_page_at_a_time(busy: Api) -> None:
    assert await titles(busy) == ["Gamma", "Beta", "Alpha"]
    page = (await busy.client.get(ORDERS, params={"limit": 2})).json()
    assert (page["total_count"], page["has_more"]) == (3, True)
    page = (await busy.client.get(ORDERS, params={"limit": 2, "offset": 2})).json()
    assert [order["title"] for order in page["agent_work_orders"]] == ["Alpha"]
    assert page["has_more"] is False


async def test_every_order_says_what_may_be_done_to_it(busy: Api) -> None:
    expected = {
        "Alpha": ["retry_from_step", "prompt", "fork", "change_model"],
        "Beta": ["pause", "cancel", "approve", "prompt", "fork"],
        "Gamma": ["pause", "cancel", "approve", "prompt", "fork", "change_model"],
    }
    listed = (await busy.client.get(ORDERS)).json()["agent_work_orders"]
    assert {order["title"]: order["allowed_actions"] for order in listed} == expected
    for order in listed:
        one = (await busy.client.get(f"{ORDERS}/{order['agent_work_order_id']}")).json()
        assert one["agent_work_order"]["allowed_actions"] == order["allowed_actions"]


async def test_a_pull_request_says_what_may_be_done_to_it(busy: Api) -> None:
    finished = (await busy.accepted())[0].agent_work_order_id
    path = f"/api/local-forge/pull-requests/{await busy.open_pull_request(finished)}"
    assert (await busy.client.get(path)).json()["allowed_actions"] == ["mark_ready"]
    ready = await busy.client.post(f"{ORDERS}/{finished}/pull-request/ready")
    assert "merge" in ready.json()["agent_work_order"]["allowed_actions"]
    assert (await busy.client.get(path)).json()["allowed_actions"] == ["merge"]


async def test_every_filter_narrows_the_list(busy: Api, repository: Path) -> None:
    assert await titles(busy, status="running") == ["Beta"]
    several = await busy.client.get(f"{ORDERS}?status=running&status=completed")
    assert [order["title"] for order in several.json()["agent_work_orders"]] == ["Beta", "Alpha"]
    assert await titles(busy, q="amm") == ["Gamma"]
    assert await titles(busy, workflow_type="agent_workflow_build") == ["Beta"]
    assert await titles(busy, sort="title") == ["Alpha", "Beta", "Gamma"]
    assert len(await titles(busy, repository_url=str(repository))) == 3
    assert await titles(busy, repository_url="https://github.com/acme/other") == []
    hour = timedelta(hours=1)
    now = datetime.now(UTC)
    assert await titles(busy, created_after=(now + hour).isoformat()) == []
    assert len(await titles(busy, created_before=(now + hour).replace(tzinfo=None).isoformat())) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "lost"),
        ("limit", "0"),
        ("limit", "201"),
        ("limit", "many"),
        ("limit", "5.0"),
        ("limit", "1_0"),
        ("limit", " 5"),
        ("created_before", "0.5"),
        ("created_before", "1700000000"),
        ("offset", "-1"),
        ("sort", "initial_prompt"),
        ("created_after", "yesterday"),
        ("created_after", "0001-01-01T00:00:00+14:00"),
        ("q", "a\x00b"),
        ("statuss", "running"),
    ],
)
async def test_a_wrong_filter_is_named(api: Api, name: str, value: str) -> None:
    assert name in problem_of(await api.client.get(ORDERS, params={name: value}), 422)["detail"]


@pytest.mark.parametrize(
    ("address", "named"),
    [
        (f"{ORDERS}?limit=5&limit=6", "limit"),
        (f"{ORDERS}?status=running&status=lost", "status"),
        ("/api/spending?day=3", "day"),
        ("/api/agents?ready=true", "ready"),
        ("/health?verbose=1", "verbose"),
    ],
)
async def test_a_parameter_that_is_unknown_or_ambiguous_is_refused_by_every_call(
    api: Api, address: str, named: str
) -> None:
    assert named in problem_of(await api.client.get(address), 422)["detail"]


@pytest.mark.parametrize("order_id", ["wo-00000000", "wo-x", "%00", "..%2f..", "WO-00000000"])
async def test_an_unknown_order_is_not_found_by_any_call(api: Api, order_id: str) -> None:
    for call in ("", "/logs", "/steps", "/evidence", "/diff", "/git-progress", "/events"):
        problem_of(await api.client.get(f"{ORDERS}/{order_id}{call}"), 404)


async def test_logs_are_the_events_without_chatter_with_their_level(busy: Api) -> None:
    order_id = (await busy.accepted())[1].agent_work_order_id
    await busy.say(order_id, "thinking")
    await busy.services.orders.emit(
        order_id,
        StepRetrying(
            step="build", attempt=1, wait_seconds=1, error_message="cut", error_category="transient"
        ),
        StepFailed(
            step="build", kind="build", duration_seconds=2, error_message="cut", error_category="transient"
        ),
    )
    page = (await busy.client.get(f"{ORDERS}/{order_id}/logs", params={"limit": 2, "offset": 2})).json()
    assert (page["total_count"], page["has_more"]) == (4, False)
    assert [(entry["level"], entry["event"]) for entry in page["log_entries"]] == [
        ("warning", "step_retrying"),
        ("error", "step_failed"),
    ]
    assert page["log_entries"][1]["error_message"] == "cut"
    assert datetime.fromisoformat(page["log_entries"][0]["timestamp"]).tzinfo is not None


async def test_steps_evidence_and_the_result_of_a_job_tell_what_was_done(busy: Api) -> None:
    order_id = (await busy.accepted())[1].agent_work_order_id
    now = datetime.now(UTC)
    outputs: dict[str, dict[str, Any]] = {
        "plan": {"reasoning": "It is off by one.", "subtasks": [{"title": "a"}, {"title": "b"}]},
        "verify": {"attempts": 2, "passed": True},
    }
    for place, (kind, output) in enumerate(outputs.items()):
        await busy.services.orders.steps.save(
            StepRecord(
                agent_work_order_id=order_id,
                round=1,
                step=kind,
                kind=kind,
                status="completed",
                attempts=1,
                started_at=now + timedelta(seconds=place),
                completed_at=now + timedelta(seconds=place + 1),
                output=output,
            )
        )
    await busy.services.orders.evidence.save(
        Evidence(
            agent_work_order_id=order_id,
            round=1,
            step="verify",
            attempt=2,
            commit_sha="c" * 40,
            passed=True,
            checks=[{"name": "pytest", "status": "passed"}, {"name": "tsc", "outcome": "environment"}],
            summary="12 passed",
            created_at=now,
        )
    )
    steps = (await busy.client.get(f"{ORDERS}/{order_id}/steps")).json()["steps"]
    assert [(step["step"], step["output"]) for step in steps] == list(outputs.items())
    [evidence] = (await busy.client.get(f"{ORDERS}/{order_id}/evidence")).json()["evidence"]
    assert (evidence["commit_sha"], evidence["passed"]) == ("c" * 40, True)
    assert [check["outcome"] for check in evidence["checks"]] == ["passed", "environment"]
    result = (await busy.client.get(f"/result/{order_id}")).json()
    assert (result["iterations"], result["subtasks_count"]) == (2, 2)
    assert result["plan_reasoning"] == "It is off by one."


async def test_an_order_that_has_not_begun_has_an_empty_diff_and_no_progress(busy: Api) -> None:
    order_id = (await busy.accepted())[2].agent_work_order_id
    diff = await busy.client.get(f"{ORDERS}/{order_id}/diff")
    assert (diff.status_code, diff.text) == (200, "")
    progress = (await busy.client.get(f"{ORDERS}/{order_id}/git-progress")).json()
    assert progress.pop("snapshot_timestamp")
    assert progress == {
        "agent_work_order_id": order_id,
        "current_phase": None,
        "git_commit_count": 0,
        "git_files_changed": 0,
        "git_lines_added": 0,
        "git_lines_removed": 0,
        "latest_commit_message": None,
        "latest_commit_sha": None,
        "phase_history": [],
    }


async def test_diff_and_progress_are_read_from_the_orders_branch(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    order = (await api.accepted())[0]
    where = local_repository(order.repository_url)
    mirror = await Mirrors(api.services.settings.home / "mirrors").refresh(
        where, await api.services.forges["local"].remote(where)
    )
    base = mirror.resolve("main")
    await api.services.orders.change(order_id, base_commit_sha=base)
    git(repository, "switch", "-q", "-c", "work")
    (repository / "pager.py").write_text("PAGE = 20\nLAST = True\n")
    trailers = f"Agent-Work-Order: {order_id}\nAgent-Phase: implementing\nAgent-Step: build"
    git(repository, "commit", "-q", "-a", "-m", f"Count the last page\n\n{trailers}")
    git(repository, "push", "-q", str(mirror.path), f"work:refs/heads/{order.git_branch_name}")

    diff = await api.client.get(f"{ORDERS}/{order_id}/diff")
    assert diff.headers["content-type"] == "text/x-diff; charset=utf-8"
    assert "-PAGE = 10\n+PAGE = 20\n+LAST = True\n" in diff.text
    as_json = await api.client.get(f"{ORDERS}/{order_id}/diff", headers={"Accept": "application/json"})
    assert as_json.json() == {"agent_work_order_id": order_id, "diff": diff.text}
    other = await api.client.get(f"{ORDERS}/{order_id}/diff?path=other.py&context_lines=0")
    assert (other.status_code, other.text) == (200, "")

    progress = (await api.client.get(f"{ORDERS}/{order_id}/git-progress")).json()
    assert (progress["git_commit_count"], progress["git_files_changed"]) == (1, 1)
    assert (progress["git_lines_added"], progress["git_lines_removed"]) == (2, 1)
    assert progress["latest_commit_message"].startswith("Count the last page")
    assert progress["latest_commit_sha"] == git(repository, "rev-parse", "work")
    [phase] = progress["phase_history"]
    assert (phase["phase"], phase["commits"]) == ("implementing", 1)


async def test_what_can_be_chosen_says_whether_it_is_ready_and_what_it_needs(api: Api) -> None:
    async def choices(noun: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = (await api.client.get(f"/api/{noun}")).json()[noun]
        assert all({"ready", "needs"} <= choice.keys() for choice in found)
        return found

    assert [choice["name"] for choice in await choices("agents")] == ["builtin"]
    assert "agent_workflow_plan_build_test" in [choice["name"] for choice in await choices("workflows")]
    models = {str(choice["name"]): choice for choice in await choices("models")}
    assert models["scripted/demo"]["ready"] is True
    keyless = next(choice for name, choice in models.items() if name.startswith("openai/"))
    assert keyless["ready"] is False
    assert "OPENAI_API_KEY" in str(keyless["needs"])


async def test_every_sandbox_type_is_listed_and_one_that_is_missing_is_refused_in_the_same_words(
    api: Api, repository: Path
) -> None:
    listed = (await api.client.get("/api/sandboxes")).json()["sandboxes"]
    assert [one["sandbox_type"] for one in listed if one["ready"]] == ["git_branch", "git_worktree"]
    for one in listed[:2]:
        assert one["gives"].keys() == {"isolation", "start_seconds", "persistence", "network", "cost"}
        assert (one["gives"]["isolation"], one["gives"]["network"], one["needs"]) == (
            "bubblewrap",
            "none",
            "",
        )
    assert [one["sandbox_type"] for one in listed[2:]] == ["container", "e2b", "dagger", "modal"]
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    for one in listed[2:]:
        assert (one["ready"], one["gives"]) == (False, None)
        order = {**body, "sandbox_type": one["sandbox_type"]}
        problem = problem_of(await api.client.post(ORDERS, json=order), 422)
        assert one["needs"].lower() == f"{problem['detail']}; {problem['hint']}".lower()
        assert one["sandbox_type"] in problem["detail"]
    assert await api.stored() == 0


async def test_health_is_alive_while_ready_names_what_is_missing(
    settings: Settings, database: Database
) -> None:
    async with served(settings, database, checks={"database": True, "engine": False}) as api:
        health = (await api.client.get("/health")).json()
        assert (health["status"], health["isolation"]) == ("ok", "bubblewrap")
        problem = problem_of(await api.client.get("/ready"), 503)
        assert problem["checks"] == {"database": True, "engine": False}
        assert "engine" in problem["detail"]


async def test_a_ready_server_says_so(api: Api) -> None:
    assert (await api.client.get("/ready")).json() == {"ready": True, "checks": {"database": True}}


async def test_missing_isolation_is_shown_on_every_surface(settings: Settings, database: Database) -> None:
    async with served(settings, database, sandboxes=EmptyYard("none")) as api:
        health = await api.client.get("/health")
        assert health.json()["isolation"] == "none"
        assert health.headers["x-journeyman-isolation"] == "none"
        sandboxes = (await api.client.get("/api/sandboxes")).json()["sandboxes"]
        assert {choice["isolation"] for choice in sandboxes if choice["ready"]} == {"none"}


async def test_a_fault_of_ours_is_told_without_internals(settings: Settings, database: Database) -> None:
    class Broken(EmptyYard):
        async def readiness(self) -> Readiness:
            raise ValueError("the secret of the house")

    async with served(settings, database, sandboxes=Broken()) as api:
        answer = await api.client.get("/api/sandboxes")
        assert problem_of(answer, 500)["category"] == "internal"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "secret of the house" not in answer.text


async def test_a_known_error_keeps_its_message_and_hint(settings: Settings, database: Database) -> None:
    class Broken(EmptyYard):
        async def readiness(self) -> Readiness:
            raise Internal("the yard burned down", hint="Build it anew.", retry_after=7)

    async with served(settings, database, sandboxes=Broken()) as api:
        answer = await api.client.get("/api/sandboxes")
        problem = problem_of(answer, 500)
        assert (problem["detail"], problem["hint"]) == ("the yard burned down", "Build it anew.")
        assert answer.headers["retry-after"] == "7"
