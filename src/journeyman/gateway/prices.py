"""What models cost, from a table that is installed with the product: no network is needed to look.

The money of a call is None when nobody knows the price, never zero: an unknown price must not
look like a free one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from journeyman.gateway.messages import Tokens
from journeyman.work_orders.order import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, without the tiers and rebates that a finished call gets."""

    input_usd: float
    output_usd: float


FREE = Price(0.0, 0.0)


def price_of(provider: str, model: str) -> Price | None:
    if provider == "scripted":
        return FREE
    read = _calculate(provider, model, input_tokens=_MILLION)
    written = _calculate(provider, model, output_tokens=_MILLION)
    if read is None or written is None:
        return None
    return Price(float(read.input_price), float(written.output_price))


def context_window_of(provider: str, model: str) -> int | None:
    known = _calculate(provider, model, input_tokens=1)
    return known.model.context_window if known else None


def usage_of(provider: str, model: str, counted: Tokens) -> Usage:
    """Tokens and cost of one finished call."""
    return Usage(counted.input, counted.output, counted.cache_read, _cost_of(provider, model, counted))


def _cost_of(provider: str, model: str, counted: Tokens) -> float | None:
    if provider == "scripted":
        return 0.0
    if not counted.input:
        # Every call has a prompt, so one without a count was not measured.
        return None
    # Servers have been seen to count more cached tokens than tokens; the price table refuses that.
    cache_read = min(counted.cache_read, counted.input)
    known = _calculate(
        provider,
        model,
        input_tokens=counted.input,
        output_tokens=counted.output,
        cache_read_tokens=cache_read,
        cache_write_tokens=min(counted.cache_write, counted.input - cache_read),
    )
    return float(known.total_price) if known else None


def _calculate(provider: str, model: str, **tokens: int) -> "PriceCalculation | None":
    # Half a second to import, so only whoever asks for a price pays for it.
    import genai_prices

    try:
        return genai_prices.calc_price(genai_prices.Usage(**tokens), model, provider_id=provider)
    except LookupError:
        return None
