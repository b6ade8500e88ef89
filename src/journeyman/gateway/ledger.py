"""Every call of a model is reserved in the ledger before it is made, and settled when it is over.

Reserving: what is spent and reserved so far is read, and the call is admitted, refused or made to wait, in
one transaction with the row that reserves it: two calls at once cannot both take the last of a budget.
Settling: the row gets the tokens that the provider counted and their price. A call that broke off after its
answer had begun may have been paid for, but its cost is unknown: it counts against budgets by its estimate,
and shows no cost. A call that was refused, or broke before its answer began, has cost nothing.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal

from journeyman.errors import BudgetExceeded
from journeyman.gateway.accounts import Account
from journeyman.gateway.budget import (
    MOST_OUTPUT_TOKENS,
    UNTRIED_MARGIN,
    Need,
    Purse,
    admit,
    budget_error,
    margin_seen,
    need_of,
    unpriced,
)
from journeyman.gateway.messages import Tokens
from journeyman.gateway.prices import Prices
from journeyman.gateway.store import ModelCalls, Spending
from journeyman.settings import Settings
from journeyman.work_orders.order import Usage

_LOOK_AGAIN_SECONDS = 1.0
"""A call that ends in this process wakes those that wait; for calls of other processes they poll."""


class Entry:
    """A call that is being made."""

    def __init__(self, ledger: "Ledger", call_id: str, account: Account, most: Tokens) -> None:
        self._ledger = ledger
        self.call_id = call_id
        self.account = account
        self.most = most
        """What the request allows, if its provider counts as it should."""
        self.has_begun = False
        """Set when an answer begins to come: from then on it may have to be paid for."""
        self.tokens: Tokens | None = None
        """What is known to have been used, should the call break off."""
        self.usage: Usage | None = None

    async def settle(self, tokens: Tokens | None) -> Usage:
        """The call was answered. Tokens are None when the provider did not count them."""
        self.usage = await self._ledger.close(self, "settled", tokens)
        return self.usage


class Ledger:
    def __init__(self, calls: ModelCalls, settings: Settings, prices: Prices) -> None:
        self._calls = calls
        self._settings = settings
        self._prices = prices
        self._under_way: dict[str, str] = {}
        """The orders of the calls that this process makes just now."""
        self._known: set[str] = set()
        """Orders that this process has made a call for."""
        self._margins: dict[str, float] = {}
        """How many times as much as a request allows each model's provider was seen to count."""
        self._closed = asyncio.Condition()

    @asynccontextmanager
    async def call(
        self,
        account: Account,
        *,
        characters: int,
        most_input_tokens: int | None = None,
        most_output_tokens: int | None = None,
    ) -> AsyncIterator[Entry]:
        """Make a call inside. Raises BudgetExceeded when it does not fit into a budget.

        Waits while it fits only if the calls under way take less than their maximum: the end of one of them
        decides. Leaving without `Entry.settle`, by an error or by a cancellation, closes it as failed.
        """
        most = Tokens(most_input_tokens or characters, most_output_tokens or MOST_OUTPUT_TOKENS)
        price = await self._prices.looked_up(account.model)
        entry = Entry(self, secrets.token_hex(16), account, most)
        self._under_way[entry.call_id] = account.order_id
        try:
            while not await self._reserved(entry, need_of(characters, most, price, self._margin_of(account))):
                async with self._closed:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._closed.wait(), _LOOK_AGAIN_SECONDS)
            try:
                yield entry
            finally:
                if entry.usage is None:
                    await self.close(entry, "failed", entry.tokens)
        finally:
            del self._under_way[entry.call_id]
            async with self._closed:
                self._closed.notify_all()

    async def close(self, entry: Entry, state: Literal["settled", "failed"], tokens: Tokens | None) -> Usage:
        cost = self._prices.cost(entry.account.model, tokens)
        if state == "failed" and not entry.has_begun:
            cost = 0.0
        await self._calls.close(entry.call_id, state=state, tokens=tokens, cost_usd=cost)
        counted = tokens or Tokens()
        if tokens is not None and tokens.input:
            known = self._margins.get(entry.account.model, 1.0)
            self._margins[entry.account.model] = max(known, margin_seen(entry.most, tokens))
        return Usage(counted.input, counted.output, counted.cache_read, cost)

    def _margin_of(self, account: Account) -> float:
        return self._margins.get(account.model, UNTRIED_MARGIN)

    async def _reserved(self, entry: Entry, need: Need) -> bool:
        account, settings = entry.account, self._settings
        limits = {
            "order": settings.max_tokens_per_order or settings.max_calls_per_order,
            "today": settings.budget_per_day_usd,
            "ever": settings.budget_total_usd,
        }
        wanted = [name for name, limit in limits.items() if limit is not None]
        refused: list[BudgetExceeded] = []

        def may_go(spending: Spending) -> bool:
            purses = purses_of(settings, spending, need, datetime.now(UTC))
            if any(purse.unit == "usd" for purse in purses) and need.usd is None:
                capped = [purse for purse in purses if purse.unit != "usd"]
                if not capped:
                    refused.append(unpriced(account.model))
                    return False
                purses = capped
            verdict = admit(purses)
            if isinstance(verdict, Purse):
                refused.append(budget_error(account.model, verdict))
            return verdict == "go"

        def under_way() -> list[str]:
            return [call_id for call_id, order_id in self._under_way.items() if order_id == account.order_id]

        is_first = account.holds_order and account.order_id not in self._known
        if account.holds_order:
            self._known.add(account.order_id)
        went = await self._calls.reserve(
            entry.call_id, account, need, may_go, wanted=wanted, under_way=under_way if is_first else None
        )
        if refused:
            raise refused[0]
        return went


def purses_of(settings: Settings, spending: Spending, need: Need, now: datetime) -> list[Purse]:
    """What limits a call, of all that can."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    money = [
        (
            "the order's budget",
            spending.budget_usd,
            spending.order,
            "Raise the order's budget, or choose a cheaper model.",
            None,
        ),
        (
            "today's budget",
            settings.budget_per_day_usd,
            spending.today,
            "It goes on by itself tomorrow (UTC); JOURNEYMAN_BUDGET_PER_DAY_USD allows more in a day.",
            (tomorrow - now).total_seconds(),
        ),
        (
            "the budget of this installation",
            settings.budget_total_usd,
            spending.ever,
            "Raise JOURNEYMAN_BUDGET_TOTAL_USD.",
            None,
        ),
    ]
    usd, most_usd = need.usd or 0.0, need.most_usd or 0.0
    purses = [
        Purse(name, "usd", limit, sums.spent_usd, sums.promised_usd, usd, most_usd, hint, refilled)
        for name, limit, sums, hint, refilled in money
        if limit is not None
    ]
    order = spending.order
    if settings.max_tokens_per_order is not None:
        name, hint = "the tokens of an order", "Split the task, or raise JOURNEYMAN_MAX_TOKENS_PER_ORDER."
        limit, spent, promised = settings.max_tokens_per_order, order.spent_tokens, order.promised_tokens
        purses.append(Purse(name, "tokens", limit, spent, promised, need.tokens, need.most_tokens, hint))
    if settings.max_calls_per_order is not None:
        hint = "Split the task, or raise JOURNEYMAN_MAX_CALLS_PER_ORDER."
        limit, spent, promised = settings.max_calls_per_order, order.spent_calls, order.promised_calls
        purses.append(Purse("the calls of an order", "calls", limit, spent, promised, 1, 1, hint))
    return purses
