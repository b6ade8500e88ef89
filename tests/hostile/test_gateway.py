"""A liar at the gateway: requests that cost more than they say, providers that count too much, floods.

At the door itself, with a provider that stands in: what reached it, what was written down, and how much
memory it took are looked at from outside.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeyman.agents.acp import AcpAgent
from journeyman.agents.base import AgentEvent, Assignment
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.limits import OutputLimits
from journeyman.agents.roles import ROLES
from journeyman.database import Database
from journeyman.errors import AgentFailed, InvalidInput
from journeyman.events.types import AgentNotice, AgentText
from journeyman.gateway.door.door import Door
from journeyman.gateway.gateway import Gateway
from journeyman.gateway.wires.base import Wire
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.gateway.calls import settings_with, write_script
from tests.gateway.door.agents import PATHS, WIRES, account, ask, client_of, headers, request
from tests.gateway.ledgers import ledger_in, open_database, open_door, rows_in, store_order
from tests.sandboxes.specs import give_away
from tests.standins.model_server import ModelServer, Reply, in_order
from tests.standins.plain_sandbox import PlainSandbox

MODELS: dict[Wire, str] = {
    "chat": "openai/stand-in",
    "responses": "openai/stand-in",
    "messages": "anthropic/stand-in",
    "generate": "google/stand-in",
}
PRICE = '{"input": 10, "output": 10}'
PRICES = f'{{"openai/stand-in": {PRICE}, "anthropic/stand-in": {PRICE}, "google/stand-in": {PRICE}}}'
"""A cent for a thousand tokens, in or out."""


def settings_at(server: ModelServer, home: Path, **environment: str) -> Settings:
    named = {"JOURNEYMAN_MODEL_PRICES": PRICES, **environment}
    for provider, address in (("OPENAI", f"{server.url}/v1"), ("ANTHROPIC", server.url)):
        named |= {f"{provider}_API_KEY": "some-key", f"{provider}_BASE_URL": address}
    return settings_with(home, **named, GEMINI_API_KEY="some-key", GOOGLE_GEMINI_BASE_URL=server.url)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Door, httpx2.AsyncClient, Database]]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        door = await stack.enter_async_context(open_door(settings, ledger_in(database, settings)))
        yield door, await stack.enter_async_context(client_of(door)), database


def said(wire: Wire, part: dict[str, Any]) -> dict[str, Any]:
    """A request in which the user says this part of a message."""
    if wire == "generate":
        return {"contents": [{"role": "user", "parts": [part]}]}
    name = "input" if wire == "responses" else "messages"
    return {name: [{"role": "user", "content": [part]}]}


ELSEWHERE = "https://collector.example/secret"
REFUSED: list[tuple[Wire, str, dict[str, Any]]] = [
    ("chat", "n", {"n": 128}),
    ("chat", "max_tokens", {"max_tokens": 1, "max_completion_tokens": 100_000}),
    ("chat", "max_tokens", {"max_tokens": "many"}),
    ("chat", "store", {"store": True}),
    ("chat", "service_tier", {"service_tier": "priority"}),
    ("chat", "web_search_options", {"web_search_options": {}}),
    ("chat", "prediction", {"prediction": {"type": "content", "content": "x"}}),
    ("chat", "audio", {"modalities": ["text"], "audio": {"voice": "alloy"}}),
    ("chat", "best_of", {"best_of": 20}),
    ("chat", "image_url.url", said("chat", {"type": "image_url", "image_url": {"url": ELSEWHERE}})),
    ("chat", "file.file_id", said("chat", {"type": "file", "file": {"file_id": "file-1"}})),
    ("chat", "input_audio", said("chat", {"type": "input_audio", "input_audio": {"data": "aaaa"}})),
    ("responses", "previous_response_id", {"previous_response_id": "resp_1"}),
    ("responses", "conversation", {"conversation": {"id": "conv_1"}}),
    ("responses", "background", {"background": True}),
    ("responses", "prompt", {"prompt": {"id": "pmpt_1"}}),
    ("responses", "store", {"store": True}),
    ("responses", "service_tier", {"service_tier": "flex"}),
    ("responses", "max_output_tokens", {"max_output_tokens": -1}),
    ("responses", "item_reference", {"input": [{"type": "item_reference", "id": "rs_1"}]}),
    ("responses", "image_url", said("responses", {"type": "input_image", "image_url": ELSEWHERE})),
    ("responses", "file_url", said("responses", {"type": "input_file", "file_url": ELSEWHERE})),
    ("responses", "file_id", said("responses", {"type": "input_file", "file_id": "file-1"})),
    ("messages", "thinking.budget_tokens", {"max_tokens": 9, "thinking": {"budget_tokens": 90_000}}),
    ("messages", "container", {"container": "container_1"}),
    ("messages", "mcp_servers", {"mcp_servers": [{"type": "url", "url": ELSEWHERE, "name": "x"}]}),
    ("messages", "speed", {"speed": "fast"}),
    ("messages", "inference_geo", {"inference_geo": "us"}),
    ("messages", "context_management", {"context_management": {"edits": [{"type": "compact_20260112"}]}}),
    ("messages", "source", said("messages", {"type": "image", "source": {"type": "url", "url": ELSEWHERE}})),
    (
        "messages",
        "source",
        said("messages", {"type": "document", "source": {"type": "file", "file_id": "f"}}),
    ),
    ("messages", "container_upload", said("messages", {"type": "container_upload", "file_id": "f"})),
    ("generate", "cachedContent", {"cachedContent": "cachedContents/1"}),
    ("generate", "candidateCount", {"generationConfig": {"candidateCount": 8}}),
    ("generate", "generation_config", {"generation_config": {"max_output_tokens": 9}}),
    ("generate", "thinkingBudget", {"generationConfig": {"thinkingConfig": {"thinkingBudget": "all"}}}),
    ("generate", "responseModalities", {"generationConfig": {"responseModalities": ["AUDIO"]}}),
    ("generate", "fileData", said("generate", {"fileData": {"fileUri": ELSEWHERE}})),
    ("generate", "inlineData", said("generate", {"inlineData": {"mimeType": "video/mp4", "data": "aaaa"}})),
]


@pytest.mark.parametrize(("wire", "named", "asked"), REFUSED, ids=[f"{w}-{n}" for w, n, _ in REFUSED])
async def test_a_field_that_no_reservation_covers_is_refused_by_its_name(
    home: Path, wire: Wire, named: str, asked: dict[str, Any]
) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with opened(settings_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire]))
            body = {**request(wire, "Go"), **asked}
            refused = await client.post(PATHS[wire], json=body, headers=headers(wire, token))
            assert await rows_in(database) == []
            assert isinstance(door.fault(token), InvalidInput)
        assert server.requests == []
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert named in message
    assert "refused" in message


@pytest.mark.parametrize("wire", WIRES)
async def test_a_field_that_nobody_knows_is_refused_by_its_name(home: Path, wire: Wire) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with opened(settings_at(server, home)) as (door, client, _):
            token = door.admit(account(MODELS[wire]))
            body = {**request(wire, "Go"), "some_new_field": 1}
            refused = await client.post(PATHS[wire], json=body, headers=headers(wire, token))
    assert (refused.status_code, server.requests) == (400, [])
    assert "some_new_field" in refused.json()["error"]["message"]


IMAGES: dict[Wire, dict[str, Any]] = {
    "chat": {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
    "responses": {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
    "messages": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
    },
    "generate": {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
}


@pytest.mark.parametrize("wire", WIRES)
async def test_an_image_that_is_sent_itself_passes_and_is_reserved_for_by_its_pixels(
    home: Path, wire: Wire
) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with opened(settings_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire]))
            body = {**request(wire, "Go"), **said(wire, IMAGES[wire])}
            assert (await ask(client, token, wire, body, stream=True)).text == "Hello"
            (row,) = await rows_in(database)
    assert "QUJD" in str(server.requests[0].body)
    assert row["most_tokens"] > 10 * 20_000


@pytest.mark.parametrize("content", [b'{"temperature": NaN}', b"[" * 200_000, b'{"a":' * 100_000])
async def test_a_body_that_is_no_json_is_refused(home: Path, content: bytes) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        async with opened(settings_at(server, home)) as (door, client, _):
            token = door.admit(account(MODELS["chat"]))
            refused = await client.post(PATHS["chat"], content=content, headers=headers("chat", token))
    assert (refused.status_code, server.requests) == (400, [])


@pytest.mark.parametrize("wire", WIRES)
async def test_twenty_calls_at_once_of_a_provider_that_bills_ten_times_too_much_overspend_by_one_call(
    home: Path, wire: Wire
) -> None:
    limits: dict[Wire, dict[str, Any]] = {
        "chat": {"max_completion_tokens": 100},
        "responses": {"max_output_tokens": 100},
        "messages": {"max_tokens": 100},
        "generate": {"generationConfig": {"maxOutputTokens": 100}},
    }
    body = {**request(wire, "Go", stream=True), **limits[wire]}
    size = len(httpx2.Request("POST", "http://x", json=body).content)
    reply = Reply(text="Hello", tokens_in=10 * size, tokens_out=1000, tokens_cached=0)
    path = PATHS[wire].replace(":generateContent", ":streamGenerateContent?alt=sse")
    with ModelServer(lambda _: reply) as server:
        async with opened(settings_at(server, home)) as (door, client, database):
            order_id = await store_order(database, budget_usd=0.2)
            token = door.admit(account(MODELS[wire], order_id=order_id))
            posts = (client.post(path, json=body, headers=headers(wire, token)) for _ in range(20))
            answers = await asyncio.gather(*posts)
            costs = [row["cost_usd"] for row in await rows_in(database)]
    assert {answer.status_code for answer in answers} == {200, 402}
    assert 0.2 < sum(costs) <= 0.2 + max(costs)


ABSURD = [-1, 10**30, 10**18, float("nan"), float("inf"), "many", True, [1], {"a": 1}]


@pytest.mark.parametrize("count", ABSURD, ids=map(str, ABSURD))
@pytest.mark.parametrize("wire", WIRES)
async def test_absurd_counts_of_tokens_pass_and_are_not_written_down(
    home: Path, wire: Wire, count: Any
) -> None:
    with ModelServer(
        in_order(Reply(text="Hello", tokens_in=20, tokens_out=count, tokens_cached=0))
    ) as server:
        async with opened(settings_at(server, home)) as (door, client, database):
            token = door.admit(account(MODELS[wire]))
            body = request(wire, "Go", stream=True)
            assert (await ask(client, token, wire, body, stream=True)).text == "Hello"
            (row,) = await rows_in(database)
    assert (row["state"], row["cost_usd"]) == ("settled", None)
    assert 0 <= row["tokens_in"] + row["tokens_out"] <= 20


@dataclass
class Listener:
    """A store for the events of a turn."""

    events: list[AgentEvent] = field(default_factory=list)

    async def emit(self, *events: AgentEvent) -> None:
        self.events += events
        await asyncio.sleep(0)

    @property
    def words(self) -> str:
        return "".join(each.text for each in self.events if isinstance(each, AgentText))


def peak_megabytes(*, begin: bool = False) -> float:
    """The most memory that this process had since the last time it was asked to begin."""
    if begin:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1000


def assignment_of(model: str, limits: OutputLimits) -> Assignment:
    paying = account(model, order_id="wo-flooding")
    return Assignment(role=ROLES["build"], prompt="Do it.", model=model, account=paying, limits=limits)


@pytest.mark.parametrize(
    ("kind", "megabytes", "reason"),
    [
        ("line", 300, "a line of more than 1,000,000 bytes"),
        ("words", 60, "more than 2,000,000 bytes in one turn"),
        ("tools", 60, "more than 2,000,000 bytes in one turn"),
    ],
)
async def test_an_acp_agent_that_floods_is_ended_within_bounds(
    home: Path, tmp_path: Path, kind: str, megabytes: int, reason: str
) -> None:
    settings, tree, listener = settings_with(home), tmp_path / "tree", Listener()
    tree.mkdir()
    (tree / "agent.py").write_bytes((Path(__file__).parent / "flooding_agent.py").read_bytes())
    give_away(tree, "wo-flooding")
    command = ["python3", "agent.py", kind, str(megabytes)]
    sandboxes = LocalSandboxes(settings)
    async with open_door(settings) as door:
        agent = AcpAgent("flood", command, door, settings)
        sandbox = await sandboxes.setup(SandboxSpec(order_id="wo-flooding", tree=tree))
        try:
            before = peak_megabytes(begin=True)
            limits = OutputLimits(line_bytes=1_000_000, turn_bytes=2_000_000)
            model = write_script(settings, "any", {"replies": [{"say": "x"}]})
            with pytest.raises(AgentFailed, match=reason):
                async with asyncio.timeout(60):
                    await agent.work(assignment_of(model, limits), sandbox, listener.emit)
            grown = peak_megabytes() - before
        finally:
            await sandboxes.close()
    assert grown < 60
    assert sum(len(repr(each)) for each in listener.events) < 4_000_000
    if kind == "words":
        assert listener.words.startswith("word ")
        assert listener.words.endswith("[… cut off here …]")


async def test_a_model_that_floods_words_is_not_asked_again_and_its_beginning_is_kept(home: Path) -> None:
    settings, listener = settings_with(home), Listener()
    model = write_script(settings, "flood", {"replies": [{"say": "word " * 200_000, "repeat": 100}]})
    agent = BuiltinAgent(Gateway(settings), settings, retry_base_seconds=0.01)
    limits = OutputLimits(turn_bytes=100_000)
    with pytest.raises(AgentFailed, match="more than 100,000 bytes in one turn"):
        await agent.work(assignment_of(model, limits), PlainSandbox(home), listener.emit)
    assert listener.words.startswith("word ")
    assert listener.words.endswith("[… cut off here …]")
    assert len(listener.words) < 250_000
    assert not any(isinstance(each, AgentNotice) for each in listener.events)


async def test_what_earlier_turns_said_is_not_left_for_the_next(home: Path) -> None:
    settings, listener = settings_with(home), Listener()
    model = write_script(settings, "talk", {"replies": [{"say": "word " * 1000}]})
    agent = BuiltinAgent(Gateway(settings), settings, retry_base_seconds=0.01)
    limits = OutputLimits(order_bytes_left=-1)
    with pytest.raises(AgentFailed, match="than an order may store"):
        await agent.work(assignment_of(model, limits), PlainSandbox(home), listener.emit)
    assert len(listener.words) < 5000
