"""Another name, model or budget for an order, its pull request, and how the server is set up."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from journeyman.agents.base import About
from journeyman.database import Database
from journeyman.settings import SETTING_NAMES, Settings, load_settings
from journeyman.workflows.loader import load_workflow
from tests.api.parts import ORDERS, Api, IdleAgent, git, problem_of, served

PULLS = "/api/local-forge/pull-requests"


async def test_an_order_gets_another_name_model_and_budget_and_tells_it(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    changes = {"title": "  Better name ", "model": "scripted/demo", "budget_usd": 2.5}
    answer = await api.client.patch(f"{ORDERS}/{order_id}", json=changes)
    order = answer.json()["agent_work_order"]
    assert (order["title"], order["model"], order["budget_usd"]) == ("Better name", "scripted/demo", 2.5)
    entries = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert entries[-1]["event"] == "agent_work_order_changed"
    assert entries[-1]["title"] == "Better name"


async def test_a_budget_that_is_null_is_removed(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository, budget_usd=1)
    order = (await api.client.patch(f"{ORDERS}/{order_id}", json={"budget_usd": None})).json()
    assert order["agent_work_order"]["budget_usd"] is None
    entries = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert entries[-1]["budget_removed"] is True


async def test_what_is_left_out_stays_and_tells_nothing(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository, budget_usd=1)
    order = (await api.client.patch(f"{ORDERS}/{order_id}", json={})).json()["agent_work_order"]
    assert (order["title"], order["budget_usd"]) == ("Fix the pager", 1)
    entries = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert [one["event"] for one in entries] == ["agent_work_order_created"]


async def test_the_model_stays_while_the_order_runs_the_rest_can_change(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    refused = await api.client.patch(f"{ORDERS}/{order_id}", json={"model": "scripted/demo"})
    assert "while it generates" in problem_of(refused, 409)["detail"]
    assert (await api.client.patch(f"{ORDERS}/{order_id}", json={"budget_usd": 9})).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": " "},
        {"title": "a\nb"},
        {"title": "a\u202eb"},
        {"budget_usd": -1},
        {"model": "nobody/x"},
        {"status": "x"},
    ],
)
async def test_a_wrong_change_is_refused_and_changes_nothing(
    api: Api, repository: Path, wrong: dict[str, object]
) -> None:
    order_id = await api.submit(repository)
    problem_of(await api.client.patch(f"{ORDERS}/{order_id}", json={"title": "New", **wrong}), 422)
    order = (await api.client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
    assert order["title"] == "Fix the pager"


async def test_a_model_that_the_orders_agent_cannot_use_is_refused(
    settings: Settings, database: Database, repository: Path
) -> None:
    only = IdleAgent("builtin", about=About(("scripted",)))
    with_key = settings.model_copy(update={"openai_api_key": SecretStr("sk-some-test-key")})
    async with served(with_key, database, agents={"builtin": only}) as api:
        order_id = await api.submit(repository)
        change = {"model": "openai/gpt-5.5", "title": "New"}
        refused = await api.client.patch(f"{ORDERS}/{order_id}", json=change)
        assert "cannot use" in problem_of(refused, 422)["detail"]
        order = (await api.client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
        assert (order["model"], order["title"]) == ("scripted/demo", "Fix the pager")


async def test_one_order_shows_what_it_was_asked_and_how_it_goes_about_it(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository, initial_prompt="Fix the pager\n\nThe last page is lost.")
    shown = (await api.client.get(f"{ORDERS}/{order_id}")).json()
    assert shown["initial_prompt"].endswith("The last page is lost.")
    assert shown["workflow"]["steps"][0]["name"] == "plan"


async def test_a_pull_request_is_read_from_its_forge(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    problem_of(await api.client.get(f"{ORDERS}/{order_id}/pull-request"), 409)
    number = await api.open_pull_request(order_id)
    shown = (await api.client.get(f"{ORDERS}/{order_id}/pull-request")).json()
    assert (shown["number"], shown["draft"], shown["state"]) == (number, True, "open")
    assert "Done." in shown["body"]
    local = (await api.client.get(f"{PULLS}/{number}")).json()
    assert local["agent_work_order_id"] == order_id


async def test_a_ready_pull_request_is_merged_by_button_once(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    number = await api.open_pull_request(order_id)
    branch = (await api.services.orders.get(order_id)).git_branch_name
    git(repository, "checkout", "-q", "-b", branch)
    (repository / "pager.py").write_text("PAGE = 20\n")
    git(repository, "commit", "-qam", "Grow")
    git(repository, "checkout", "-q", "main")
    assert "draft" in problem_of(await api.client.post(f"{PULLS}/{number}/merge"), 409)["detail"]
    await api.client.post(f"{ORDERS}/{order_id}/pull-request/ready")
    for _ in range(2):
        answer = await api.client.post(f"{PULLS}/{number}/merge")
        assert answer.json()["state"] == "merged"
    assert (repository / "pager.py").read_text() == "PAGE = 20\n"
    entries = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert [one["event"] for one in entries].count("github_pull_request_merged") == 1
    order = (await api.client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
    assert order["pull_request_state"] == "merged"


async def test_the_sample_is_made_once_and_can_be_worked_on(api: Api) -> None:
    answers = await asyncio.gather(*(api.client.post("/api/sample") for _ in range(4)))
    assert [answer.status_code for answer in answers] == [201] * 4
    first = (await api.client.post("/api/sample")).json()
    assert [answer.json() for answer in answers] == [first] * 4
    assert (await api.client.post(ORDERS, json=first)).status_code == 201


async def test_a_workflow_is_shown_as_it_would_stand_in_a_file(api: Api) -> None:
    shown = (await api.client.get("/api/workflows")).json()["workflows"]
    chosen = next(one for one in shown if one["name"] == "agent_workflow_plan_build_test")
    assert load_workflow(chosen["yaml"], "shown").name == chosen["name"]
    assert "requires_approval" not in chosen["yaml"]


async def test_the_second_name_of_a_workflow_says_whose_it_is(api: Api) -> None:
    shown = (await api.client.get("/api/workflows")).json()["workflows"]
    assert {one["name"]: one["alias_of"] for one in shown if one["alias_of"]} == {
        "agent_workflow_implement": "agent_workflow_build",
        "agent_workflow_validate": "agent_workflow_test",
    }


async def test_every_setting_for_operators_is_shown_and_no_secret(home: Path, database: Database) -> None:
    settings: Settings = load_settings(
        {
            "JOURNEYMAN_HOME": str(home),
            "GITHUB_TOKEN": "canary-token",
            "OPENAI_BASE_URL": "http://me:canary-password@models.example",
            "ANTHROPIC_BASE_URL": "http://me:canary/with@signs-canary@models.example/v1",
        }
    )
    async with served(settings, database) as api:
        answer = await api.client.get("/api/settings")
    assert "canary" not in answer.text
    shown = {one["name"]: one for one in answer.json()["settings"]}
    assert set(SETTING_NAMES) - set(shown) == {"JOURNEYMAN_FAILPOINTS"}
    assert shown["GITHUB_TOKEN"]["is_set"] is True
    assert shown["GITHUB_TOKEN"]["value"] is None
    assert shown["OPENAI_BASE_URL"]["value"] == "http://…@models.example"
    assert shown["ANTHROPIC_BASE_URL"]["value"] == "http://…@models.example/v1"
    assert shown["JOURNEYMAN_PORT"] == {
        "name": "JOURNEYMAN_PORT",
        "meaning": "Port the server listens on; 0 picks a free one.",
        "is_secret": False,
        "is_set": False,
        "value": "8700",
    }
