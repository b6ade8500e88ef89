"""Every provider, over a real connection to a stand-in that speaks its streaming format."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from journeyman.errors import (
    AgentFailed,
    InvalidInput,
    JourneymanError,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.gateway.gateway import Gateway, ModelCall
from tests.gateway.calls import ask, prompted, settings_with
from tests.standins.model_server import ModelServer, Reply, in_order

MODELS = ("openai/gpt-5.5", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash")
KEY = "sk-very-secret-key-of-a-test"
SHELL = ModelRequestParameters(
    function_tools=[
        ToolDefinition(
            name="shell",
            parameters_json_schema={"type": "object", "properties": {"command": {"type": "string"}}},
        )
    ]
)


def gateway_to(server: ModelServer, home: Path, **environment: str) -> Gateway:
    return Gateway(
        settings_with(
            home,
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=f"{server.url}/v1",
            ANTHROPIC_API_KEY=KEY,
            ANTHROPIC_BASE_URL=server.url,
            GEMINI_API_KEY=KEY,
            GOOGLE_GEMINI_BASE_URL=server.url,
            **environment,
        )
    )


async def refused(home: Path, model: str, reply: Reply, **environment: str) -> JourneymanError:
    with ModelServer(in_order(reply)) as server:
        gateway = gateway_to(server, home, **environment)
        with pytest.raises(JourneymanError) as caught:
            await ask(gateway, ModelCall(model=model, messages=prompted("Hello"), parameters=SHELL))
        await gateway.close()
        assert len(server.requests) == 1, "the provider's library tried again by itself"
    return caught.value


@pytest.mark.parametrize("model", MODELS)
async def test_text_streams_and_is_counted_and_priced(home: Path, model: str) -> None:
    with ModelServer(in_order(Reply(text="Hello, world"))) as server:
        gateway = gateway_to(server, home)
        said, answer = await ask(gateway, ModelCall(model=model, messages=prompted("Hello")))
        await gateway.close()
    assert len(said) > 1
    assert "".join(said) == "Hello, world"
    usage = answer.usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cache_read) == (100, 20, 10)
    assert usage.cost_usd is not None
    assert 0 < usage.cost_usd < 0.01


@pytest.mark.parametrize("model", MODELS)
async def test_parallel_tool_calls_arrive_in_order(home: Path, model: str) -> None:
    reply = Reply(text="Both.", tools=[("shell", {"command": "a"}), ("shell", {"command": "b"})])
    with ModelServer(in_order(reply)) as server:
        gateway = gateway_to(server, home)
        call = ModelCall(model=model, messages=prompted("Hello"), parameters=SHELL)
        _, answer = await ask(gateway, call)
        await gateway.close()
    calls = [part for part in answer.response.parts if isinstance(part, ToolCallPart)]
    assert [call.args_as_dict() for call in calls] == [{"command": "a"}, {"command": "b"}]


@pytest.mark.parametrize("model", MODELS)
async def test_the_key_goes_to_the_provider_and_the_tools_with_it(home: Path, model: str) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        gateway = gateway_to(server, home)
        await ask(gateway, ModelCall(model=model, messages=prompted("Hello"), parameters=SHELL))
        await gateway.close()
    assert KEY in str(server.requests[0].headers)
    assert "shell" in json.dumps(server.requests[0].body["tools"])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error": {"message": f"bad key {KEY}"}}, Unauthenticated),
        (403, {"error": {"message": "not for you"}}, NotAllowed),
        (404, {"error": {"message": "no such model"}}, InvalidInput),
        (400, {"error": {"message": "that makes no sense"}}, AgentFailed),
        (429, {"error": {"message": "slow down"}}, RateLimited),
        (500, {"error": {"message": "oops"}}, Transient),
        (529, {"error": {"message": "overloaded"}}, Transient),
    ],
)
async def test_a_refusal_is_told_as_the_error_it_is(
    home: Path, model: str, status: int, body: Any, expected: type[JourneymanError]
) -> None:
    error = await refused(home, model, Reply(status=status, body=body))
    assert type(error) is expected
    assert error.hint
    assert KEY not in error.message


@pytest.mark.parametrize(
    ("model", "status", "body"),
    [
        ("openai/gpt-5.5", 429, {"error": {"message": "x", "code": "insufficient_quota"}}),
        ("openai/gpt-5.5", 429, {"error": {"message": "You exceeded your current quota"}}),
        (
            "anthropic/claude-sonnet-5-5",
            400,
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "credit balance is too low"},
            },
        ),
    ],
)
async def test_an_exhausted_account_is_not_a_rate_limit(
    home: Path, model: str, status: int, body: Any
) -> None:
    assert isinstance(await refused(home, model, Reply(status=status, body=body)), QuotaExhausted)


@pytest.mark.parametrize("model", MODELS[:2])
async def test_the_wait_that_a_provider_asks_for_is_passed_on(home: Path, model: str) -> None:
    reply = Reply(status=429, body={"error": {"message": "slow down"}}, headers={"retry-after": "7"})
    assert (await refused(home, model, reply)).retry_after == 7


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("breaks", ["cut", "half_frame", "bad_frame"])
async def test_a_broken_stream_is_never_taken_for_an_answer(home: Path, model: str, breaks: Any) -> None:
    error = await refused(home, model, Reply(text="and then nothing", breaks=breaks))
    assert isinstance(error, Transient)


@pytest.mark.parametrize("model", MODELS)
async def test_a_silent_stream_is_given_up(home: Path, model: str) -> None:
    reply = Reply(text="and then nothing", breaks="stall")
    error = await refused(home, model, reply, JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS="0.3")
    assert isinstance(error, Transient)
    assert "silent" in error.message


async def test_an_unreachable_provider_is_a_fault_that_goes_away(home: Path) -> None:
    server = ModelServer(in_order(Reply(text="never asked")))
    with server:
        gateway = gateway_to(server, home)
    with pytest.raises(Transient):
        await ask(gateway, ModelCall(model=MODELS[0], messages=prompted("Hello")))
    await gateway.close()


async def test_a_conversation_too_long_for_the_model_says_so(home: Path) -> None:
    body = {"error": {"message": "maximum context length is 10", "code": "context_length_exceeded"}}
    error = await refused(home, MODELS[0], Reply(status=400, body=body))
    assert isinstance(error, AgentFailed)
    assert "no longer fits" in error.message
