import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from journeyman.errors import AgentFailed, InvalidInput, JourneymanError, RateLimited, Transient
from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.messages import AssistantMessage, Message, ToolResult, ToolResults
from journeyman.gateway.scripts import load_script
from journeyman.settings import Settings
from tests.gateway.calls import ask, prompted, settings_with, write_script


@pytest.fixture
def settings(home: Path) -> Settings:
    return settings_with(home, JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS="0.5")


async def answer_to(
    settings: Settings, model: str, messages: list[Message], role: str = "build", attempt: int = 1
) -> AssistantMessage:
    call = ModelCall(model=model, messages=messages, role=role, attempt=attempt)
    _, answer = await ask(Gateway(settings), call)
    return answer.message


async def test_replies_come_in_order_and_a_new_gateway_goes_on_where_the_old_one_was(
    settings: Settings,
) -> None:
    model = write_script(settings, "three", {"replies": [{"say": "one"}, {"say": "two"}, {"say": "three"}]})
    history, said = prompted("Go"), []
    for _ in range(3):
        response = await answer_to(settings, model, history)
        said.append(response.text)
        history += [response, *prompted("and then?")]
    assert said == ["one", "two", "three"]


async def test_one_script_serves_many_conversations_at_once(settings: Settings) -> None:
    reply = {"say": "{{ prompt }}", "delay_seconds": 0.01}
    model = write_script(settings, "echo", {"replies": [reply]})
    gateway = Gateway(settings)
    calls = [ModelCall(model=model, messages=prompted(f"order {n}")) for n in range(50)]
    answers = await asyncio.gather(*(ask(gateway, call) for call in calls))
    assert [answer.message.text for _, answer in answers] == [f"order {n}" for n in range(50)]


async def test_the_first_turn_that_fits_role_and_prompt_is_played(settings: Settings) -> None:
    model = write_script(
        settings,
        "choice",
        {"when": {"role": "plan"}, "replies": [{"say": "planning"}]},
        {"when": {"contains": "(?i)subtask [12]"}, "replies": [{"say": "a subtask"}]},
        {"replies": [{"say": "anything"}]},
    )
    said = [
        (await answer_to(settings, model, prompted("SUBTASK 2"), role)).text for role in ("plan", "build")
    ]
    assert said == ["planning", "a subtask"]
    assert (await answer_to(settings, model, prompted("Subtask 3"))).text == "anything"


async def test_arguments_are_filled_in_from_prompt_and_last_output(settings: Settings) -> None:
    tools = [{"name": "shell", "arguments": {"command": "echo {{ prompt }} {{ last_output }}", "n": [1]}}]
    model = write_script(settings, "fill", {"replies": [{"say": "first"}, {"tools": tools}]})
    history: list[Message] = [
        *prompted("task"),
        await answer_to(settings, model, prompted("task")),
        ToolResults((ToolResult("call-1-1", "shell", "seen"),)),
    ]
    (asked,) = (await answer_to(settings, model, history)).calls
    assert json.loads(asked.arguments) == {"command": "echo task seen", "n": [1]}
    assert asked.call_id == "call-2-1"


async def test_what_is_delivered_is_a_call_of_deliver(settings: Settings) -> None:
    model = write_script(settings, "deliver", {"replies": [{"say": "Here.", "deliver": {"answer": 42}}]})
    response = await answer_to(settings, model, prompted("Go"))
    assert [(call.tool, json.loads(call.arguments)) for call in response.calls] == [
        ("deliver", {"answer": 42})
    ]


