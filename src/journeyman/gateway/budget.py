"""Whether a call fits into its budgets, decided before it is made: pure functions, used by the ledger.

Calls at the same time share what is left, and what a call costs is not known before it is over. So a call
that fits by its estimate is admitted at once if no other is under way. Beside others it is admitted only if
all of them fit at their maximum, and else waits for them. That way at most one call can end above a limit.
Some providers count more tokens than a request holds; by how much is learned from the calls that are over,
and until one is, a multiple is assumed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from journeyman.errors import BudgetExceeded
from journeyman.gateway.messages import AssistantMessage, Message, Tokens, ToolResults, UserMessage
from journeyman.gateway.prices import Price

CHARACTERS_PER_TOKEN = 3.6
OUTPUT_RESERVE_TOKENS = 1000
MOST_OUTPUT_TOKENS = 128_000
"""Of an answer that was asked for without a limit."""
HIGHEST_TOKENS = 1_000_000_000
"""That one call is reserved for: columns and sums have an end."""
UNTRIED_MARGIN = 10.0
"""For a model of which no call has been paid for yet: how its provider counts is unknown."""


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


@dataclass(frozen=True)
class Need:
    """What a call will take: probably, leaning high, and at the very most."""

    tokens: int
    most_tokens: int
    usd: float | None
    """None when the price is unknown."""
    most_usd: float | None


def need_of(characters: int, most: Tokens, price: Price | None, margin: float = 1.0) -> Need:
    """`most` is what the request allows, `margin` how many times as much its provider may count."""
    reserve = min(OUTPUT_RESERVE_TOKENS, most.output)
    read = characters / CHARACTERS_PER_TOKEN
    usd = most_usd = None
    if price is not None:
        usd = (read * price.input_usd + reserve * price.output_usd) / 1_000_000
        most_usd = margin * (most.input * price.input_usd + most.output * price.output_usd) / 1_000_000
    most_tokens = min(int(margin * (most.input + most.output)), HIGHEST_TOKENS)
    return Need(int(read) + reserve, most_tokens, usd, most_usd)


def margin_seen(most: Tokens, counted: Tokens) -> float:
    """How many times as much as a request allowed its provider counted; never below one."""
    return max(1.0, counted.input / max(most.input, 1), counted.output / max(most.output, 1))


@dataclass(frozen=True)
class Purse:
    """Something that may be spent up to a limit: how much of it is gone, and what the next call takes."""

    name: str
    unit: Literal["usd", "tokens", "calls"]
    limit: float
    spent: float
    promised: float
    """The very most that calls under way may still take."""
    estimate: float
    most: float
    hint: str
    refilled_after: float | None = None
    """Seconds until it is full again, for one that is filled up by itself."""

    @property
    def left(self) -> float:
        return max(0.0, self.limit - self.spent)


def admit(purses: Sequence[Purse]) -> Literal["go", "wait"] | Purse:
    """`go`, `wait` for calls under way to end, or the purse that the call does not fit into."""
    for purse in purses:
        if purse.estimate > purse.limit - purse.spent:
            return purse
    if any(purse.promised and purse.spent + purse.promised + purse.most > purse.limit for purse in purses):
        return "wait"
    return "go"


def budget_error(model: str, purse: Purse) -> BudgetExceeded:
    if purse.unit == "usd":
        what = f"would cost about ${purse.estimate:.4f}; ${purse.left:.4f} are left of {purse.name}"
    elif purse.unit == "tokens":
        what = f"would take about {purse.estimate:,.0f} tokens; {purse.left:,.0f} are left of {purse.name}"
    else:
        what = f"would be one more than {purse.name} allows ({purse.limit:,.0f})"
    return BudgetExceeded(
        f"the next call to {model} {what}", hint=purse.hint, retry_after=purse.refilled_after
    )


def unpriced(model: str) -> BudgetExceeded:
    """An unknown price fits into no budget of money."""
    return BudgetExceeded(
        f"the price of {model} is unknown, so no budget can be kept with it",
        hint="Remove the order's budget or choose a model with a known price (`jm models`), then resume it. "
        "Or say the price in JOURNEYMAN_MODEL_PRICES; JOURNEYMAN_MAX_TOKENS_PER_ORDER and "
        "JOURNEYMAN_MAX_CALLS_PER_ORDER limit orders without one.",
    )
