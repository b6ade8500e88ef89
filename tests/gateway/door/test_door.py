"""Who may enter, and where the door stands."""

import os
import socket
import stat
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeyman.errors import Conflict
from journeyman.gateway.door.door import Door
from journeyman.gateway.wires.base import Wire
from journeyman.settings import Settings
from tests.gateway.calls import settings_with, write_script
from tests.gateway.door.agents import PATHS, WIRES, account, ask, client_of, headers, request
from tests.gateway.ledgers import open_door

every_wire = pytest.mark.parametrize("wire", WIRES)
SHAPES: dict[Wire, Any] = {
    "chat": lambda body: body["error"]["type"],
    "responses": lambda body: body["error"]["type"],
    "messages": lambda body: (body["type"], body["error"]["type"])[1],
    "generate": lambda body: body["error"]["status"].lower(),
}


@every_wire
async def test_without_a_valid_token_nobody_enters_and_is_refused_in_the_wires_own_shape(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire
) -> None:
    token = door.admit(account(write_script(settings, "any", {"replies": [{"say": "in"}]})))
    door.dismiss(token)
    for sent in (headers(wire, token), headers(wire, "jm-guessed"), {}):
        refused = await client.post(PATHS[wire], json=request(wire, "Go"), headers=sent)
        assert refused.status_code == 401
        assert SHAPES[wire](refused.json()) in ("authentication_error", "unauthenticated")


@pytest.mark.parametrize(
    ("name", "value"),
    [("authorization", "Bearer {}"), ("x-api-key", "{}"), ("x-goog-api-key", "{}"), ("?key", "{}")],
)
async def test_a_token_is_taken_wherever_clients_put_their_key(
    settings: Settings, door: Door, client: httpx2.AsyncClient, name: str, value: str
) -> None:
    token = door.admit(account(write_script(settings, "any", {"replies": [{"say": "in"}]})))
    given = value.format(token)
    path = PATHS["chat"] + (f"?key={given}" if name == "?key" else "")
    sent = {} if name == "?key" else {name: given}
    answer = await client.post(path, json=request("chat", "Go"), headers=sent)
    assert answer.status_code == 200


async def test_the_tokens_of_one_process_open_nothing_in_the_next(settings: Settings) -> None:
    async with open_door(settings) as first:
        token = first.admit(account(write_script(settings, "any", {"replies": [{"say": "in"}]})))
    async with open_door(settings) as second, client_of(second) as client:
        refused = await client.get("/v1/models", headers=headers("chat", token))
    assert refused.status_code == 401


async def test_dismissing_breaks_off_what_a_token_still_calls(home: Path) -> None:
    settings = settings_with(home)
    model = write_script(settings, "slow", {"replies": [{"say": "a", "fault": "stall"}]})
    body = request("chat", "Go", stream=True)
    async with open_door(settings) as door, client_of(door) as client:
        token = door.admit(account(model))
        sending = client.stream("POST", PATHS["chat"], json=body, headers=headers("chat", token))
        async with sending as answer:
            pieces = answer.aiter_raw()
            assert await anext(pieces)
            door.dismiss(token)
            with pytest.raises(httpx2.RemoteProtocolError):
                async for _ in pieces:
                    pass


async def test_only_the_accounts_model_is_listed(
    settings: Settings, door: Door, client: httpx2.AsyncClient
) -> None:
    token = door.admit(account(write_script(settings, "mine", {"replies": [{"say": "x"}]})))
    listed = (await client.get("/v1/models", headers=headers("chat", token))).json()
    assert [model["id"] for model in listed["data"]] == ["mine"]
    google = (await client.get(f"/v1beta/models?key={token}")).json()
    assert [model["name"] for model in google["models"]] == ["models/mine"]
    for path in ("/v1/models", "/v1beta/models"):
        assert (await client.get(path)).status_code == 401


async def test_counting_tokens_calls_no_model(
    settings: Settings, door: Door, client: httpx2.AsyncClient
) -> None:
    model = write_script(settings, "one", {"replies": [{"say": "only"}]})
    token = door.admit(account(model))
    path = "/v1/messages/count_tokens"
    counted = await client.post(path, json=request("messages", "Go"), headers=headers("messages", token))
    assert counted.json()["input_tokens"] > 0
    path = "/v1beta/models/x:countTokens"
    counted = await client.post(path, json=request("generate", "Go"), headers=headers("generate", token))
    assert counted.json()["totalTokens"] > 0
    assert (await ask(client, token, "messages", request("messages", "Go"))).text == "only"


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("/v1/messages", b"{", 400),
        ("/v1/messages", b"[]", 400),
        ("/v1/responses", b"\xff", 400),
        ("/v1beta/models/x:embedContent", b"{}", 404),
        ("/v1/embeddings", b"{}", 404),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused(
    settings: Settings, door: Door, client: httpx2.AsyncClient, path: str, content: bytes, status: int
) -> None:
    token = door.admit(account(write_script(settings, "one", {"replies": [{"say": "x"}]})))
    refused = await client.post(path, content=content, headers=headers("chat", token))
    assert refused.status_code == status


async def test_the_socket_is_open_to_a_jails_user_and_its_directory_to_nobody_else(door: Door) -> None:
    assert stat.S_IMODE(door.path.stat().st_mode) == 0o666
    assert stat.S_IMODE(door.path.parent.stat().st_mode) == 0o700


async def test_a_socket_that_a_killed_process_left_is_taken_away(settings: Settings) -> None:
    directory = settings.home / "door"
    directory.mkdir(mode=0o700)
    dead = directory / "1.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(str(directory / "2.sock"))
        live.listen()
        async with open_door(settings):
            assert not dead.exists()
            assert (directory / "2.sock").exists()


async def test_closing_leaves_nothing_behind(settings: Settings) -> None:
    async with open_door(settings) as door:
        path = door.path
    assert not path.parent.exists()


async def test_a_home_too_deep_for_a_socket_gets_one_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / ("deep" * 30)
    home.mkdir()
    async with open_door(settings_with(home)) as door, client_of(door) as client:
        assert len(os.fsencode(door.path)) <= 100
        assert stat.S_IMODE(door.path.parent.stat().st_mode) == 0o700
        assert (await client.get("/v1/models")).status_code == 401


async def test_a_directory_that_others_can_enter_is_refused(settings: Settings) -> None:
    (settings.home / "door").mkdir(mode=0o755)
    with pytest.raises(Conflict, match="only this user"):
        async with open_door(settings):
            pass
