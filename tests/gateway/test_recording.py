"""Calls that are kept, and played again."""

import json
from pathlib import Path
from typing import Any

import pytest

from journeyman.errors import InvalidInput
from journeyman.gateway.door.assemble import assemble
from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.messages import AssistantMessage, ToolResult, ToolResults, UserMessage
from journeyman.gateway.wires.base import Wire
from tests.gateway.calls import ask, settings_with, write_script
from tests.gateway.door.agents import WIRES, account, answered, client_of, request
from tests.gateway.door.agents import ask as ask_door
from tests.gateway.ledgers import open_door
from tests.standins.model_server import _FRAMES, Reply

ORDER = "wo-record00"
KEY = "sk-very-secret-key-of-a-test"
SHELL = {"name": "shell", "arguments": {"command": "echo '{{ '{{' }} braces }}'"}}
REPLIES: list[dict[str, Any]] = [{"say": "I look.", "tools": [SHELL, SHELL]}, {"say": "Done."}]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_an_agent_was_answered_is_answered_again_from_the_recording(
    home: Path, wire: Wire, stream: bool
) -> None:
    settings = settings_with(home, JOURNEYMAN_KEEP_MODEL_CALLS="true", OPENAI_API_KEY=KEY)
    model = write_script(settings, "work", {"replies": REPLIES})
    first = request(wire, f"Do it, {KEY}")
    async with open_door(settings) as door, client_of(door) as client:
        heard = []
        for played in (model, f"scripted/{ORDER}"):
            token = door.admit(account(played, order_id=ORDER))
            one = await ask_door(client, token, wire, first, stream=stream)
            two = await ask_door(client, token, wire, answered(wire, first, one, "out"), stream=stream)
            heard.append((one, two))
            first = json.loads(json.dumps(first).replace(KEY, "[redacted]"))
    assert heard[0] == heard[1]
    assert len(heard[0][0].calls) == 2
    kept = (home / "model-calls" / f"{ORDER}.jsonl").read_text()
    assert KEY not in kept
    assert len(kept.splitlines()) == 4


async def test_the_built_in_agents_calls_are_kept_too(home: Path) -> None:
    settings = settings_with(home, JOURNEYMAN_KEEP_MODEL_CALLS="true")
    gateway = Gateway(settings)
    paying = account(write_script(settings, "work", {"replies": REPLIES}), order_id=ORDER)
    answers = []
    for model in (paying.model, f"scripted/{ORDER}"):
        messages: list[Any] = [UserMessage("Go")]
        for _ in REPLIES:
            call = ModelCall(model=model, messages=messages, role="build", account=paying)
            answer = (await ask(gateway, call))[1].message
            results = tuple(ToolResult(each.call_id, each.tool, "out") for each in answer.calls)
            messages = [*messages, answer, ToolResults(results)]
            answers.append((answer.text, [(each.tool, each.arguments) for each in answer.calls]))
    assert answers[:2] == answers[2:]


async def test_nothing_is_kept_unless_it_was_asked_for(home: Path) -> None:
    settings = settings_with(home)
    model = write_script(settings, "work", {"replies": REPLIES})
    async with open_door(settings) as door, client_of(door) as client:
        await ask_door(client, door.admit(account(model)), "chat", request("chat", "Go"))
    assert not (home / "model-calls").exists()


def test_a_broken_recording_says_where_it_lies(home: Path) -> None:
    (home / "model-calls").mkdir()
    (home / "model-calls" / f"{ORDER}.jsonl").write_text('{"role": "build"}\n')
    with pytest.raises(InvalidInput, match=f"{ORDER}.jsonl"):
        Gateway(settings_with(home)).check_model(f"scripted/{ORDER}")


@pytest.mark.parametrize(
    ("wire", "standin"),
    [("chat", "openai"), ("responses", "responses"), ("messages", "anthropic"), ("generate", "google")],
)
def test_a_providers_stream_is_put_together_again(wire: Wire, standin: Any) -> None:
    tools = [("Bash", {"command": "a"}), ("Bash", {"command": "b"})]
    stream = "".join(_FRAMES[standin](Reply(text="Hello, world", tools=tools))).encode()
    message = assemble(wire, stream, is_stream=True)
    assert message.text == "Hello, world"
    assert [(call.tool, json.loads(call.arguments)) for call in message.calls] == tools
    assert assemble(wire, b"data: {\n\nnonsense", is_stream=True) == AssistantMessage("", ())
