"""What a web page in the user's browser must not be able to do."""

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.api.parts import ORDERS, Api, problem_of


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "169.254.169.254", "[::1", ""]
)
async def test_a_foreign_host_name_is_refused(api: Api, host: str) -> None:
    problem_of(await api.client.get("/health", headers={"Host": host}), 403)


@pytest.mark.parametrize("host", ["localhost", "localhost:8700", "127.0.0.1:1", "[::1]:8700", "LOCALHOST"])
async def test_every_loopback_name_is_answered(api: Api, host: str) -> None:
    assert (await api.client.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://localhost:1", "null", "http://127.0.0.1", "http://["]
)
async def test_a_page_of_another_origin_can_change_nothing(api: Api, repository: Path, origin: str) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    answer = await api.client.post(ORDERS, json=body, headers={"Origin": origin})
    assert problem_of(answer, 403)["category"] == "permission"
    assert await api.stored() == 0


async def test_a_page_of_our_own_can(api: Api, repository: Path) -> None:
    body = {"repository_url": str(repository), "initial_prompt": "x", "model": "scripted/demo"}
    assert (await api.client.post(ORDERS, json=body, headers={"Origin": api.url})).status_code == 201


async def test_a_form_of_a_page_is_no_order(api: Api, repository: Path) -> None:
    body = f'{{"repository_url": "{repository}", "initial_prompt": "x", "model": "scripted/demo"}}'
    answer = await api.client.post(ORDERS, content=body, headers={"Content-Type": "text/plain"})
    problem_of(answer, 422)
    assert await api.stored() == 0


async def test_a_websocket_of_another_origin_is_refused(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    with pytest.raises(InvalidStatus) as refused:
        await connect(api.url.replace("http", "ws") + f"/ws/{order_id}", origin="https://evil.example")  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403
    assert problem_in(refused.value)["category"] == "permission"


async def test_a_websocket_that_does_not_exist_is_refused_with_a_problem(api: Api) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(api.url.replace("http", "ws") + "/ws/there/is/none")
    assert refused.value.response.status_code == 404
    assert problem_in(refused.value)["status"] == 404


def problem_in(refused: InvalidStatus) -> dict[str, Any]:
    assert refused.response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = json.loads(refused.response.body)
    return problem


async def test_every_answer_carries_the_security_headers(api: Api) -> None:
    for path in ("/health", "/nowhere", ORDERS):
        headers = (await api.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "x-journeyman-isolation" not in headers
        assert "access-control-allow-origin" not in headers


async def test_unknown_paths_and_methods_are_problems_with_a_way_out(api: Api) -> None:
    for path in ("/api/nothing", "/docs", "/redoc", "/api/agent-work-orders/"):
        answer = await api.client.get(path)
        assert "/openapi.json" in problem_of(answer, 404)["hint"]
    for path, methods in (
        (ORDERS, "GET, POST"),
        (f"{ORDERS}/wo-00000000", "GET, PATCH"),
        ("/submit", "POST"),
    ):
        answer = await api.client.delete(path)
        assert "/openapi.json" in problem_of(answer, 405)["hint"]
        assert answer.headers["allow"] == methods
