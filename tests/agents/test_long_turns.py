"""Turns that would not end, or not fit: what is done about long conversations and about repetition."""

from pathlib import Path
from typing import Any

import pytest

from journeyman.agents.builtin.compaction import compacted, is_nearly_full, split_history, summary_request
from journeyman.agents.builtin.repetition import Repetition
from journeyman.errors import ContextOverflow
from journeyman.events.types import AgentNotice, AgentText, ModelCallCompleted
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    Tokens,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
)
from tests.agents.turns import Workplace, calls, says
from tests.standins.model_server import Answering, ModelServer, Reply, Request, in_order

MODEL = "openai/gpt-5.5"
FULL = 2_000_000
"""Tokens: more than any model of today takes."""
OVERFLOW = Reply(status=400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})


def step(number: int, **reply: Any) -> Reply:
    return Reply(tools=[("shell", {"command": f"echo step {number}"})], **reply)


def called(number: int, output: str = "", tokens: Tokens | None = None) -> list[Message]:
    call_id = f"call_{number}"
    return [
        AssistantMessage("", (ToolCall(call_id, "shell", f'{{"n": {number}}}'),), tokens=tokens or Tokens()),
        ToolResults((ToolResult(call_id, "shell", output),)),
    ]


def contents(request: Request) -> list[str]:
    return [message["content"] or "" for message in request.body["messages"]]


def at_work(home: Path, server: ModelServer) -> Workplace:
    environment = {"OPENAI_API_KEY": "sk-some-test-key", "OPENAI_BASE_URL": f"{server.url}/v1"}
    return Workplace(home, environment)


def summarising(*replies: Reply) -> Answering:
    """These replies in order; whoever is offered no tools is given a summary of what it was shown."""
    following = in_order(*replies)

    def answer(request: Request) -> Reply:
        if "tools" in request.body:
            return following(request)
        shown = [f"step {number}" for number in range(10) if f"] step {number}\n" in contents(request)[-1]]
        kept = "an earlier summary" if "SUMMARY" in contents(request)[-1] else ""
        return Reply(text=f"SUMMARY of {', '.join(shown)} {kept}")

    return answer


async def test_a_conversation_that_nears_the_models_limit_goes_on_from_a_summary(home: Path) -> None:
    replies = (step(1), step(2), step(3, tokens_in=FULL), step(4), Reply(text="Done."))
    with ModelServer(summarising(*replies)) as server:
        place = at_work(home, server)
        outcome = await place.work(MODEL, prompt="The task.")
    assert (outcome.stop_reason, outcome.text) == ("finished", "Done.")
    *_, summarised, after, last = server.requests
    assert "tools" not in summarised.body
    assert "The task." in contents(summarised)[1]
    beginning, asked, result = contents(after)[1:]
    assert beginning.startswith("The task.")
    assert "SUMMARY of step 1, step 2" in beginning
    assert (asked, result) == ("", "step 3\n[exit code 0]")
    assert len(contents(last)) == len(contents(after)) + 2
    (noticed,) = place.of(AgentNotice)
    assert "summary" in noticed.text
    assert "SUMMARY" not in "".join(said.text for said in place.of(AgentText))
    assert len(place.of(ModelCallCompleted)) == len(server.requests) == 6
    assert outcome.usage.tokens_in == sum(each.tokens_in for each in place.of(ModelCallCompleted))


async def test_a_second_summary_is_made_of_the_first_too(home: Path) -> None:
    long = [step(number, tokens_in=FULL if number in (3, 5) else 100) for number in range(1, 6)]
    with ModelServer(summarising(*long, Reply(text="Done."))) as server:
        place = at_work(home, server)
        await place.work(MODEL, prompt="The task.")
    beginning = contents(server.requests[-1])[1]
    assert "an earlier summary" in beginning
    assert beginning.count("The task.") == 1
    assert len(place.of(AgentNotice)) == 2


async def test_a_provider_that_says_the_conversation_is_too_long_is_asked_again_with_a_shorter_one(
    home: Path,
) -> None:
    with ModelServer(summarising(step(1), step(2), OVERFLOW, Reply(text="Done."))) as server:
        place = at_work(home, server)
        outcome = await place.work("openai/a-model-of-our-own")
    assert outcome.text == "Done."
    assert "SUMMARY of step 1" in contents(server.requests[-1])[1]


