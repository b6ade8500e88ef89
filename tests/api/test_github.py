"""Orders on GitHub repositories, against a stand-in on loopback."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from journeyman.database import Database
from journeyman.settings import Settings
from tests.api.parts import ORDERS, Api, git, problem_of, served
from tests.standins.github import GitHubStandIn


@pytest.fixture
def github(tmp_path: Path, repository: Path) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path / "github") as github:
        github.add_repository("acme", "pager", repository)
        github.add_repository("acme", "secret", repository, private=True)
        yield github


@pytest.fixture
def connected(settings: Settings, github: GitHubStandIn) -> Settings:
    addresses = {"github_url": github.url, "github_api_url": github.api_url}
    return settings.model_copy(update={**addresses, "github_token": SecretStr(github.token)})


async def test_an_issue_becomes_the_task(
    connected: Settings, database: Database, github: GitHubStandIn
) -> None:
    number = github.add_issue("acme/pager", "Last page\x1b[31m is cut off", "Page 3 shows\x00 nothing.")
    body = {
        "repository_url": f"{github.url}/acme/pager",
        "github_issue_number": str(number),
        "initial_prompt": "Mind the tests.",
        "model": "scripted/demo",
    }
    async with served(connected, database) as api:
        answer = await api.client.post(ORDERS, json=body)
        assert answer.status_code == 201, answer.text
        order = answer.json()["agent_work_order"]
        assert order["title"] == "Last page[31m is cut off"
        assert order["github_issue_number"] == str(number)
        task = (await api.accepted())[0].initial_prompt
        assert (
            task == f"Issue #{number}: Last page[31m is cut off\n\nPage 3 shows nothing.\n\nMind the tests."
        )
        logs = (await api.client.get(f"{ORDERS}/{order['agent_work_order_id']}/logs")).json()["log_entries"]
        assert [entry["event"] for entry in logs] == ["agent_work_order_created", "github_issue_read"]


async def test_a_repository_that_may_not_be_pushed_to_or_seen_is_refused(
    connected: Settings, database: Database, github: GitHubStandIn
) -> None:
    without_token = connected.model_copy(update={"github_token": None})
    async with served(without_token, database) as api:
        for name, status in (("pager", 403), ("secret", 422), ("nowhere", 422)):
            body = {
                "repository_url": f"{github.url}/acme/{name}",
                "initial_prompt": "x",
                "model": "scripted/demo",
            }
            problem = problem_of(await api.client.post(ORDERS, json=body), status)
            assert "GITHUB_TOKEN" in problem["hint"]
        assert await api.stored() == 0


async def test_a_repository_is_verified_before_an_order_is_made(
    connected: Settings, database: Database, github: GitHubStandIn
) -> None:
    async with served(connected, database) as api:

        async def verify(url: str) -> dict[str, object]:
            answer = await api.client.post("/api/github/verify-repository", json={"repository_url": url})
            assert answer.status_code == 200
            found: dict[str, object] = answer.json()
            return found

        good = await verify(f"{github.url}/acme/secret.git")
        assert isinstance(good["repository"], dict)
        assert good["repository"].pop("access_verified_at")
        assert good == {
            "repository": {
                "repository_owner": "acme",
                "repository_name": "secret",
                "repository_url": f"{github.url}/acme/secret",
                "default_branch": "main",
                "is_accessible": True,
                "can_push": True,
            },
            "verification_success": True,
            "error_message": None,
        }
        missing = await verify(f"{github.url}/acme/nowhere")
        assert isinstance(missing["repository"], dict)
        assert (missing["repository"]["is_accessible"], missing["verification_success"]) == (False, False)
        assert missing["error_message"]
        github.repositories["acme/pager"].can_push = False
        read_only = await verify(f"{github.url}/acme/pager")
        assert isinstance(read_only["repository"], dict)
        assert (read_only["repository"]["is_accessible"], read_only["repository"]["can_push"]) == (
            True,
            False,
        )
        assert read_only["verification_success"] is False
        assert "can be read but not pushed to. Set GITHUB_TOKEN" in str(read_only["error_message"])
        assert (await verify("ext::sh -c id"))["repository"] is None


async def test_a_pull_request_leaves_draft_once_it_is_there(
    connected: Settings, database: Database, github: GitHubStandIn, repository: Path
) -> None:
    async with served(connected, database) as api:
        order_id = await api.submit(repository)
        ready = f"{ORDERS}/{order_id}/pull-request/ready"
        problem_of(await api.client.post(ready), 409)
        number = await api.open_pull_request(order_id)
        assert (await api.client.post(ready)).status_code == 200
        assert (await api.client.post(ready)).status_code == 200
        shown = (await api.client.get(f"/api/local-forge/pull-requests/{number}")).json()
        assert (shown["draft"], shown["state"], shown["base"]) == (False, "open", "main")
        page = (await api.client.get("/api/local-forge/pull-requests")).json()
        assert (page["total_count"], page["has_more"]) == (1, False)
        problem_of(await api.client.get("/api/local-forge/pull-requests/99"), 404)
        logs = (await api.client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
        assert logs[-1]["event"] == "github_pull_request_updated"
        assert logs[-1]["draft"] is False


def order_on(github: GitHubStandIn, **fields: Any) -> dict[str, Any]:
    address = f"{github.url}/acme/pager"
    return {"repository_url": address, "initial_prompt": "x", "model": "scripted/demo", **fields}


async def test_a_forge_that_hangs_is_given_up_within_five_seconds(
    connected: Settings, database: Database, github: GitHubStandIn
) -> None:
    github.fail("GET", "/api/v3/repos/acme/pager", "timeout", times=9)
    async with served(connected, database) as api:
        begun = time.monotonic()
        address = {"repository_url": f"{github.url}/acme/pager"}
        verifying = api.client.post("/api/github/verify-repository", json=address)
        making = api.client.post(ORDERS, json=order_on(github))
        verified, made = await asyncio.gather(verifying, making)
        assert time.monotonic() - begun < 5
        assert verified.status_code == 200
        assert verified.json()["verification_success"] is False
        assert "no answer" in verified.json()["error_message"]
        assert problem_of(made, 503)["category"] == "transient"
        assert int(made.headers["retry-after"]) > 0
        assert await api.stored() == 0


async def test_a_base_that_is_not_there_and_a_branch_that_is_are_refused(
    connected: Settings, database: Database, github: GitHubStandIn, repository: Path
) -> None:
    git(repository, "branch", "taken")
    github.add_repository("acme", "branches", repository)
    async with served(connected, database) as api:
        for address in (f"{github.url}/acme/branches", str(repository)):
            body = order_on(github, repository_url=address)
            missing = problem_of(await api.client.post(ORDERS, json={**body, "base_branch": "nope"}), 422)
            assert "no branch 'nope'" in missing["detail"]
            taken = problem_of(await api.client.post(ORDERS, json={**body, "git_branch_name": "taken"}), 409)
            assert "'taken'" in taken["detail"]
            assert "git_branch_name" in taken["hint"]
            good = {**body, "base_branch": "taken", "git_branch_name": "taken-not"}
            assert (await api.client.post(ORDERS, json=good)).status_code == 201


async def test_a_branch_that_another_order_works_on_is_taken_before_it_is_pushed(
    api: Api, repository: Path
) -> None:
    order_id = await api.submit(repository, git_branch_name="fix")
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    taken = problem_of(await api.client.post(ORDERS, json={**body, "git_branch_name": "fix"}), 409)
    assert order_id in taken["detail"]
    await api.begin(order_id)
    await api.fail(order_id)
    await api.submit(repository, git_branch_name="fix")


async def test_an_order_is_accepted_where_the_forge_cannot_say_which_branches_it_has(
    connected: Settings, database: Database, github: GitHubStandIn
) -> None:
    github.fail("GET", "*/git/ref/heads/*", 500, times=9)
    async with served(connected, database) as api:
        body = order_on(github, base_branch="nope")
        assert (await api.client.post(ORDERS, json=body)).status_code == 201
