"""Streams of chat completions as servers really send them, put together without a network."""

import json
from typing import Any

import pytest

from journeyman.gateway.messages import AssistantMessage, Tokens, ToolCall
from journeyman.gateway.wires.chat.answers import ChatAnswer
from journeyman.gateway.wires.events import EventSplitter


def said(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def called(index: int | None = None, **part: Any) -> dict[str, Any]:
    return said({"tool_calls": [part if index is None else {"index": index, **part}]})


def taken(*frames: dict[str, Any]) -> ChatAnswer:
    answer = ChatAnswer()
    for frame in frames:
        answer.take(json.dumps(frame).encode())
    return answer


def read(*frames: dict[str, Any]) -> AssistantMessage:
    message = taken(*frames).message()
    assert message is not None
    return message


STREAM = b': a comment\r\ndata: {"a": "\xc3\xa4"}\r\n\r\nevent: x\ndata:2\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize("place", range(len(STREAM)))
def test_a_stream_may_be_cut_into_chunks_anywhere(place: int) -> None:
    events = EventSplitter()
    found = [*events.feed(STREAM[:place]), *events.feed(STREAM[place:])]
    assert found == ['{"a": "ä"}'.encode(), b"2", b"[DONE]"]


def test_text_is_returned_as_it_comes_and_kept_as_a_whole() -> None:
    answer = ChatAnswer()
    frames = (said({"role": "assistant", "content": ""}), said({"content": "Hel"}), said({"content": "lo"}))
    assert [answer.take(json.dumps(frame).encode()) for frame in frames] == ["", "Hel", "lo"]
    answer.take(json.dumps(said({}, "stop")).encode())
    assert answer.message() == AssistantMessage("Hello")


def test_calls_that_arrive_in_turns_are_told_apart_by_their_index() -> None:
    message = read(
        called(0, id="a", function={"name": "shell", "arguments": '{"x"'}),
        called(1, id="b", function={"name": "search", "arguments": ""}),
        called(0, function={"arguments": ": 1}"}),
        called(1, function={"arguments": "{}"}),
        said({}, "tool_calls"),
    )
    assert message.calls == (ToolCall("a", "shell", '{"x": 1}'), ToolCall("b", "search", "{}"))
    assert message.finish == "tool_calls"


@pytest.mark.parametrize("index", [0, None])
def test_whole_calls_are_told_apart_by_their_id_where_the_index_does_not(index: int | None) -> None:
    message = read(
        called(index, id="a", function={"name": "shell", "arguments": {"x": 1}}),
        called(index, id="b", function={"name": "shell", "arguments": None}),
        said({}, "stop"),
    )
    assert message.calls == (ToolCall("a", "shell", '{"x": 1}'), ToolCall("b", "shell", "{}"))
    assert message.finish == "tool_calls"


def test_calls_without_an_id_get_one_of_their_own() -> None:
    frames = (called(place, function={"name": "shell", "arguments": "{}"}) for place in (0, 1))
    first, second = read(*frames, said({}, "tool_calls")).calls
    assert first.call_id
    assert first.call_id != second.call_id


@pytest.mark.parametrize(
    ("delta", "reason", "finish"),
    [
        ({"content": "x"}, "stop", "stop"),
        ({"content": "x"}, "length", "length"),
        ({"content": "x"}, "content_filter", "refusal"),
        ({"refusal": "x"}, "stop", "refusal"),
        ({"content": "x"}, "eos", "stop"),
    ],
)
def test_why_an_answer_ended_is_known(delta: dict[str, Any], reason: str, finish: str) -> None:
    message = read(said(delta), said({}, reason))
    assert (message.text, message.finish) == ("x", finish)


@pytest.mark.parametrize("last", [said({"content": "more"}), said({}, "error")])
def test_an_answer_without_an_end_is_none(last: dict[str, Any]) -> None:
    assert taken(said({"content": "x"}), last).message() is None


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 5},
            },
            Tokens(100, 20, 60, 5),
        ),
        ({"prompt_tokens": 100, "completion_tokens": None, "prompt_tokens_details": None}, Tokens(100)),
        ({"prompt_tokens": -1, "completion_tokens": "20"}, Tokens()),
        (None, Tokens()),
    ],
)
def test_what_was_used_is_read_and_nonsense_is_not(usage: Any, tokens: Tokens) -> None:
    assert read(said({"content": "x"}, "stop"), {"choices": [], "usage": usage}).tokens == tokens


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429, "message": "x"}, 429),
        ({"code": "502", "message": "x"}, 502),
        ({"type": "invalid_request_error", "code": None}, 400),
        ({"code": "rate_limit_exceeded"}, 429),
        ({"message": "x"}, 500),
        ("x", 500),
    ],
)
def test_an_error_in_the_middle_has_the_status_it_would_have_had(error: Any, status: int) -> None:
    answer = taken(said({"content": "x"}), {"error": error})
    assert answer.error == {"error": error}
    assert answer.error_status == status


def test_nothing_after_the_end_counts() -> None:
    answer = taken(said({"content": "x"}, "stop"))
    answer.take(b"[DONE]")
    assert answer.take(json.dumps(said({"content": "y"})).encode()) == ""
    assert answer.is_done
    assert answer.message() == AssistantMessage("x")
