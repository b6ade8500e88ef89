"""Budgets, quotas and answers that do not end: the same for every agent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeyman.database import Database
from journeyman.errors import (
    AgentFailed,
    BudgetExceeded,
    ContextOverflow,
    QuotaExhausted,
    RateLimited,
    Transient,
)
from journeyman.gateway.accounts import CallRecord
from journeyman.gateway.door.door import Door
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.wires.base import Wire
from journeyman.settings import Settings
from tests.gateway.calls import settings_with, write_script
from tests.gateway.door.agents import PATHS, WIRES, account, ask, client_of, headers, request
from tests.gateway.ledgers import ledger_in, open_database, open_door, rows_in, store_order
from tests.standins.model_server import ModelServer, Reply, in_order

every_wire = pytest.mark.parametrize("wire", WIRES)
PRICES = '{"scripted/work": {"input": 10, "output": 10}}'
MODELS: dict[Wire, str] = {
    "chat": "openai/gpt-5.5",
    "responses": "openai/gpt-5.5",
    "messages": "anthropic/claude-sonnet-5-5",
    "generate": "google/gemini-3.8-flash",
}


@asynccontextmanager
async def counted(settings: Settings) -> AsyncIterator[tuple[Door, httpx2.AsyncClient, Database]]:
    async with open_database(settings) as database:
        ledger = ledger_in(database, settings)
        async with open_door(settings, ledger) as door, client_of(door) as client:
            yield door, client, database


@every_wire
async def test_a_call_over_budget_is_refused_in_the_wires_own_shape_and_never_made(
    home: Path, wire: Wire
) -> None:
    settings = settings_with(home, JOURNEYMAN_MODEL_PRICES=PRICES)
    model = write_script(settings, "work", {"replies": [{"say": "x" * 3600}]})
    async with counted(settings) as (door, client, database):
        order_id = await store_order(database, budget_usd=0.02)
        token = door.admit(account(model, order_id=order_id))
        await ask(client, token, wire, request(wire, "Go on with it"), stream=True)
        (row,) = await rows_in(database)
        assert row["cost_usd"] == pytest.approx(0.01, rel=0.02)
        refused = await client.post(
            PATHS[wire], json=request(wire, "Go on with it"), headers=headers(wire, token)
        )
        assert refused.status_code == 402
        assert refused.headers["x-should-retry"] == "false"
        assert "the order's budget" in refused.json()["error"]["message"]
        assert isinstance(door.fault(token), BudgetExceeded)
        assert len(await rows_in(database)) == 1


async def test_calls_at_once_share_one_budget(home: Path) -> None:
    settings = settings_with(home, JOURNEYMAN_MODEL_PRICES=PRICES)
    model = write_script(settings, "work", {"replies": [{"say": "x" * 72_000}]})
    body = {**request("messages", "Go on with it"), "max_tokens": 25_000}
    async with counted(settings) as (door, client, database):
        order_id = await store_order(database, budget_usd=1.0)
        token = door.admit(account(model, order_id=order_id))
        posts = [
            client.post(PATHS["messages"], json=body, headers=headers("messages", token)) for _ in range(10)
        ]
        answers = await asyncio.gather(*posts)
        spent = sum(row["cost_usd"] for row in await rows_in(database))
    assert sorted({answer.status_code for answer in answers}) == [200, 402]
    assert 0.8 < spent <= 1.0 + 0.21


@every_wire
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (429, {"error": {"message": "slow down"}}, RateLimited),
        (402, {"error": {"message": "pay first"}}, QuotaExhausted),
        (400, {"error": {"message": "prompt is too long: 9 tokens"}}, ContextOverflow),
        (529, {"error": {"message": "overloaded"}}, Transient),
    ],
)
async def test_a_providers_refusal_is_remembered_as_what_it_means(
    home: Path, wire: Wire, status: int, body: Any, expected: type[Exception]
) -> None:
    reply = Reply(status=status, body=body, headers={"retry-after": "7"})
    with ModelServer(in_order(reply)) as server:
        async with counted(provider_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire]))
            await client.post(PATHS[wire], json=request(wire, "Go on with it"), headers=headers(wire, token))
            fault = door.fault(token)
            (row,) = await rows_in(database)
    assert type(fault) is expected
    assert (row["state"], row["cost_usd"]) == ("failed", 0.0)
    if isinstance(fault, RateLimited | QuotaExhausted):
        assert fault.retry_after == 7


async def test_a_quota_says_when_it_is_filled_up_again(home: Path) -> None:
    body = {"error": {"type": "usage_limit_reached", "message": "limit reached", "resets_in_seconds": 4000}}
    with ModelServer(in_order(Reply(status=429, body=body))) as server:
        async with counted(provider_at(server, home)) as (door, client, _):
            token = door.admit(account(MODELS["responses"]))
            await client.post(
                PATHS["responses"],
                json=request("responses", "Go on with it"),
                headers=headers("responses", token),
            )
            fault = door.fault(token)
    assert isinstance(fault, QuotaExhausted)
    assert fault.retry_after == 4000


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (CallLimits(idle_seconds=30, answer_bytes=5000), "more than 5,000 bytes"),
        (CallLimits(idle_seconds=30, call_seconds=0.3), "more than 0.3 seconds"),
        (CallLimits(idle_seconds=0.1), "silent for 0.1 seconds"),
    ],
)
async def test_an_answer_that_does_not_end_is_cut_off(home: Path, limits: CallLimits, words: str) -> None:
    settings = settings_with(home)
    replies = [{"say": "many words " * 2000, "fault": "stall"}]
    model = write_script(settings, "endless", {"replies": replies})
    if "bytes" not in words:
        model = write_script(settings, "endless", {"replies": [{"say": "a", "fault": "stall"}]})
    async with open_door(settings, limits=limits) as door, client_of(door) as client:
        token = door.admit(account(model))
        with pytest.raises(httpx2.RemoteProtocolError):
            await ask(client, token, "chat", request("chat", "Go on with it"), stream=True)
        fault = door.fault(token)
    assert isinstance(fault, AgentFailed if "bytes" in words else Transient)
    assert words in fault.message


@every_wire
async def test_an_answer_with_wrong_counts_is_an_answer_of_unknown_cost(home: Path, wire: Wire) -> None:
    records: list[CallRecord] = []

    async def on_call(record: CallRecord) -> None:
        records.append(record)

    with ModelServer(in_order(Reply(text="Hello", tokens_out=-5))) as server:
        async with counted(provider_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire], on_call=on_call))
            assert (
                await ask(client, token, wire, request(wire, "Go on with it"), stream=True)
            ).text == "Hello"
            (row,) = await rows_in(database)
    assert (row["state"], row["cost_usd"]) == ("settled", None)
    assert records[0].usage.cost_usd is None


@every_wire
async def test_a_malformed_frame_passes_and_is_not_counted(home: Path, wire: Wire) -> None:
    reply = Reply(text="Hello, and a few words more", breaks="bad_frame")
    with ModelServer(in_order(reply)) as server:
        async with counted(provider_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire]))
            path = PATHS[wire].replace(":generateContent", ":streamGenerateContent")
            answer = await client.post(
                path + ("?alt=sse" if wire == "generate" else ""),
                json=request(wire, "Go on with it", stream=True),
                headers=headers(wire, token),
            )
            (row,) = await rows_in(database)
    assert '{"choices": [{"delta"\n' in answer.text
    assert (row["state"], row["tokens_in"]) == ("settled", 100)


async def test_an_agent_that_hangs_up_ends_the_call_at_its_provider(home: Path) -> None:
    settings = settings_with(home, JOURNEYMAN_MAX_TOKENS_PER_ORDER="130000")
    model = write_script(settings, "slow", {"replies": [{"say": "a", "fault": "stall"}]})
    async with counted(settings) as (door, client, database):
        token = door.admit(account(model))
        body = request("chat", "Go on with it", stream=True)
        sending = client.stream("POST", PATHS["chat"], json=body, headers=headers("chat", token))
        async with sending as answer:
            assert await anext(answer.aiter_raw())
        # A second call waits for the first: its tokens at the very most do not fit beside it.
        quick = door.admit(account(write_script(settings, "quick", {"replies": [{"say": "b"}]})))
        await ask(client, quick, "chat", request("chat", "Go on with it"))
        assert (await rows_in(database))[0]["state"] == "failed"


def provider_at(server: ModelServer, home: Path) -> Settings:
    key = "sk-some-test-key"
    return settings_with(
        home,
        OPENAI_API_KEY=key,
        OPENAI_BASE_URL=f"{server.url}/v1",
        ANTHROPIC_API_KEY=key,
        ANTHROPIC_BASE_URL=server.url,
        GEMINI_API_KEY=key,
        GOOGLE_GEMINI_BASE_URL=server.url,
    )


async def test_a_key_that_the_provider_repeats_inside_a_stream_stays_outside(home: Path) -> None:
    with ModelServer(lambda _: Reply(raw=repeated)) as server:
        settings = provider_at(server, home)
        assert settings.anthropic_api_key is not None
        key = settings.anthropic_api_key.get_secret_value()
        error = f'{{"type": "error", "error": {{"type": "api_error", "message": "bad key {key}"}}}}'
        repeated = f"event: error\ndata: {error}\n\n"
        async with counted(settings) as (door, client, _):
            token = door.admit(account(MODELS["messages"]))
            received = b""
            sent = request("messages", "Go on with it") | {"stream": True}
            with contextlib.suppress(httpx2.RemoteProtocolError):
                async with client.stream(
                    "POST", PATHS["messages"], json=sent, headers=headers("messages", token)
                ) as response:
                    async for chunk in response.aiter_bytes():
                        received += chunk
            fault = door.fault(token)
    assert b"bad key [redacted]" in received
    assert isinstance(fault, Transient)
    assert "bad key [redacted]" in fault.message
