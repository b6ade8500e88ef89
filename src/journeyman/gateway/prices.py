"""What models cost: the operator's own prices, then a table that is installed with the product.

No network is needed to look. The money of a call is None when nobody knows the price, never zero: an
unknown price must not look like a free one.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
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
        known = _calculate(
            model,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=cache_read,
            cache_write_tokens=min(tokens.cache_write, tokens.input - cache_read),
        )
        return float(known.total_price) if known else None

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


def _own_cost(price: ModelPrice, tokens: Tokens) -> float:
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    fresh = max(0, tokens.input - tokens.cache_read - tokens.cache_write)
    sums = fresh * price.input + tokens.cache_read * read + tokens.cache_write * write
    return (sums + tokens.output * price.output) / _MILLION


def _calculate(model: str, **tokens: int) -> "PriceCalculation | None":
    # Half a second to import, so only whoever asks for a price pays for it.
    import genai_prices

    provider, _, name = model.partition("/")
    try:
        return genai_prices.calc_price(genai_prices.Usage(**tokens), name, provider_id=provider)
    except LookupError:
        return None
