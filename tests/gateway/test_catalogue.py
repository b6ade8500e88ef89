"""Models as their providers list them."""

from pathlib import Path
from typing import Any

import pytest

from journeyman.gateway.gateway import Gateway
from journeyman.gateway.providers import OFFERED
from tests.gateway.calls import settings_with
from tests.standins.model_server import ModelServer, Reply, Request

KEY = "sk-very-secret-key-of-a-test"
LISTS: dict[str, Any] = {
    "openai": {"data": [{"id": "gpt-9"}, {"id": "gpt-5.5"}, {"id": "text-embedding-3"}]},
    "anthropic": {"data": [{"id": "claude-next"}]},
    "google": {
        "models": [
            {"name": "models/gemini-next", "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/other", "supportedGenerationMethods": ["predict"]},
        ]
    },
}


def listing(request: Request) -> Reply:
    return Reply(body=LISTS[request.wire])


def gateway_to(server: ModelServer, home: Path) -> Gateway:
    return Gateway(
        settings_with(
            home,
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=f"{server.url}/v1",
            ANTHROPIC_API_KEY=KEY,
            ANTHROPIC_BASE_URL=server.url,
            GEMINI_API_KEY=KEY,
            GOOGLE_GEMINI_BASE_URL=server.url,
        )
    )


async def test_every_provider_with_a_key_is_asked_once_for_what_can_be_talked_to(home: Path) -> None:
    with ModelServer(listing) as server:
        gateway = gateway_to(server, home)
        for _ in range(2):
            models, troubles = await gateway.listed_models()
        await gateway.close()
    assert troubles == []
    found = {model.name: model for model in models if model.provider != "scripted"}
    assert set(found) == {"openai/gpt-9", "openai/gpt-5.5", "anthropic/claude-next", "google/gemini-next"}
    assert found["openai/gpt-5.5"].context_window
    assert found["openai/gpt-5.5"].output_usd_per_million
    assert found["openai/gpt-9"].input_usd_per_million is None
    assert all(model.ready for model in models)
    assert sorted(request.path for request in server.requests) == [
        "/v1/models",
        "/v1/models?limit=1000",
        "/v1beta/models?pageSize=1000",
    ]
    assert all(KEY in str(request.headers) for request in server.requests)


@pytest.mark.parametrize(
    "reply",
    [Reply(status=500, body={"error": {"message": f"no {KEY}"}}), Reply(body={"odd": 1}), Reply(body=[])],
)
async def test_a_provider_that_cannot_be_asked_is_represented_and_named(home: Path, reply: Reply) -> None:
    with ModelServer(lambda request: reply) as server:
        gateway = gateway_to(server, home)
        models, troubles = await gateway.listed_models()
        await gateway.close()
    names = {model.name for model in models}
    assert {f"{provider}/{name}" for provider, some in OFFERED.items() for name in some} <= names
    assert len(troubles) == 3
    assert KEY not in str(troubles)


async def test_without_a_key_nobody_is_asked(home: Path) -> None:
    models, troubles = await Gateway(settings_with(home)).listed_models()
    assert troubles == []
    assert not any(model.ready for model in models if model.provider != "scripted")
