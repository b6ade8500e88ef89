"""Repositories over HTTP: known once, their definition validated, their check an order."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from journeyman.environments.doctor import EnvironmentFacts, diagnose
from tests.api.parts import ORDERS, Api, git, problem_of

REPOSITORIES = "/api/repositories"
GOOD = "install: []\nchecks: {test: 'true'}\n"


async def _known(api: Api, repository: Path) -> dict[str, Any]:
    answer = await api.client.post(REPOSITORIES, json={"repository_url": str(repository)})
    assert answer.status_code == 201, answer.text
    known: dict[str, Any] = answer.json()["repository"]
    return known


async def _check(api: Api, repository_id: str, **body: Any) -> dict[str, Any]:
    answer = await api.client.post(f"{REPOSITORIES}/{repository_id}/environment/check", json=body)
    assert answer.status_code == 202, answer.text
    begun: dict[str, Any] = answer.json()
    return begun


async def _environment(api: Api, repository_id: str) -> dict[str, Any]:
    answer = await api.client.get(f"{REPOSITORIES}/{repository_id}/environment")
    assert answer.status_code == 200, answer.text
    read: dict[str, Any] = answer.json()
    return read


async def test_a_repository_is_known_once_with_its_rights(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    again = await _known(api, repository)
    assert known["repository_id"] == again["repository_id"]
    assert known["repository_id"].startswith("rp-")
    assert known["repository_url"] == repository.as_uri()
    assert known["default_branch"] == "main"
    assert known["rights"] == {"push": True, "pull_request": True, "workflows": None}
    assert known["environment_state"] == "unknown"


async def test_the_repository_of_an_order_is_listed(api: Api, repository: Path) -> None:
    assert (await api.client.get(REPOSITORIES)).json() == {
        "repositories": [],
        "total_count": 0,
        "has_more": False,
    }
    await api.submit(repository)
    listed = (await api.client.get(REPOSITORIES)).json()
    assert [one["repository_url"] for one in listed["repositories"]] == [repository.as_uri()]


async def test_repositories_come_in_pages(api: Api, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (path := tmp_path / name).mkdir()
        git(path, "init", "-q", "-b", "main")
        git(path, "commit", "-q", "--allow-empty", "-m", "Begin")
        await _known(api, path)
    page = (await api.client.get(REPOSITORIES, params={"limit": 2})).json()
    assert (len(page["repositories"]), page["total_count"], page["has_more"]) == (2, 3, True)
    rest = (await api.client.get(REPOSITORIES, params={"limit": 2, "offset": 2})).json()
    assert (len(rest["repositories"]), rest["has_more"]) == (1, False)


async def test_one_repository_is_found_by_any_way_of_writing_its_address(api: Api, repository: Path) -> None:
    await _known(api, repository)
    for address in (str(repository), repository.as_uri(), f"{repository}/"):
        found = (await api.client.get(REPOSITORIES, params={"repository_url": address})).json()
        assert found["total_count"] == 1, address
    nothing = await api.client.get(REPOSITORIES, params={"repository_url": "/no/such"})
    assert nothing.json()["repositories"] == []


async def test_a_repository_that_cannot_be_reached_is_not_made_known(api: Api, tmp_path: Path) -> None:
    answer = await api.client.post(REPOSITORIES, json={"repository_url": str(tmp_path / "nothing")})
    problem_of(answer, 422)
    assert (await api.client.get(REPOSITORIES)).json()["total_count"] == 0


@pytest.mark.parametrize("repository_id", ["rp-00000000", "rp-1", "wo-00000000", "x", "rp-%00"])
async def test_an_unknown_repository_is_not_found(api: Api, repository_id: str) -> None:
    path = f"{REPOSITORIES}/{repository_id}/environment"
    problem_of(await api.client.get(path), 404)
    problem_of(await api.client.put(path, json={"definition": GOOD}), 404)
    problem_of(await api.client.delete(path), 404)
    problem_of(await api.client.post(f"{path}/check"), 404)


async def test_a_definition_is_stored_and_removed(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    path = f"{REPOSITORIES}/{known['repository_id']}/environment"
    assert (await _environment(api, known["repository_id"]))["definition"] is None
    stored = await api.client.put(path, json={"definition": GOOD})
    assert stored.status_code == 200
    assert stored.json()["definition"] == GOOD
    assert (await _environment(api, known["repository_id"]))["repository"]["has_definition"] is True
    for _ in range(2):
        removed = await api.client.delete(path)
        assert (removed.status_code, removed.json()["definition"]) == (200, None)


async def test_a_wrong_definition_is_refused_with_line_and_remedy(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    path = f"{REPOSITORIES}/{known['repository_id']}/environment"
    wrong = "install: []\ninstal: [make]\nenv: {PORT: }\n"
    problem = problem_of(await api.client.put(path, json={"definition": wrong}), 422)
    assert [one["line"] for one in problem["errors"]] == [2, 3]
    assert all(one["column"] >= 1 and one["message"] and one["hint"] for one in problem["errors"])
    assert (await _environment(api, known["repository_id"]))["definition"] is None
    tried = await api.client.post(f"{path}/check", json={"definition": wrong})
    assert problem_of(tried, 422)["errors"] == problem["errors"]


async def test_a_check_is_an_order_that_lists_leave_out(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    begun = await _check(api, known["repository_id"])
    assert begun["repository"]["environment_state"] == "checking"
    order_id = begun["agent_work_order_id"]
    assert begun["repository"]["check_order_id"] == order_id
    order = (await api.client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
    assert order["title"] == "Check the environment of pager"
    assert order["workflow_type"] == "environment_check"
    assert await api.stored() == 0
    asked = await api.client.get(ORDERS, params={"workflow_type": "environment_check"})
    assert asked.json()["total_count"] == 1


async def test_a_check_needs_no_model_and_asking_an_agent_does(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    path = f"{REPOSITORIES}/{known['repository_id']}/environment/check"
    problem = problem_of(await api.client.post(path, json={"ask_agent": True}), 422)
    assert "model" in problem["detail"]
    begun = await _check(api, known["repository_id"])
    assert (await api.services.orders.get(begun["agent_work_order_id"])).model == ""


async def test_a_check_that_runs_is_joined_and_another_one_refused(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    first = await _check(api, known["repository_id"])
    assert (await _check(api, known["repository_id"]))["agent_work_order_id"] == first["agent_work_order_id"]
    path = f"{REPOSITORIES}/{known['repository_id']}/environment/check"
    problem_of(await api.client.post(path, json={"definition": GOOD}), 409)


async def test_a_check_sent_twice_with_a_key_is_begun_once(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    path = f"{REPOSITORIES}/{known['repository_id']}/environment/check"
    answers = [await api.client.post(path, headers={"Idempotency-Key": "one"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()


async def test_a_definition_is_tried_without_being_stored(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    begun = await _check(api, known["repository_id"], definition=GOOD)
    assert (await api.services.orders.get(begun["agent_work_order_id"])).initial_prompt == GOOD
    assert (await _environment(api, known["repository_id"]))["definition"] is None


async def test_the_report_of_a_check_appears_with_its_environment(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    begun = await _check(api, known["repository_id"])
    report = diagnose(
        EnvironmentFacts(
            agent_work_order_id=begun["agent_work_order_id"],
            commit_sha="a" * 40,
            checked_at=datetime.now(UTC),
            repository_url=repository.as_uri(),
            can_push=True,
            source="detected",
            ecosystems=("Python (uv)",),
            proposed_definition=GOOD,
        )
    )
    await api.services.orders.repositories.finish_check(
        repository.as_uri(),
        begun["agent_work_order_id"],
        state=report.state,
        report=report.model_dump(mode="json"),
    )
    read = await _environment(api, known["repository_id"])
    assert read["source"] == "detected"
    assert read["environment"]["ecosystems"] == ["Python (uv)"]
    assert read["report"]["proposed_definition"] == GOOD
    assert read["report"]["findings"][0]["remedy"]
    assert read["repository"]["environment_state"] == "needs_attention"
    assert read["repository"]["attention"] == "No tests and no build were found."


async def test_a_check_that_failed_leaves_a_report_that_says_why(api: Api, repository: Path) -> None:
    known = await _known(api, repository)
    begun = await _check(api, known["repository_id"])
    await api.begin(begun["agent_work_order_id"])
    await api.fail(begun["agent_work_order_id"], "the repository could not be cloned")
    listed = (await api.client.get(REPOSITORIES)).json()["repositories"]
    assert [one["environment_state"] for one in listed] == ["needs_attention"]
    assert listed[0]["attention"] == "the repository could not be cloned"
    report = (await _environment(api, known["repository_id"]))["report"]
    assert (report["score"], report["findings"][0]["action"]) == (0, "check_again")
    again = await _check(api, known["repository_id"])
    assert again["agent_work_order_id"] != begun["agent_work_order_id"]


async def test_a_check_cannot_be_begun_as_an_order_of_ones_own(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "workflow_type": "environment_check", "initial_prompt": "x"}
    assert "/api/repositories/" in problem_of(await api.client.post(ORDERS, json=body), 422)["hint"]


async def test_a_definition_is_proposed_by_an_order_that_needs_no_model(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "workflow_type": "environment_file", "initial_prompt": GOOD}
    made = await api.client.post(ORDERS, json=body)
    assert made.status_code == 201, made.text
    assert made.json()["agent_work_order"]["title"] == "Describe the environment"
    body["initial_prompt"] = "instal: []"
    assert problem_of(await api.client.post(ORDERS, json=body), 422)["errors"][0]["line"] == 1


async def test_workflows_about_environments_are_no_choice_for_an_order(api: Api) -> None:
    listed = (await api.client.get("/api/workflows")).json()["workflows"]
    assert not [one["name"] for one in listed if one["name"].startswith("environment_")]
