import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from journeyman.agents.base import AgentEvent
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.retries import model_retry_delay
from journeyman.errors import (
    AgentFailed,
    BudgetExceeded,
    JourneymanError,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.events.types import (
    AgentNotice,
    AgentText,
    ModelCallCompleted,
    ToolCallCompleted,
    ToolCallStarted,
)
from journeyman.gateway.gateway import Gateway
from tests.agents.turns import STEP, Workplace, call, calls, says
from tests.gateway.door.agents import account
from tests.gateway.ledgers import ledger_in, open_database, store_order
from tests.standins.model_server import ModelServer, Reply, in_order
from tests.standins.plain_sandbox import PlainSandbox


class Verdict(BaseModel):
    good: bool
    why: str


async def test_a_turn_tells_everything_in_the_order_in_which_it_happens(place: Workplace) -> None:
    reply = {"say": "I make a file.", **calls("shell", command="echo hi > a.txt")}
    outcome = await place.play(reply, says("It is made."))
    assert [type(event) for event in place.events] == [
        AgentText,
        ModelCallCompleted,
        ToolCallStarted,
        ToolCallCompleted,
        AgentText,
        ModelCallCompleted,
    ]
    assert (outcome.stop_reason, outcome.text) == ("finished", "It is made.")
    assert (place.tree / "a.txt").read_text() == "hi\n"
    assert outcome.usage.cost_usd == 0.0
    assert outcome.usage.tokens_out == sum(call.tokens_out for call in place.of(ModelCallCompleted)) > 0


async def test_text_is_buffered_and_nothing_of_it_is_lost(place: Workplace) -> None:
    text = " ".join(str(number) for number in range(2000))
    await place.play(says(text))
    said = place.of(AgentText)
    assert "".join(piece.text for piece in said) == text
    assert len(said) < 20


async def test_text_is_emitted_while_the_model_is_silent(place: Workplace) -> None:
    """The model never continues after its first words, and they must be emitted all the same."""
    emitted = asyncio.Event()

    async def emit(*events: AgentEvent) -> None:
        if AgentText(step=STEP, text="first words") in events:
            emitted.set()

    place.emit = emit  # type: ignore[method-assign]
    working = asyncio.create_task(place.play({"say": "first words", "fault": "stall"}))
    async with asyncio.timeout(30):
        await emitted.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


async def test_a_tool_starts_after_it_was_announced(place: Workplace) -> None:
    async def emit(*events: AgentEvent) -> None:
        place.events += events
        for started in (each for each in events if isinstance(each, ToolCallStarted)):
            (place.tree / started.arguments["command"].split()[-1]).touch()

    place.emit = emit  # type: ignore[method-assign]
    both = {"tools": [call("shell", command="test -e one"), call("shell", command="test -e two")]}
    await place.play(both, calls("shell", command="test -e three"), says("Done."))
    assert [finished.exit_code for finished in place.of(ToolCallCompleted)] == [0, 0, 0]


async def test_the_end_of_a_tool_call_is_emitted_while_the_model_is_silent(place: Workplace) -> None:
    emitted = asyncio.Event()

    async def emit(*events: AgentEvent) -> None:
        if any(isinstance(event, ToolCallCompleted) for event in events):
            emitted.set()

    place.emit = emit  # type: ignore[method-assign]
    working = asyncio.create_task(place.play(calls("shell", command="true"), {"fault": "stall"}))
    async with asyncio.timeout(30):
        await emitted.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


async def test_events_of_one_moment_are_emitted_together(place: Workplace) -> None:
    """Every emit is a transaction; a model call and the tool call that it asks for need only one."""
    batches: list[list[type]] = []

    async def emit(*events: AgentEvent) -> None:
        batches.append([type(event) for event in events])

    place.emit = emit  # type: ignore[method-assign]
    await place.play({"say": "Look.", **calls("shell", command="true")}, says("Done."))
    assert batches[0] == [AgentText, ModelCallCompleted, ToolCallStarted]


async def test_every_event_is_emitted_when_a_turn_breaks_off(place: Workplace) -> None:
    with pytest.raises(Transient):
        await place.play(calls("shell", command="true"), {"say": "half", "fault": "http_500", "repeat": 3})
    assert isinstance(place.events[-1], AgentNotice)
    assert len(place.of(ToolCallCompleted)) == 1


@pytest.mark.parametrize("fault", ["http_429", "http_500", "cut_stream"])
async def test_a_fault_that_goes_away_is_told_and_tried_again(place: Workplace, fault: str) -> None:
    outcome = await place.play({"say": "half of it", "fault": fault, "repeat": 2}, says("whole"))
    assert (outcome.stop_reason, outcome.text) == ("finished", "whole")
    first, second = place.of(AgentNotice)
    assert "attempt 2 of 3" in first.text
    assert "attempt 3 of 3" in second.text
    assert all(f"in {one.wait_seconds:.1f} s" in one.text for one in (first, second))


async def test_a_silent_model_is_given_up_and_asked_again(home: Path) -> None:
    place = Workplace(home, {"JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS": "0.5"})
    outcome = await place.play({"fault": "stall"}, says("awake"))
    assert outcome.text == "awake"
    assert "silent" in place.of(AgentNotice)[0].text


@pytest.mark.parametrize(("fault", "error"), [("http_429", RateLimited), ("http_500", Transient)])
async def test_after_three_attempts_the_fault_is_the_answer(
    place: Workplace, fault: str, error: type[JourneymanError]
) -> None:
    with pytest.raises(error):
        await place.play({"fault": fault, "repeat": 3}, says("never said"))
    assert len(place.of(AgentNotice)) == 2


@pytest.mark.parametrize(
    ("error", "attempt", "expected"),
    [
        (Transient("x"), 1, 1.0),
        (Transient("x"), 2, 2.0),
        (Transient("x"), 3, None),
        (RateLimited("x", retry_after=7), 1, 7),
        (RateLimited("x", retry_after=0), 2, 0),
        (RateLimited("x", retry_after=61), 1, None),
        (Unauthenticated("x"), 1, None),
        (AgentFailed("x"), 1, None),
    ],
)
def test_only_short_waits_for_faults_that_go_away_are_taken(
    error: JourneymanError, attempt: int, expected: float | None
) -> None:
    assert model_retry_delay(error, attempt, base_seconds=1.0, jitter=0.0) == expected


def test_jitter_spreads_the_retries_of_many_orders() -> None:
    waits = [model_retry_delay(Transient("x"), 1, base_seconds=1.0, jitter=c) for c in (0.0, 0.5, 1.0)]
    assert waits == [1.0, 1.25, 1.5]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"fault": "malformed_tool_call"}, "not valid JSON"),
        ({"fault": "unknown_tool"}, "there is no tool 'no_such_tool'"),
        (calls("shell", command=5), "command: Input should be a valid string"),
        (calls("shell"), "command: Field required"),
        (calls("shell", command="ls", sudo=True), "sudo: Extra inputs are not permitted"),
        (calls("deliver", good=True), "there is no tool 'deliver'"),
    ],
)
async def test_a_wrong_call_is_answered_and_the_turn_goes_on(
    place: Workplace, reply: dict[str, Any], said: str
) -> None:
    outcome = await place.play(reply, says("Sorry."))
    (finished,) = place.of(ToolCallCompleted)
    assert not finished.ok
    assert said in finished.output
    assert outcome.text == "Sorry."


