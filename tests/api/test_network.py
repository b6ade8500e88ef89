"""What an order's network refused, and what a person allows, over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from journeyman.events import log
from journeyman.events.types import NetworkDenied
from tests.api.parts import ORDERS, Api, problem_of


def _denied(host: str, **more: Any) -> NetworkDenied:
    given: dict[str, Any] = {
        "port": 443,
        "phase": "setup",
        "step": "check",
        "command": "make deps",
        "reason": "it is not on the list",
        "may_be_allowed": True,
        **more,
    }
    return NetworkDenied(host=host, **given)


@pytest.fixture
async def order_id(api: Api, repository: Path) -> str:
    return await api.submit(repository)


async def _network(api: Api, order_id: str) -> dict[str, Any]:
    answer = await api.client.get(f"{ORDERS}/{order_id}/network")
    assert answer.status_code == 200
    read: dict[str, Any] = answer.json()
    return read


async def _allow(api: Api, order_id: str, host: str, scope: str = "order") -> Any:
    return await api.client.post(f"{ORDERS}/{order_id}/network/allow", json={"host": host, "scope": scope})


async def test_an_order_without_refusals_has_an_empty_network(api: Api, order_id: str) -> None:
    assert await _network(api, order_id) == {"agent_work_order_id": order_id, "denied": [], "allowed": []}


async def test_a_denied_host_is_shown_once_and_can_be_allowed(api: Api, order_id: str) -> None:
    await api.services.orders.emit(order_id, _denied("files.example"), _denied("files.example", port=80))
    [denied] = (await _network(api, order_id))["denied"]
    assert (denied["host"], denied["command"], denied["allowed"]) == ("files.example", "make deps", None)
    answer = await _allow(api, order_id, "Files.Example")
    assert answer.status_code == 200
    assert [one["allowed"] for one in answer.json()["denied"]] == ["order"]
    assert [(one["host"], one["scope"]) for one in answer.json()["allowed"]] == [("files.example", "order")]
    events = await log.read(api.services.database, order_id)
    assert [stored.event.type for stored in events].count("network_allowed") == 1


async def test_what_is_allowed_to_a_repository_holds_for_its_other_orders(
    api: Api, order_id: str, repository: Path
) -> None:
    other = await api.submit(repository)
    assert (await _allow(api, order_id, "files.example", "repository")).status_code == 200
    assert [one["scope"] for one in (await _network(api, other))["allowed"]] == ["repository"]


async def test_allowing_twice_changes_nothing(api: Api, order_id: str) -> None:
    first, second = [await _allow(api, order_id, "files.example") for _ in range(2)]
    assert first.json() == second.json()
    events = await log.read(api.services.database, order_id)
    assert [stored.event.type for stored in events].count("network_allowed") == 1


@pytest.mark.parametrize("host", ["10.0.0.1", "localhost", "db", "[::1]", "metadata.google.internal"])
async def test_private_hosts_are_refused_with_a_reason(api: Api, order_id: str, host: str) -> None:
    assert problem_of(await _allow(api, order_id, host), 409)["hint"]
    assert (await _network(api, order_id))["allowed"] == []


async def test_a_host_denied_for_good_is_refused_with_its_reason(api: Api, order_id: str) -> None:
    denied = _denied("rebound.example", may_be_allowed=False, reason="it resolves to 10.0.0.1")
    await api.services.orders.emit(order_id, denied)
    assert "10.0.0.1" in problem_of(await _allow(api, order_id, "rebound.example"), 409)["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"host": "https://files.example", "scope": "order"},
        {"host": "files.example", "scope": "everybody"},
        {"host": "", "scope": "order"},
        {"host": "files.example"},
        {"host": 1, "scope": "order"},
        {"host": "x" * 301, "scope": "order"},
    ],
)
async def test_a_wrong_request_is_refused(api: Api, order_id: str, body: dict[str, Any]) -> None:
    problem_of(await api.client.post(f"{ORDERS}/{order_id}/network/allow", json=body), 422)


async def test_the_network_of_an_unknown_order_is_not_found(api: Api) -> None:
    problem_of(await api.client.get(f"{ORDERS}/wo-00000000/network"), 404)
    problem_of(await _allow(api, "wo-00000000", "files.example"), 404)
