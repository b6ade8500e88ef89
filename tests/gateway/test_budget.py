"""What may be spent, decided without spending anything."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.gateway.budget import (
    OUTPUT_RESERVE_TOKENS,
    Purse,
    admit,
    budget_error,
    characters_in,
    need_of,
    unpriced,
)
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    Tokens,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
)
from journeyman.gateway.prices import FREE, Price


def purse(
    limit: float, *, spent: float = 0, promised: float = 0, estimate: float = 1, most: float = 3
) -> Purse:
    return Purse("the order's budget", "usd", limit, spent, promised, estimate, most, "Raise it.")


@pytest.mark.parametrize(
    ("purses", "expected"),
    [
        ([], "go"),
        ([purse(1)], "go"),
        ([purse(0, estimate=0, most=0)], "go"),
        ([purse(10, spent=9)], "go"),
        ([purse(10, spent=1, promised=6)], "go"),
        ([purse(10, spent=2, promised=6)], "wait"),
        ([purse(10, spent=9, promised=0.5)], "wait"),
        ([purse(100), purse(10, spent=2, promised=6)], "wait"),
    ],
)
def test_a_call_goes_or_waits_for_those_under_way(purses: list[Purse], expected: str) -> None:
    assert admit(purses) == expected


@pytest.mark.parametrize(
    "short",
    [purse(0.9), purse(10, spent=9.1), purse(10, spent=12), purse(10, spent=9.1, promised=5), purse(0)],
)
def test_a_call_that_does_not_fit_even_alone_is_refused(short: Purse) -> None:
    assert admit([purse(100), short]) is short


@given(
    limit=st.floats(0, 10),
    calls=st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1), st.floats(0, 1)), max_size=40),
    ending=st.lists(st.integers(0, 40), max_size=80),
)
def test_at_most_one_call_ends_above_the_limit(
    limit: float, calls: list[tuple[float, float, float]], ending: list[int]
) -> None:
    """Any calls, in any order of beginning and ending, each costing anything up to its very most."""
    spent, dearest = 0.0, 0.0
    waiting = list(calls)
    under_way: list[tuple[float, float]] = []
    turns = iter(ending)
    while waiting or under_way:
        if waiting:
            most, estimated, real = waiting[0]
            promised = sum(each for each, _ in under_way)
            asked = purse(limit, spent=spent, promised=promised, estimate=most * estimated, most=most)
            verdict = admit([asked])
            if verdict != "wait":
                waiting.pop(0)
            if verdict == "go":
                under_way.append((most, most * real))
                continue
        if under_way:
            _, cost = under_way.pop(next(turns, 0) % len(under_way))
            spent += cost
            dearest = max(dearest, cost)
    assert spent <= limit + dearest + 1e-9


def test_what_a_call_needs_leans_high() -> None:
    need = need_of(3600, Tokens(3600, 200_000), Price(3.0, 15.0))
    assert need.tokens == 1000 + OUTPUT_RESERVE_TOKENS
    assert need.usd == pytest.approx(1000 * 3e-6 + OUTPUT_RESERVE_TOKENS * 15e-6)
    assert need.most_tokens == 3600 + 200_000
    assert need.most_usd == pytest.approx(3600 * 3e-6 + 200_000 * 15e-6)


def test_an_answer_that_is_limited_needs_no_more_than_its_limit() -> None:
    assert need_of(0, Tokens(0, 10), FREE).tokens == 10
    assert need_of(0, Tokens(0, 10), FREE, margin=3).most_tokens == 30


def test_without_a_price_only_tokens_are_known() -> None:
    need = need_of(36, Tokens(36, 100), None)
    assert (need.usd, need.most_usd) == (None, None)
    assert need.tokens > 0


def test_characters_of_prompt_answer_arguments_and_results_count() -> None:
    messages: list[Message] = [
        UserMessage("12345"),
        AssistantMessage("123", (ToolCall("c", "shell", '{"a": 1}'),)),
        ToolResults((ToolResult("c", "shell", "12"),)),
    ]
    assert characters_in(messages) == 18


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("usd", "about $1.0000; $0.5000 are left of the order's budget"),
        ("tokens", "about 1 tokens"),
        ("calls", "one more"),
    ],
)
def test_a_refusal_says_what_is_short_and_what_to_do(unit: Any, words: str) -> None:
    error = budget_error("openai/x", Purse("the order's budget", unit, 1, 0.5, 0, 1, 1, "Raise it."))
    assert words in error.message
    assert error.hint == "Raise it."
    assert "JOURNEYMAN_MODEL_PRICES" in unpriced("openai/x").hint
