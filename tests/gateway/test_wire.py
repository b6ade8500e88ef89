"""Every provider, over a real connection to a stand-in that speaks its streaming format."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from journeyman.errors import (
    AgentFailed,
    ContextOverflow,
    InvalidInput,
    JourneymanError,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.messages import ToolOffer, ToolResult, ToolResults
from tests.gateway.calls import ask, prompted, settings_with
from tests.standins.model_server import ModelServer, Reply, in_order

MODELS = ("openai/gpt-5.5", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash")
KEY = "sk-very-secret-key-of-a-test"
SHELL = [ToolOffer("shell", "Run it.", {"type": "object", "properties": {"command": {"type": "string"}}})]


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


async def refused(
    home: Path, model: str, reply: Reply, said: list[str] | None = None, **environment: str
) -> JourneymanError:
    with ModelServer(in_order(reply)) as server:
        gateway = gateway_to(server, home, **environment)
        with pytest.raises(JourneymanError) as caught:
            await ask(gateway, ModelCall(model=model, messages=prompted("Hello"), tools=SHELL), said)
        await gateway.close()
        assert len(server.requests) == 1, "the provider's library tried again by itself"
    return caught.value


@pytest.mark.parametrize("model", MODELS)
async def test_an_answer_is_read_counted_and_priced(home: Path, model: str) -> None:
    with ModelServer(in_order(Reply(text="Hello, world"))) as server:
        gateway = gateway_to(server, home)
        said, answer = await ask(gateway, ModelCall(model=model, messages=prompted("Hello")))
        await gateway.close()
    assert "".join(said) == answer.message.text == "Hello, world"
    usage = answer.usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cache_read) == (100, 20, 10)
    assert usage.cost_usd is not None
    assert 0 < usage.cost_usd < 0.01


@pytest.mark.parametrize("model", MODELS)
async def test_parallel_tool_calls_arrive_in_order(home: Path, model: str) -> None:
    reply = Reply(text="Both.", tools=[("shell", {"command": "a"}), ("shell", {"command": "b"})])
    with ModelServer(in_order(reply)) as server:
        gateway = gateway_to(server, home)
        call = ModelCall(model=model, messages=prompted("Hello"), tools=SHELL)
        _, answer = await ask(gateway, call)
        await gateway.close()
    calls = [json.loads(call.arguments) for call in answer.message.calls]
    assert calls == [{"command": "a"}, {"command": "b"}]


@pytest.mark.parametrize("model", MODELS)
async def test_a_conversation_goes_on_over_every_wire(home: Path, model: str) -> None:
    replies = in_order(Reply(text="Look.", tools=[("shell", {"command": "a"})]), Reply(text="Done."))
    with ModelServer(replies) as server:
        gateway = gateway_to(server, home)
        history = prompted("Hello")
        _, answer = await ask(gateway, ModelCall(model=model, messages=history, tools=SHELL))
        (asked,) = answer.message.calls
        history += [answer.message, ToolResults((ToolResult(asked.call_id, "shell", "what came out"),))]
        _, answer = await ask(gateway, ModelCall(model=model, messages=history, tools=SHELL))
        await gateway.close()
    assert (answer.message.text, answer.message.finish) == ("Done.", "stop")
    sent = json.dumps(server.requests[1].body)
    assert all(word in sent for word in ("Hello", "Look.", '"command', "what came out"))


async def test_what_a_provider_signed_goes_back_to_it_unchanged(home: Path) -> None:
    first = Reply(thought="Hm.", text="Look.", tools=[("shell", '{"command": ')])
    with ModelServer(in_order(first, Reply(text="Done."))) as server:
        gateway = gateway_to(server, home)
        history = prompted("Hello")
        _, answer = await ask(gateway, ModelCall(model=MODELS[1], messages=history, tools=SHELL))
        (asked,) = answer.message.calls
        mended = replace(answer.message, calls=(replace(asked, arguments='{"mended": true}'),))
        history += [mended, ToolResults((ToolResult(asked.call_id, "shell", "no"),))]
        await ask(gateway, ModelCall(model=MODELS[1], messages=history, tools=SHELL))
        await gateway.close()
    thought, text, call = server.requests[1].body["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
    assert text["text"] == "Look."
    assert call["input"] == {"mended": True}


async def test_a_conversation_begun_with_one_provider_goes_on_with_another(home: Path) -> None:
    called = Reply(text="Look.", tools=[("shell", {"command": "a"})])
    with ModelServer(in_order(called)) as server:
        gateway = gateway_to(server, home)
        history = prompted("Hello")
        for model in (*MODELS, *MODELS):
            _, answer = await ask(gateway, ModelCall(model=model, messages=history, tools=SHELL))
            results = (ToolResult(call.call_id, call.tool, "seen") for call in answer.message.calls)
            history += [answer.message, ToolResults(tuple(results))]
        await gateway.close()
    assert [request.answers for request in server.requests] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("model", MODELS)
async def test_the_key_goes_to_the_provider_and_the_tools_with_it(home: Path, model: str) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        gateway = gateway_to(server, home)
        await ask(gateway, ModelCall(model=model, messages=prompted("Hello"), tools=SHELL))
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
async def test_a_refusal_is_reported_as_the_error_it_is(
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
async def test_text_is_passed_on_as_it_comes_and_a_silent_stream_is_given_up(home: Path, model: str) -> None:
    reply = Reply(text="and then nothing", breaks="stall")
    said: list[str] = []
    error = await refused(home, model, reply, said, JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS="0.3")
    assert isinstance(error, Transient)
    assert "silent" in error.message
    assert said[0].startswith("partial")


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
    assert isinstance(error, ContextOverflow)
    assert "no longer fits" in error.message
