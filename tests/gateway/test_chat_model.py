"""What goes over the wire to a server that speaks OpenAI's chat completions."""

import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolOffer,
    ToolResult,
    ToolResults,
    UserMessage,
)
from tests.gateway.calls import ask, settings_with
from tests.standins.model_server import ModelServer, Reply, in_order

MODEL = "openai/gpt-5.5"
HISTORY: list[Message] = [
    UserMessage("Gö"),
    AssistantMessage("", (ToolCall("a", "shell", "{}"), ToolCall("b", "shell", "{}"))),
    ToolResults((ToolResult("a", "shell", "one"), ToolResult("b", "shell", "two"))),
    AssistantMessage("Done."),
]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        yield server


@pytest.fixture
async def gateway(server: ModelServer, home: Path) -> AsyncIterator[Gateway]:
    gateway = Gateway(settings_with(home, OPENAI_API_KEY="sk-some-key", OPENAI_BASE_URL=f"{server.url}/v1/"))
    yield gateway
    await gateway.close()


async def sent(gateway: Gateway, server: ModelServer, messages: list[Message], **call: Any) -> dict[str, Any]:
    await ask(gateway, ModelCall(model=MODEL, messages=messages, **call))
    return server.requests[-1].body


async def test_every_message_is_written_as_the_wire_wants_it(gateway: Gateway, server: ModelServer) -> None:
    offer = ToolOffer("shell", "Run it.", {"type": "object"})
    body = await sent(gateway, server, HISTORY, instructions="Be good.", tools=[offer])
    function = {"name": "shell", "arguments": "{}"}
    assert body == {
        "model": "gpt-5.5",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "shell", "description": "Run it.", "parameters": {"type": "object"}},
            }
        ],
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": "Gö"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": function},
                    {"id": "b", "type": "function", "function": function},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": "two"},
            {"role": "assistant", "content": "Done."},
        ],
    }


async def test_a_conversation_is_sent_as_it_stands_however_it_changes(
    gateway: Gateway, server: ModelServer
) -> None:
    """What was written before is used again, and must never be used for something else."""
    first = UserMessage("Go")
    letters = {letter: UserMessage(letter) for letter in "abcdX"}
    said: list[list[str]] = []
    for later in ("", "a", "ab", "abcd", "abXd", "X", ""):
        history: list[Message] = [first, *map(letters.__getitem__, later)]
        body = await sent(gateway, server, history)
        said.append([message["content"] for message in body["messages"]])
    assert said == [["Go", *later] for later in ("", "a", "ab", "abcd", "abXd", "X", "")]


async def test_conversations_that_begin_alike_are_kept_apart(gateway: Gateway, server: ModelServer) -> None:
    one: list[Message] = [UserMessage("Go")]
    other: list[Message] = [UserMessage("Go")]
    for letter in "ab":
        one.append(UserMessage(letter))
        other.append(UserMessage(letter.upper()))
        for history in (one, other):
            body = await sent(gateway, server, history)
            assert [message["content"] for message in body["messages"]] == [
                message.text for message in history if isinstance(message, UserMessage)
            ]


async def test_a_conversation_that_is_over_is_forgotten(gateway: Gateway, server: ModelServer) -> None:
    later = UserMessage("b")
    await ask(gateway, ModelCall(model=MODEL, messages=[UserMessage("a"), later]))
    watched = ref(later)
    del later
    gc.collect()
    assert watched() is None


async def test_one_connection_serves_call_after_call(gateway: Gateway, server: ModelServer) -> None:
    for _ in range(3):
        await sent(gateway, server, [UserMessage("Go")])
    assert len({request.client_port for request in server.requests}) == 1
