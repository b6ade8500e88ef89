"""Calls passed on to a provider: a stand-in that speaks its format, over a real connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeyman.errors import Transient
from journeyman.gateway.accounts import CallRecord
from journeyman.gateway.door.door import Door
from journeyman.gateway.wires.base import Wire
from tests.gateway.calls import settings_with
from tests.gateway.door.agents import PATHS, account, ask, client_of, headers, request
from tests.gateway.ledgers import open_door
from tests.standins.model_server import Break, ModelServer, Reply, in_order

KEY = "sk-very-secret-key-of-a-test"
MODELS: dict[Wire, str] = {
    "chat": "openai/gpt-5.5",
    "responses": "openai/gpt-5.5",
    "messages": "anthropic/claude-sonnet-5-5",
    "generate": "google/gemini-3.8-flash",
}
every_wire = pytest.mark.parametrize("wire", MODELS)


@asynccontextmanager
async def door_to(server: ModelServer, home: Path, **environment: str) -> AsyncIterator[Door]:
    settings = settings_with(
        home,
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=f"{server.url}/v1",
        ANTHROPIC_API_KEY=KEY,
        ANTHROPIC_BASE_URL=server.url,
        GEMINI_API_KEY=KEY,
        GOOGLE_GEMINI_BASE_URL=server.url,
        **environment,
    )
    async with open_door(settings) as door:
        yield door


@every_wire
async def test_a_stream_passes_with_the_real_key_and_the_accounts_model_and_is_counted(
    home: Path, wire: Wire
) -> None:
    records: list[CallRecord] = []

    async def on_call(record: CallRecord) -> None:
        records.append(record)

    reply = Reply(text="Hello, world", tools=[("Bash", {"command": "ls"})])
    with ModelServer(in_order(reply)) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(MODELS[wire], on_call=on_call))
            heard = await ask(client, token, wire, request(wire, "Go"), stream=True)
    assert (heard.text, heard.calls) == ("Hello, world", [("Bash", {"command": "ls"})])
    (sent,) = server.requests
    assert KEY in str(sent.headers)
    assert token not in str(sent.headers)
    name = MODELS[wire].partition("/")[2]
    assert name in (sent.path if wire == "generate" else sent.body["model"])
    usage = records[0].usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cache_read) == (100, 20, 10)


@every_wire
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
async def test_a_refusal_passes_as_it_is_without_the_key(
    home: Path, wire: Wire, status: int, stream: bool
) -> None:
    body = {"error": {"message": f"no, not with {KEY}"}}
    reply = Reply(status=status, body=body, headers={"retry-after": "7", "set-cookie": "a=b"})
    with ModelServer(in_order(reply)) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(MODELS[wire]))
            asked = request(wire, "Go", stream=stream)
            refused = await client.post(PATHS[wire], json=asked, headers=headers(wire, token))
    assert refused.status_code == status
    assert refused.headers["retry-after"] == "7"
    assert "set-cookie" not in refused.headers
    assert refused.json() == {"error": {"message": "no, not with [redacted]"}}
    assert len(server.requests) == 1


@every_wire
@pytest.mark.parametrize("breaks", ["cut", "half_frame", "stall"])
async def test_a_broken_stream_stays_broken(home: Path, wire: Wire, breaks: Break) -> None:
    with ModelServer(in_order(Reply(text="and then nothing", breaks=breaks))) as server:
        environment = {"JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS": "0.3"}
        async with door_to(server, home, **environment) as door, client_of(door) as client:
            token = door.admit(account(MODELS[wire]))
            with pytest.raises(httpx2.RemoteProtocolError):
                await ask(client, token, wire, request(wire, "Go"), stream=True)
            assert isinstance(door.fault(token), Transient)


@every_wire
async def test_an_unreachable_provider_is_reported_in_the_wires_own_shape(home: Path, wire: Wire) -> None:
    with ModelServer(in_order(Reply(text="never asked"))) as server:
        pass
    async with door_to(server, home) as door, client_of(door) as client:
        token = door.admit(account(MODELS[wire]))
        refused = await client.post(PATHS[wire], json=request(wire, "Go"), headers=headers(wire, token))
    assert refused.status_code == 502
    assert "the call failed" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("model", "wire", "fitting"),
    [
        ("openai/gpt-5.5", "messages", "OpenCode or the built-in agent or Codex"),
        ("anthropic/claude-sonnet-5-5", "chat", "Claude Code"),
        ("google/gemini-3.8-flash", "responses", "Gemini"),
    ],
)
async def test_a_provider_that_does_not_speak_the_agents_format_is_not_called(
    home: Path, model: str, wire: Wire, fitting: str
) -> None:
    with ModelServer(in_order(Reply(text="never asked"))) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(model))
            refused = await client.post(PATHS[wire], json=request(wire, "Go"), headers=headers(wire, token))
    assert refused.status_code == 400
    assert fitting in refused.json()["error"]["message"]
    assert server.requests == []


HOSTED: dict[Wire, list[dict[str, Any]]] = {
    "chat": [{"type": "web_search"}],
    "responses": [{"type": "web_search"}, {"type": "mcp", "server_url": "http://x"}],
    "messages": [{"type": "web_fetch_20250910", "name": "web_fetch"}],
    "generate": [{"googleSearch": {}}, {"urlContext": {}, "functionDeclarations": []}],
}


@every_wire
async def test_tools_that_a_provider_would_run_by_itself_are_left_out(home: Path, wire: Wire) -> None:
    asked = request(wire, "Go", stream=True)
    tools = asked["tools"] + HOSTED[wire]
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(MODELS[wire]))
            await ask(client, token, wire, {**asked, "tools": tools}, stream=True)
            await ask(client, token, wire, {**asked, "tools": HOSTED[wire]}, stream=True)
    assert server.requests[0].body["tools"] == asked["tools"]
    assert "tools" not in server.requests[1].body


async def test_a_conversation_is_not_kept_at_its_provider(home: Path) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(MODELS["responses"]))
            await ask(client, token, "responses", request("responses", "Go"), stream=True)
    assert server.requests[0].body["store"] is False


async def test_a_number_that_no_json_can_hold_is_refused(home: Path) -> None:
    with ModelServer(in_order(Reply(text="never asked"))) as server:
        async with door_to(server, home) as door, client_of(door) as client:
            token = door.admit(account(MODELS["chat"]))
            sent = {**headers("chat", token), "content-type": "application/json"}
            content = b'{"messages": [{"role": "user", "content": "Go"}], "temperature": 1e999}'
            refused = await client.post(PATHS["chat"], content=content, headers=sent)
    assert refused.status_code == 400
    assert "too large" in refused.json()["error"]["message"]
    assert server.requests == []
