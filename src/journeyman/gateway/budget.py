"""Whether a call fits into what may still be spent, decided before it is made.

The estimate leans high on purpose: characters stand in for tokens, and a reserve for the answer is
added. A price that nobody knows fits into no budget.
"""

from collections.abc import Iterable

from journeyman.errors import BudgetExceeded
from journeyman.gateway.messages import AssistantMessage, Message, ToolResults, UserMessage
from journeyman.gateway.prices import Price

CHARACTERS_PER_TOKEN = 3.6
OUTPUT_RESERVE_TOKENS = 1000


def characters_in(messages: Iterable[Message]) -> int:
    return sum(map(_length, messages))


def _length(message: Message) -> int:
    match message:
        case UserMessage(text):
            return len(text)
        case AssistantMessage(text, calls):
            return len(text) + sum(len(call.arguments) for call in calls)
        case ToolResults(results):
            return sum(len(result.output) for result in results)


def estimate_usd(characters: int, price: Price) -> float:
    tokens_in = characters / CHARACTERS_PER_TOKEN
    return (tokens_in * price.input_usd + OUTPUT_RESERVE_TOKENS * price.output_usd) / 1_000_000


def check_budget(model: str, *, budget_usd: float | None, characters: int, price: Price | None) -> None:
    """Raise BudgetExceeded when a call with so many characters does not fit."""
    if budget_usd is None:
        return
    if price is None:
        raise BudgetExceeded(
            f"the price of {model} is unknown, so no budget can be kept with it",
            hint="Choose a model with a known price (`jm models`), or submit the order without a budget.",
        )
    needed = estimate_usd(characters, price)
    if needed > budget_usd:
        raise BudgetExceeded(
            f"the next call to {model} would cost about ${needed:.4f}; ${max(budget_usd, 0.0):.4f} are left",
            hint="Raise the order's budget, or choose a cheaper model.",
        )
