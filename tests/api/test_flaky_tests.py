"""Flaky tests over HTTP: listed for their repository, and overruled by a person."""

from pathlib import Path

from tests.api.parts import Api, problem_of

REPOSITORIES = "/api/repositories"


async def _known(api: Api, repository: Path) -> str:
    answer = await api.client.post(REPOSITORIES, json={"repository_url": str(repository)})
    known: str = answer.json()["repository"]["repository_id"]
    return known


async def test_a_flaky_test_is_listed_and_a_person_lets_it_count(api: Api, repository: Path) -> None:
    repository_id = await _known(api, repository)
    address = f"{REPOSITORIES}/{repository_id}/flaky-tests"
    assert (await api.client.get(address)).json() == {"repository_id": repository_id, "flaky_tests": []}
    await api.services.orders.flaky_tests.count(repository_id, ["tests/test_a.py::test_a[x/y]"])
    (seen,) = (await api.client.get(address)).json()["flaky_tests"]
    assert (seen["test_id"], seen["times_seen"]) == ("tests/test_a.py::test_a[x/y]", 1)
    assert seen["is_trusted"] is False
    changed = await api.client.put(f"{address}/{seen['test_digest']}", json={"is_trusted": True})
    assert changed.json() == {**seen, "is_trusted": True}


async def test_a_test_that_was_never_flaky_cannot_be_overruled(api: Api, repository: Path) -> None:
    repository_id = await _known(api, repository)
    answer = await api.client.put(
        f"{REPOSITORIES}/{repository_id}/flaky-tests/{'0' * 64}", json={"is_trusted": True}
    )
    problem_of(answer, 404)
