"""What models cost: the operator's own prices, then a table that is installed with the product.

No network is needed. The cost of a call is None when its price is unknown, never zero: an unknown price must
not look like a free one.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from journeyman.gateway.messages import Tokens
from journeyman.settings import ModelPrice

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, without the tiers and rebates that a finished call gets."""

    input_usd: float
    output_usd: float


FREE = Price(0.0, 0.0)


class Prices:
    """Models are named `provider/model`."""

    def __init__(self, own: Mapping[str, ModelPrice]) -> None:
        self._own = own
        self._known: dict[str, Price | None] = {}
        self._rates: dict[str, list[_Rates] | None] = {}

    def of(self, model: str) -> Price | None:
        if model not in self._known:
            self._known[model] = self._look_up(model)
        return self._known[model]

    async def looked_up(self, model: str) -> Price | None:
        """As `of`, off the event loop, which the table would hold up when it is first used."""
        return self._known[model] if model in self._known else await asyncio.to_thread(self.of, model)

    def cost(self, model: str, tokens: Tokens | None) -> float | None:
        """What a finished call cost; None when its price is unknown, or its tokens were not counted."""
        own = self._own.get(model)
        if own is None and model.startswith("scripted/"):
            return 0.0
        # Every call has a prompt, so one without a count was not measured.
        if tokens is None or not tokens.input:
            return None
        if own is not None:
            return _own_cost(own, tokens)
        if self.of(model) is None:  # the table takes long to say that it does not know
            return None
        # Servers have been seen to count more cached tokens than tokens; the price table refuses that.
        cache_read = min(tokens.cache_read, tokens.input)
        counted = Tokens(
            tokens.input, tokens.output, cache_read, min(tokens.cache_write, tokens.input - cache_read)
        )
        if model not in self._rates:
            self._rates[model] = _rates_of(model)
        rates = self._rates[model]
        if rates is None:
            return _table_cost(model, counted)
        return next(each for each in rates if each.above < counted.input).cost(counted)

    def _look_up(self, model: str) -> Price | None:
        own = self._own.get(model)
        if own is not None:
            return Price(own.input, own.output)
        if model.startswith("scripted/"):
            return FREE
        read = _calculate(model, input_tokens=_MILLION)
        written = _calculate(model, output_tokens=_MILLION)
        if read is None or written is None:
            return None
        return Price(float(read.input_price), float(written.output_price))


def context_window_of(model: str) -> int | None:
    known = _calculate(model, input_tokens=1)
    return known.model.context_window if known else None


@dataclass(frozen=True)
class _Rates:
    """What the table takes for calls that read more than some tokens, exactly."""

    above: int
    call: Decimal
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    """The last two are what a token read from or written to a cache costs more than any other, or less."""

    def cost(self, tokens: Tokens) -> float:
        return float(
            self.call
            + tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_read * self.cache_read
            + tokens.cache_write * self.cache_write
        )


def _rates_of(model: str) -> list[_Rates] | None:
    """A model's rates, those for the longest prompts first: the table itself takes long to ask.

    None for one whose price changes with the date or the hour, for which it has to be asked each time.
    """
    known = _calculate(model, input_tokens=1)
    if known is None or isinstance(known.model.prices, list):
        return None
    tiers = {tier.start for price in vars(known.model_price).values() for tier in getattr(price, "tiers", ())}
    return [_rates_above(model, start) for start in sorted({0, *tiers}, reverse=True)]


def _rates_above(model: str, start: int) -> _Rates:
    def total(more: int = 0, **others: int) -> Decimal:
        known = _calculate(model, input_tokens=start + 1 + more, **others)
        assert known is not None
        return known.total_price

    least, read = total(), total(1) - total()
    return _Rates(
        start,
        least - (start + 1) * read,
        read,
        total(output_tokens=1) - least,
        total(cache_read_tokens=1) - least,
        total(cache_write_tokens=1) - least,
    )


def _table_cost(model: str, tokens: Tokens) -> float | None:
    known = _calculate(
        model,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
    )
    return float(known.total_price) if known else None


def _own_cost(price: ModelPrice, tokens: Tokens) -> float:
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    fresh = max(0, tokens.input - tokens.cache_read - tokens.cache_write)
    sums = fresh * price.input + tokens.cache_read * read + tokens.cache_write * write
    return (sums + tokens.output * price.output) / _MILLION


def _calculate(model: str, **tokens: int) -> "PriceCalculation | None":
    # Half a second to import, so it is imported when a price is first needed.
    import genai_prices

    provider, _, name = model.partition("/")
    try:
        return genai_prices.calc_price(genai_prices.Usage(**tokens), name, provider_id=provider)
    except LookupError:
        return None