async def test_a_conversation_that_stays_too_long_fails_the_turn(home: Path) -> None:
    with ModelServer(summarising(step(1), step(2), OVERFLOW)) as server, pytest.raises(ContextOverflow):
        await at_work(home, server).work(MODEL)
    assert len(server.requests) == 5, "two steps, an overflow, a summary, an overflow"


async def test_a_task_that_is_too_long_itself_cannot_be_made_shorter(home: Path) -> None:
    with ModelServer(in_order(OVERFLOW)) as server, pytest.raises(ContextOverflow):
        await at_work(home, server).work(MODEL)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("history", "window", "full"),
    [
        ([UserMessage("x" * 4000)], 1000, True),
        ([UserMessage("x" * 2000)], 1000, False),
        ([UserMessage("x" * 4_000_000)], None, False),
        ([UserMessage("x"), *called(1, "y", Tokens(700, 99))], 1000, False),
        ([UserMessage("x"), *called(1, "y", Tokens(700, 100))], 1000, True),
        ([UserMessage("x"), *called(1, "y" * 360, Tokens(700, 1))], 1000, True),
        ([UserMessage("x" * 9000), *called(1, "y", Tokens(100, 1))], 1000, False),
    ],
)
def test_what_was_counted_decides_and_the_rest_is_estimated(
    history: list[Message], window: int | None, full: bool
) -> None:
    assert is_nearly_full(history, window) is full


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [([100] * 10, 2), ([1000, 1000, 1, 1, 1], 3), ([1, 1, 1000], 1), ([5], 1)],
)
def test_the_newest_turns_stay_as_they_are(sizes: list[int], kept: int) -> None:
    turns = [called(number, "x" * size) for number, size in enumerate(sizes)]
    history = [UserMessage("Go"), *(message for turn in turns for message in turn)]
    older, newest = split_history(history)
    assert len(newest) == 2 * kept
    assert isinstance(newest[0], AssistantMessage)
    assert [*history[:1], *older, *newest] == history


def test_a_short_conversation_is_not_taken_for_the_long_one_it_was() -> None:
    newest = called(1, "y", Tokens(FULL, 1))
    assert not is_nearly_full(compacted("Go", "short", newest), 1000)


def test_what_a_summary_is_made_from_fits_into_the_model() -> None:
    older = [message for number in range(100) for message in called(number, "x" * 5000)]
    request = summary_request(UserMessage("Go"), older, 10_000)
    assert 10_000 < len(request.text) < 10_000 * 3.6


async def test_a_model_that_repeats_itself_is_told_so_and_then_stopped(home: Path) -> None:
    with ModelServer(in_order(Reply(tools=[("shell", {"command": "false"})]))) as server:
        place = at_work(home, server)
        outcome = await place.work(MODEL)
    assert outcome.stop_reason == "repetition"
    assert len(server.requests) == 5
    events = ["same result" in contents(request)[-1] for request in server.requests]
    assert events == [False, False, False, True, True]
    assert "same result 3 times" in place.of(AgentNotice)[0].text


async def test_the_same_command_with_another_result_is_work(place: Workplace) -> None:
    again = {**calls("shell", command="echo x >> f; wc -l < f"), "repeat": 7}
    outcome = await place.play(again, says("Done."))
    assert outcome.stop_reason == "finished"
    assert place.of(AgentNotice) == []


def test_only_what_is_repeated_in_a_row_counts() -> None:
    repetition = Repetition()
    one, other = ToolCall("1", "shell", "{}"), ToolCall("2", "search", "{}")
    result = ToolResult("1", "shell", "x")
    done = [([one], [result]), ([replaced(one)], [result]), ([other], [result]), ([one], [result])]
    assert [repetition.times(calls, results) for calls, results in done] == [1, 2, 1, 1]


def replaced(call: ToolCall) -> ToolCall:
    """The same call under another id, as a provider would send it."""
    return ToolCall("another", call.tool, call.arguments)
