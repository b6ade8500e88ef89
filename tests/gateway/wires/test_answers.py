"""What is read from answers while they pass: pure, frame by frame."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.gateway.messages import Tokens
from journeyman.gateway.wires.answers import AnswerReader
from journeyman.gateway.wires.base import AnswerState, Wire
from tests.standins.model_server import _FRAMES, Reply

STANDINS: dict[Wire, Any] = {
    "chat": _FRAMES["openai"],
    "responses": _FRAMES["responses"],
    "messages": _FRAMES["anthropic"],
    "generate": _FRAMES["google"],
}


def read(wire: Wire, *bodies: Any, stream: bool = False) -> AnswerState:
    reader = AnswerReader(wire, is_stream=stream)
    for body in bodies:
        reader.feed(f"data: {json.dumps(body)}\n\n".encode() if stream else json.dumps(body).encode())
    return reader.end()


@pytest.mark.parametrize("wire", STANDINS)
@given(cuts=st.lists(st.integers(0, 3000), max_size=6))
def test_an_answer_is_read_the_same_wherever_its_chunks_end(wire: Wire, cuts: list[int]) -> None:
    stream = "".join(STANDINS[wire](Reply(text="Grüße, 世界", tools=[("shell", {"command": "ls"})]))).encode()
    places = sorted({0, len(stream), *(cut % len(stream) for cut in cuts)})
    reader = AnswerReader(wire, is_stream=True)
    for start, end in itertools.pairwise(places):
        reader.feed(stream[start:end])
    state = reader.end()
    assert state.tokens == Tokens(100, 20, 10)
    assert state.is_complete


@pytest.mark.parametrize(
    ("wire", "body", "tokens", "finish"),
    [
        (
            "chat",
            {
                "choices": [{"finish_reason": "length"}],
                "usage": {
                    "prompt_tokens": 7,
                    "completion_tokens": 3,
                    "prompt_tokens_details": {"cached_tokens": 2},
                },
            },
            Tokens(7, 3, 2),
            "length",
        ),
        ("chat", {"choices": [{"finish_reason": "content_filter"}]}, None, "refusal"),
        (
            "responses",
            {
                "object": "response",
                "status": "completed",
                "output": [{"type": "function_call"}],
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
            Tokens(7, 3),
            "tool_calls",
        ),
        (
            "responses",
            {
                "object": "response",
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            None,
            "length",
        ),
        (
            "messages",
            {
                "type": "message",
                "stop_reason": "tool_use",
                "usage": {
                    "input_tokens": 7,
                    "output_tokens": 3,
                    "cache_read_input_tokens": 20,
                    "cache_creation_input_tokens": 10,
                },
            },
            Tokens(37, 3, 20, 10),
            "tool_calls",
        ),
        (
            "generate",
            {
                "candidates": [{"finishReason": "STOP"}],
                "usageMetadata": {
                    "promptTokenCount": 7,
                    "candidatesTokenCount": 3,
                    "thoughtsTokenCount": 5,
                    "toolUsePromptTokenCount": 1,
                },
            },
            Tokens(8, 8),
            "stop",
        ),
        ("generate", {"promptFeedback": {"blockReason": "SAFETY"}}, None, "refusal"),
        ("generate", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, None, "length"),
    ],
)
def test_an_answer_that_is_not_streamed_is_read_too(
    wire: Wire, body: Any, tokens: Tokens | None, finish: str
) -> None:
    state = read(wire, body)
    assert (state.tokens, state.finish, state.is_complete) == (tokens, finish, True)


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_too_large_to_be_read_is_skipped(stream: bool) -> None:
    body = {"choices": [{"finish_reason": "stop", "message": {"content": "x" * 16_000_001}}]}
    reader = AnswerReader("chat", is_stream=stream)
    content = json.dumps(body).encode()
    for chunk in (b"data: " + content if stream else content, b"\n\n"):
        reader.feed(chunk)
    assert reader.end() == AnswerState()


def test_a_list_of_answers_is_read_as_a_stream_of_them() -> None:
    first: dict[str, Any] = {"candidates": [{"content": {}}]}
    last = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9}}
    assert read("generate", [first, last]).tokens == Tokens(9, 0)


WRONG: list[Any] = [None, "12", -1, 1.5, True, [], {}, 10**12]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("chat", lambda wrong: {"usage": {"prompt_tokens": 5, "completion_tokens": wrong}}),
        ("responses", lambda wrong: {"usage": {"input_tokens": wrong, "output_tokens": 1}}),
        ("generate", lambda wrong: {"usageMetadata": {"promptTokenCount": wrong}}),
    ],
)
def test_a_count_that_is_no_count_makes_the_answer_unmeasured(wire: Wire, body: Any, wrong: Any) -> None:
    assert read(wire, body(wrong)).tokens is None


@pytest.mark.parametrize("wrong", WRONG[1:])
def test_anthropics_counts_come_in_pieces_and_none_may_be_wrong(wrong: Any) -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
    good = {"type": "message_delta", "usage": {"output_tokens": 9}}
    assert read("messages", start, good, stream=True).tokens == Tokens(5, 9)
    bad = {"type": "message_delta", "usage": {"output_tokens": wrong}}
    assert read("messages", start, bad, stream=True).tokens is None


@given(st.binary(max_size=300), st.sampled_from(list(STANDINS)), st.booleans())
def test_no_bytes_at_all_break_a_reader(content: bytes, wire: Wire, stream: bool) -> None:
    reader = AnswerReader(wire, is_stream=stream)
    reader.feed(content)
    assert not reader.end().is_complete


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "usage",
                    "message",
                    "response",
                    "choices",
                    "candidates",
                    "usageMetadata",
                    "delta",
                    "status",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON, st.sampled_from(list(STANDINS)))
def test_no_frame_of_the_wrong_shape_breaks_a_reader(frame: Any, wire: Wire) -> None:
    read(wire, frame, stream=True)


@pytest.mark.parametrize(
    ("wire", "frame"),
    [
        ("messages", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
        ("chat", {"error": {"message": "busy"}}),
        (
            "responses",
            {"type": "response.failed", "response": {"status": "failed", "error": {"message": "busy"}}},
        ),
        ("generate", {"error": {"code": 503, "message": "busy"}}),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_state(wire: Wire, frame: Any) -> None:
    state = read(wire, frame, stream=True)
    assert (state.error, state.is_complete) == ("busy", False)
