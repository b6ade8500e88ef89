"""A POST with a key takes effect once, on every call that there is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from journeyman.access.store import AnsweredRequests
from journeyman.api.application import create_app
from journeyman.api.idempotency import RequestKey
from journeyman.database import Database
from tests.api.parts import ORDERS, Api

KEY = {"Idempotency-Key": "6b0d2c5e"}


def said(order_id: str, text: str = "Add a test") -> dict[str, Any]:
    return {"agent_work_order_id": order_id, "prompt_text": text}


@pytest.fixture
async def prompts(api: Api, repository: Path) -> str:
    """Where prompts of an order go."""
    return f"{ORDERS}/{await api.submit(repository)}/prompt"


async def asked(api: Api, prompts: str) -> int:
    return len((await api.client.get(f"{prompts}s")).json()["prompts"])


async def test_the_same_request_sent_again_gets_the_same_answer_and_has_no_second_effect(
    api: Api, prompts: str
) -> None:
    body = said(prompts.split("/")[-2])
    answers = await asyncio.gather(*(api.client.post(prompts, json=body, headers=KEY) for _ in range(5)))
    later = await api.client.post(prompts, json=body, headers=KEY)
    assert {(one.status_code, one.text) for one in (*answers, later)} == {(200, answers[0].text)}
    assert later.headers["content-type"] == "application/json"
    assert await asked(api, prompts) == 1


async def test_without_a_key_every_request_counts(api: Api, prompts: str) -> None:
    for _ in range(2):
        await api.client.post(prompts, json=said(prompts.split("/")[-2]))
    assert await asked(api, prompts) == 2


async def test_the_same_key_with_another_request_is_a_conflict(
    api: Api, prompts: str, repository: Path
) -> None:
    order_id = prompts.split("/")[-2]
    await api.client.post(prompts, json=said(order_id), headers=KEY)
    others = (
        (prompts, said(order_id, "Something else")),
        (ORDERS, {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}),
    )
    for path, body in others:
        refused = await api.client.post(path, json=body, headers=KEY)
        assert (refused.status_code, refused.json()["category"]) == (409, "conflict")
        assert refused.headers["content-type"] == "application/problem+json"
    assert await asked(api, prompts) == 1
    assert await api.stored() == 1


async def test_a_request_that_was_refused_leaves_its_key_free(api: Api, prompts: str) -> None:
    order_id = prompts.split("/")[-2]
    refused = await api.client.post(prompts, json=said(order_id, " "), headers=KEY)
    assert refused.status_code == 422
    corrected = await api.client.post(prompts, json=said(order_id), headers=KEY)
    assert corrected.status_code == 200


async def test_a_request_that_a_crash_cut_off_is_not_carried_out_a_second_time(
    api: Api, prompts: str, database: Database
) -> None:
    body = said(prompts.split("/")[-2])
    first = await api.client.post(prompts, json=body, headers=KEY)
    assert first.status_code == 200
    async with database.writing() as connection:  # as if the answer had never been written down
        await connection.execute(text("UPDATE answered_requests SET status = NULL"))
    again = await api.client.post(prompts, json=body, headers=KEY)
    assert again.status_code == 409
    assert "Look at the order" in again.json()["hint"]
    assert await asked(api, prompts) == 1


async def test_a_new_order_that_a_crash_cut_off_is_found_by_its_key(
    api: Api, repository: Path, database: Database
) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    first = (await api.client.post(ORDERS, json=body, headers=KEY)).json()
    made = first["agent_work_order"]["agent_work_order_id"]
    async with database.writing() as connection:  # as it is from the reservation up to the response
        await connection.execute(text(f"UPDATE answered_requests SET status = NULL, body = '{made}'"))
    again = await api.client.post(ORDERS, json=body, headers=KEY)
    assert again.status_code == 201
    assert again.json()["agent_work_order"]["agent_work_order_id"] == made
    assert await api.stored() == 1


async def test_a_new_order_has_the_id_that_was_reserved_with_its_key(
    api: Api, repository: Path, database: Database
) -> None:
    """Cut off before it was created, the order gets the same id when the request is sent again."""
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    await api.client.post(ORDERS, json=body, headers=KEY)
    async with database.writing() as connection:
        await connection.execute(text("UPDATE answered_requests SET status = NULL, body = 'wo-reserved'"))
    again = await api.client.post(ORDERS, json=body, headers=KEY)
    assert again.status_code == 201
    assert again.json()["agent_work_order"]["agent_work_order_id"] == "wo-reserved"


def test_keys_of_different_actors_never_meet() -> None:
    longest = "x" * 255
    keys = {RequestKey(actor, key).stored for actor in ("local", "ann", "bob") for key in ("once", longest)}
    assert len(keys) == 6
    assert max(map(len, keys)) <= 255
    assert RequestKey("local", "once").stored == "once"


@pytest.mark.parametrize("key", ["", "a b", "x" * 256])
async def test_a_key_that_cannot_be_one_is_refused(api: Api, prompts: str, key: str) -> None:
    answer = await api.client.post(
        prompts, json=said(prompts.split("/")[-2]), headers={"Idempotency-Key": key}
    )
    assert answer.status_code == 422
    assert await asked(api, prompts) == 0


async def test_every_call_that_changes_something_honours_a_key(api: Api, repository: Path) -> None:
    """The key of a refused or done request is looked at wherever one can post."""
    order_id = await api.submit(repository)
    calls = create_app(api.services).openapi()["paths"]
    paths = [path for path, methods in calls.items() if "post" in methods]
    assert len(paths) > 8
    requests = AnsweredRequests(api.services.database)
    for number, path in enumerate(paths):
        key = f"taken-{number}"
        await requests.begin(key, "the digest of another request", "wo-reserved")
        real = path.replace("{agent_work_order_id}", order_id).replace("{step}", "x").replace("{number}", "1")
        answer = await api.client.post(real, json={}, headers={"Idempotency-Key": key})
        assert (path, answer.status_code) == (path, 409)
        assert "used before" in answer.json()["detail"]