async def test_broken_arguments_go_back_to_the_provider_as_valid_json(home: Path) -> None:
    replies = in_order(Reply(tools=[("shell", '{"command": ')]), Reply(text="Sorry."))
    with ModelServer(replies) as server:
        place = Workplace(home, {"ANTHROPIC_API_KEY": "sk-some-test-key", "ANTHROPIC_BASE_URL": server.url})
        outcome = await place.work("anthropic/claude-sonnet-5-5")
    assert outcome.text == "Sorry."
    sent_back = server.requests[1].body["messages"][1]["content"][0]
    assert sent_back["input"] == {"malformed_arguments": '{"command": '}


async def test_a_refusal_ends_the_turn(place: Workplace) -> None:
    outcome = await place.play({"say": "I will not.", "fault": "refusal"})
    assert (outcome.stop_reason, outcome.text) == ("refused", "I will not.")


async def test_an_empty_answer_is_reminded_of_once(place: Workplace) -> None:
    assert (await place.play({"fault": "empty"}, says("Here."))).text == "Here."
    assert (await place.play({"fault": "empty", "repeat": 2})).stop_reason == "no_answer"


async def test_an_answer_cut_at_the_output_limit_is_gone_on_with(home: Path) -> None:
    replies = in_order(Reply(text="Half", finish="length"), Reply(text="Whole."))
    with ModelServer(replies) as server:
        place = Workplace(home, {"OPENAI_API_KEY": "sk-some-test-key", "OPENAI_BASE_URL": f"{server.url}/v1"})
        outcome = await place.work("openai/gpt-5.5")
    assert outcome.text == "Whole."
    assert "cut off" in server.requests[1].body["messages"][-1]["content"]


async def test_a_deliverable_is_handed_back_as_a_value(place: Workplace) -> None:
    outcome = await place.play({"deliver": {"good": True, "why": "tests"}}, deliverable=Verdict)
    assert outcome.deliverable == Verdict(good=True, why="tests")


async def test_an_invalid_deliverable_is_answered_with_what_is_wrong(place: Workplace) -> None:
    outcome = await place.play(
        {"deliver": {"good": "perhaps"}}, {"deliver": {"good": False, "why": "x"}}, deliverable=Verdict
    )
    assert outcome.deliverable == Verdict(good=False, why="x")
    (noticed,) = place.of(AgentNotice)
    assert "why: Field required" in noticed.text
    assert place.of(ToolCallStarted) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"good": true, "why": "{braces}"}',
        'Here it is:\n```json\n{"good": true, "why": "{braces}"}\n```\nThat is all {really}.',
        'I think {"good": true, "why": "{braces}"} is right',
    ],
)
async def test_a_deliverable_that_was_said_instead_of_called_is_read(place: Workplace, text: str) -> None:
    outcome = await place.play(says("{% raw %}" + text + "{% endraw %}"), deliverable=Verdict)
    assert outcome.deliverable == Verdict(good=True, why="{braces}")