async def test_a_scripted_call_counts_tokens_and_costs_nothing(settings: Settings) -> None:
    model = write_script(settings, "free", {"replies": [{"say": "some words of an answer"}]})
    call = ModelCall(model=model, messages=prompted("x" * 360))
    said, answer = await ask(Gateway(settings), call)
    assert said == ["some", " words", " of", " an", " answer"]
    assert (answer.usage.tokens_in, answer.usage.cost_usd) == (100, 0.0)
    assert answer.usage.tokens_out > 0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [("http_429", RateLimited), ("http_500", Transient), ("cut_stream", Transient), ("stall", Transient)],
)
async def test_a_breaking_fault_is_met_by_each_attempt_until_it_is_over(
    settings: Settings, fault: str, expected: type[JourneymanError]
) -> None:
    replies = [{"say": "half an answer", "fault": fault, "repeat": 2}, {"say": "whole"}]
    model = write_script(settings, "breaks", {"replies": replies})
    for attempt in (1, 2):
        with pytest.raises(JourneymanError) as caught:
            await answer_to(settings, model, prompted("Go"), attempt=attempt)
        assert type(caught.value) is expected
    assert (await answer_to(settings, model, prompted("Go"), attempt=3)).text == "whole"


async def test_a_cut_stream_says_something_first(settings: Settings) -> None:
    model = write_script(settings, "cut", {"replies": [{"say": "one two three four", "fault": "cut_stream"}]})
    said: list[str] = []
    with pytest.raises(Transient):
        await ask(Gateway(settings), ModelCall(model=model, messages=prompted("Go")), said)
    assert said == ["one", " two"]


async def test_a_refusal_and_an_empty_answer_are_answers(settings: Settings) -> None:
    model = write_script(
        settings, "poor", {"replies": [{"fault": "empty"}, {"say": "No.", "fault": "refusal"}]}
    )
    empty = await answer_to(settings, model, prompted("Go"))
    assert (empty.text, empty.calls, empty.finish) == ("", (), "stop")
    refusal = await answer_to(settings, model, [*prompted("Go"), empty])
    assert refusal.finish == "refusal"


@pytest.mark.parametrize(
    ("when", "asked", "message"),
    [({"role": "plan"}, 0, "no turn for role 'build'"), ({}, 1, "only 1 replies")],
)
async def test_a_script_that_does_not_know_on_says_so(
    settings: Settings, when: dict[str, Any], asked: int, message: str
) -> None:
    model = write_script(settings, "short", {"when": when, "replies": [{"say": "only one"}]})
    history = [*prompted("Go"), *[AssistantMessage("")] * asked]
    with pytest.raises(AgentFailed, match=message):
        await answer_to(settings, model, history)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("turns: [", "line 1"),
        ("turns: []", "turns"),
        ("turns:\n- replies:\n  - sayy: x\n", "turns.0.replies.0.sayy"),
        ("turns:\n- replies:\n  - {}\n", "turns.0.replies.0"),
        ("turns:\n- when: {contains: '('}\n  replies: [{say: x}]\n", "turns.0.when.contains"),
        ("turns:\n- replies: [{fault: fire}]\n", "turns.0.replies.0.fault"),
    ],
)
def test_a_broken_script_is_refused_with_its_place(settings: Settings, content: str, place: str) -> None:
    assert settings.scripts is not None
    (settings.scripts / "broken.yaml").write_text(content)
    with pytest.raises(InvalidInput) as caught:
        Gateway(settings).check_model("scripted/broken")
    assert "broken.yaml" in caught.value.message
    assert place in caught.value.message


async def test_a_template_that_cannot_be_filled_in_says_so(settings: Settings) -> None:
    model = write_script(settings, "template", {"replies": [{"say": "{{ prompt"}]})
    with pytest.raises(AgentFailed, match="template"):
        await answer_to(settings, model, prompted("Go"))


def test_the_operators_scripts_come_before_the_bundled_and_changes_are_seen(settings: Settings) -> None:
    write_script(settings, "demo", {"replies": [{"say": "mine"}]})
    assert load_script("demo", settings.scripts).turns[0].replies[0].say == "mine"
    write_script(settings, "demo", {"replies": [{"say": "changed"}]})
    assert load_script("demo", settings.scripts).turns[0].replies[0].say == "changed"
    assert len(load_script("demo", None).turns) > 1
