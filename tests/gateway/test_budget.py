import pytest

from journeyman.errors import BudgetExceeded
from journeyman.gateway.budget import OUTPUT_RESERVE_TOKENS, characters_in, check_budget, estimate_usd
from journeyman.gateway.messages import (
    AssistantMessage,
    Message,
    Tokens,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
)
from journeyman.gateway.prices import FREE, Price, price_of, usage_of

PRICE = Price(input_usd=3.0, output_usd=15.0)
RESERVE = OUTPUT_RESERVE_TOKENS * 15.0 / 1_000_000


@pytest.mark.parametrize(
    ("budget_usd", "characters", "price"),
    [
        (None, 10_000_000, PRICE),
        (None, 10, None),
        (RESERVE, 0, PRICE),
        (RESERVE + 0.003, 3600, PRICE),
        (0.0, 10_000_000, FREE),
    ],
)
def test_a_call_that_fits_is_let_through(
    budget_usd: float | None, characters: int, price: Price | None
) -> None:
    check_budget("openai/x", budget_usd=budget_usd, characters=characters, price=price)


@pytest.mark.parametrize(
    ("budget_usd", "characters", "price", "word"),
    [
        (0.0, 0, PRICE, "$0.0150"),
        (-1.0, 0, PRICE, "$0.0000 are left"),
        (RESERVE + 0.0029, 3600, PRICE, "$0.0180"),
        (1_000_000.0, 10, None, "unknown"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(
    budget_usd: float, characters: int, price: Price | None, word: str
) -> None:
    with pytest.raises(BudgetExceeded, match=word.replace("$", r"\$")) as caught:
        check_budget("openai/x", budget_usd=budget_usd, characters=characters, price=price)
    assert caught.value.hint


def test_the_estimate_counts_prompt_answer_arguments_and_results() -> None:
    messages: list[Message] = [
        UserMessage("12345"),
        AssistantMessage("123", (ToolCall("c1", "shell", '{"a": 1}'),)),
        ToolResults((ToolResult("c1", "shell", "12"), ToolResult("c2", "shell", "3456"))),
    ]
    assert characters_in(messages) == 22
    assert estimate_usd(36, Price(10.0, 0.0)) == pytest.approx(0.0001)


def test_a_price_nobody_knows_is_not_zero() -> None:
    assert price_of("openai", "a-model-of-our-own") is None
    known = price_of("anthropic", "claude-sonnet-5-5")
    assert known is not None
    assert known.output_usd > known.input_usd > 0


def test_a_cost_is_known_even_where_a_server_counts_nonsense() -> None:
    sane = usage_of("openai", "gpt-5.5", Tokens(100, 20, 100)).cost_usd
    assert sane is not None
    assert usage_of("openai", "gpt-5.5", Tokens(100, 20, 500, 70)).cost_usd == sane > 0


def test_a_call_that_nobody_counted_costs_an_unknown_sum() -> None:
    assert usage_of("openai", "gpt-5.5", Tokens()).cost_usd is None