async def test_a_missing_deliverable_is_reminded_of_once(place: Workplace) -> None:
    late = await place.play(says("It is fine."), {"deliver": {"good": True, "why": "x"}}, deliverable=Verdict)
    assert late.deliverable == Verdict(good=True, why="x")
    never = await place.play(says("It is fine."), says("Really {not} json."), deliverable=Verdict)
    assert (never.stop_reason, never.deliverable) == ("finished", None)


async def test_a_role_that_may_not_write_is_not_offered_tools_that_do(place: Workplace) -> None:
    reply = {
        "tools": [call("write_file", path="a", content="x"), call("edit_file", path="a", old="b", new="c")]
    }
    await place.play(reply, says("Then not."), role="plan")
    assert [finished.output.partition(";")[0] for finished in place.of(ToolCallCompleted)] == [
        "there is no tool 'write_file'",
        "there is no tool 'edit_file'",
    ]
    assert list(place.tree.iterdir()) == []


async def test_the_turn_limit_ends_a_loop(place: Workplace) -> None:
    outcome = await place.play({**calls("shell", command="true"), "repeat": 50}, max_turns=3)
    assert outcome.stop_reason == "turn_limit"
    assert len(place.of(ModelCallCompleted)) == 3


async def test_the_time_limit_ends_the_tools_too_and_keeps_what_was_spent(place: Workplace) -> None:
    sandbox = PlainSandbox(place.tree)
    place.sandbox = sandbox
    reply = {"say": "This takes long.", **calls("shell", command="sleep 600")}
    outcome = await place.play(reply, timeout_seconds=1.0)
    assert (outcome.stop_reason, outcome.text) == ("time_limit", "This takes long.")
    assert outcome.usage.tokens_out > 0
    assert sandbox.running == set()


async def test_a_cancelled_turn_leaves_nothing_running(place: Workplace) -> None:
    sandbox = PlainSandbox(place.tree)
    place.sandbox = sandbox
    working = asyncio.create_task(
        place.play({"say": "Both.", "tools": [call("shell", command="sleep 600")] * 2})
    )
    async with asyncio.timeout(30):
        await sandbox.started.get()
        await sandbox.started.get()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert sandbox.running == set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_spent_budget_stops_the_next_call_before_it_is_made(home: Path) -> None:
    """The first call fits, costs money and leaves too little for a second."""
    replies = in_order(Reply(tools=[("shell", {"command": "true"})], tokens_in=1_000_000))
    with ModelServer(replies) as server:
        place = Workplace(home, {"OPENAI_API_KEY": "sk-some-test-key", "OPENAI_BASE_URL": f"{server.url}/v1"})
        async with open_database(place.settings) as database:
            gateway = Gateway(place.settings, ledger_in(database, place.settings))
            place.agent = BuiltinAgent(gateway, place.settings)
            order_id = await store_order(database, budget_usd=1.0)
            with pytest.raises(BudgetExceeded):
                await place.work("openai/gpt-5.5", account=account("openai/gpt-5.5", order_id=order_id))
    assert len(server.requests) == 1
    (called,) = place.of(ModelCallCompleted)
    assert called.cost_usd is not None
    assert called.cost_usd > 1.0


async def test_a_store_that_fails_fails_the_turn(place: Workplace) -> None:
    count = itertools.count()

    async def emit(*events: AgentEvent) -> None:
        if next(count) == 1:
            raise Transient("the event store is away")

    place.emit = emit  # type: ignore[method-assign]
    with pytest.raises(Transient, match="event store"):
        await place.play(calls("shell", command="true"), says("Done."))


async def test_the_history_that_is_sent_holds_instructions_tools_and_results(home: Path) -> None:
    replies = in_order(
        Reply(tools=[("shell", {"command": "echo one"}), ("shell", {"command": "echo two"})]),
        Reply(text="Done."),
    )
    with ModelServer(replies) as server:
        place = Workplace(home, {"OPENAI_API_KEY": "sk-some-test-key", "OPENAI_BASE_URL": f"{server.url}/v1"})
        await place.work("openai/gpt-5.5", prompt="The task.")
    first, second = (request.body for request in server.requests)
    assert "building agent" in first["messages"][0]["content"]
    assert first["messages"][1]["content"] == "The task."
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "shell",
        "read_file",
        "write_file",
        "edit_file",
        "search",
    ]
    results = [message["content"] for message in second["messages"] if message["role"] == "tool"]
    assert results == ["one\n[exit code 0]", "two\n[exit code 0]"]
