"""Model calls of the product itself: each is checked, reserved, made, counted and settled here.

A call either ends with one whole Completion or raises one of our errors; half an answer is never
handed on as if it were whole. Trying again is the caller's decision, because only the caller can
say so to the person who waits.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from journeyman.access.redaction import Redactor
from journeyman.errors import Internal
from journeyman.gateway.accounts import Account
from journeyman.gateway.budget import characters_in
from journeyman.gateway.catalogue import Catalogue
from journeyman.gateway.ledger import Entry, Ledger
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.messages import AssistantMessage, Message, Tokens, ToolOffer
from journeyman.gateway.prices import Prices, context_window_of
from journeyman.gateway.providers import (
    KEY_NAMES,
    OFFERED,
    Model,
    ModelName,
    Provider,
    chat_model,
    key_of,
    library_model,
    load_http_client,
    new_library_client,
    parse_model_name,
    require_key,
)
from journeyman.gateway.recording import Recorder, script_named
from journeyman.gateway.scripts import script_names
from journeyman.settings import Settings
from journeyman.work_orders.order import Usage

if TYPE_CHECKING:
    import httpx2

    from journeyman.gateway.http_client import HttpClient


@dataclass(frozen=True)
class ModelInfo:
    """A model that can be chosen."""

    name: str
    provider: str
    ready: bool
    needs: str = ""
    """What is missing when it is not ready."""
    context_window: int | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    model: str
    messages: Sequence[Message] = field(repr=False)
    instructions: str = field(default="", repr=False)
    tools: Sequence[ToolOffer] = field(default=(), repr=False)
    role: str = ""
    """Whose call it is; scripts choose by it."""
    attempt: int = 1
    """Which try of the same call this is."""
    account: Account | None = None
    """Who pays. A call that does not fit into what they may spend is not made."""


@dataclass(frozen=True)
class Completion:
    message: AssistantMessage
    usage: Usage
    duration_seconds: float


@dataclass
class _Clients:
    """What belongs to one event loop: connections cannot be shared between loops."""

    http: "HttpClient | None" = None
    """Made when it is first needed, as the other is: both take long to import."""
    library: "httpx2.AsyncClient | None" = None
    models: dict[ModelName, Model] = field(default_factory=dict)


class Gateway:
    def __init__(
        self, settings: Settings, ledger: Ledger | None = None, *, limits: CallLimits | None = None
    ) -> None:
        """Without a ledger calls are not recorded: enough to ask which models there are."""
        self._settings = settings
        self._ledger = ledger
        self._limits = limits or CallLimits(settings.model_idle_timeout_seconds)
        self._redactor = Redactor(settings.secrets())
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients] = WeakKeyDictionary()
        self._prices = Prices(settings.model_prices)
        self._catalogue = Catalogue(settings, self._redactor)
        self._recorder = Recorder(settings, self._redactor)

    def check_model(self, name: str) -> None:
        """Raise what a call of this model would be refused with, without calling it."""
        parsed = parse_model_name(name)
        if parsed.provider == "scripted":
            script_named(parsed.model, self._settings)
        else:
            require_key(self._settings, parsed)

    def models(self, names: Mapping[Provider, Sequence[str]] = OFFERED) -> list[ModelInfo]:
        """What can be chosen: the scripts, and a first choice from every provider."""
        scripts = [
            self._model_info(ModelName("scripted", name)) for name in script_names(self._settings.scripts)
        ]
        return [
            self._model_info(ModelName(provider, model)) for provider, some in names.items() for model in some
        ] + scripts

    def context_window(self, name: str) -> int | None:
        """Tokens that a conversation with this model can have; None when unknown."""
        parsed = parse_model_name(name)
        return None if parsed.provider == "scripted" else context_window_of(name)

    async def listed_models(self) -> tuple[list[ModelInfo], list[str]]:
        """What can be chosen, as the providers with a key say themselves, and which could not be asked."""
        names, troubles = await self._catalogue.names(await self._http())
        return await asyncio.to_thread(self.models, names), troubles

    def needs(self) -> str:
        """What would make a real model usable; empty when one is."""
        if any(key_of(self._settings, provider) for provider in KEY_NAMES):
            return ""
        return f"For models beyond the scripted ones set {' or '.join(KEY_NAMES.values())}."

    async def prepare(self, name: str) -> None:
        """Import and build what a model needs, off the event loop, so that the first call is quick."""
        self.check_model(name)
        parsed = parse_model_name(name)
        if parsed.provider != "scripted":
            await self._built(parsed)

    async def stream(self, call: ModelCall) -> AsyncGenerator[str | Completion, None]:
        """Text as it comes, then the whole Completion as the last item. Close it when leaving early."""
        self.check_model(call.model)
        name = parse_model_name(call.model)
        model = await self._model_for(name, call)
        async with self._spending(call) as entry:
            started = time.perf_counter()
            deadline = asyncio.get_running_loop().time() + self._limits.call_seconds
            redacted = self._redactor.in_pieces()
            async with aclosing(model.stream(call.messages, call.instructions, call.tools)) as pieces:
                while True:
                    async with self._waiting(call.model, deadline):
                        piece = await anext(pieces, None)
                    if piece is None:
                        raise Internal(f"{call.model} ended without an answer", hint="Please report it.")
                    if isinstance(piece, AssistantMessage):
                        # Settled before it is handed on: the next call must find the sum in the ledger.
                        if rest := redacted.end():
                            yield rest
                        piece = self._clean(piece)
                        usage = await self._settled(call.model, entry, piece.tokens)
                        if call.account is not None and self._recorder.is_on:
                            asked = {"instructions": call.instructions, "messages": list(call.messages)}
                            await self._recorder.keep(call.account, call.messages, asked, piece)
                        yield Completion(piece, usage, time.perf_counter() - started)
                        return
                    if entry is not None:
                        # From the first chunk on the call may have to be paid for, even if the stream breaks.
                        entry.has_begun = True
                    if piece and (said := redacted.feed(piece)):
                        yield said

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        clients = self._clients.pop(asyncio.get_running_loop(), None)
        if clients is None:
            return
        if clients.http is not None:
            await clients.http.close()
        if clients.library is not None:
            await clients.library.aclose()

    @asynccontextmanager
    async def _spending(self, call: ModelCall) -> AsyncIterator[Entry | None]:
        if self._ledger is None or call.account is None:
            yield None
            return
        async with self._ledger.call(call.account, characters=_characters(call)) as entry:
            yield entry

    def _clean(self, message: AssistantMessage) -> AssistantMessage:
        """The message without the key, should a provider repeat it: tools carry arguments into sandboxes."""
        redact = self._redactor.redact
        text, arguments = redact(message.text), [redact(call.arguments) for call in message.calls]
        if text == message.text and arguments == [call.arguments for call in message.calls]:
            return message
        calls = map(lambda call, clean: replace(call, arguments=clean), message.calls, arguments)
        return replace(message, text=text, calls=tuple(calls))

    async def _settled(self, model: str, entry: Entry | None, tokens: Tokens) -> Usage:
        if entry is not None:
            return await entry.settle(tokens)
        return Usage(tokens.input, tokens.output, tokens.cache_read, self._prices.cost(model, tokens))

    @asynccontextmanager
    async def _waiting(self, model: str, deadline: float) -> AsyncIterator[None]:
        """Wait for the next piece: not for too long, and not beyond the end of the whole call."""
        silent_at = asyncio.get_running_loop().time() + self._limits.idle_seconds
        try:
            async with asyncio.timeout_at(min(silent_at, deadline)):
                yield
        except TimeoutError:
            if deadline <= silent_at:
                raise self._limits.too_long(model) from None
            raise self._limits.too_silent(model) from None

    async def _model_for(self, name: ModelName, call: ModelCall) -> Model:
        if name.provider != "scripted":
            return await self._built(name)
        from journeyman.gateway.scripted import ScriptedModel

        script = script_named(name.model, self._settings)
        return ScriptedModel(call.model, script, self._redactor, role=call.role, attempt=call.attempt)

    async def _built(self, name: ModelName) -> Model:
        models = self._clients_of_loop().models
        if name in models:
            return models[name]
        # The table of prices is read here because it, too, would hold up the loop when it is first used.
        await self._prices.looked_up(str(name))
        if name.provider == "openai":
            http, limits = await self._http(), self._limits
            return models.setdefault(name, chat_model(self._settings, name, http, limits, self._redactor))
        library = await self._library_client()
        model = await asyncio.to_thread(library_model, self._settings, name, library, self._redactor)
        return models.setdefault(name, model)

    async def _http(self) -> "HttpClient":
        clients = self._clients_of_loop()
        if clients.http is None:
            client = await asyncio.to_thread(load_http_client)
            clients.http = clients.http or client()
        return clients.http

    async def _library_client(self) -> "httpx2.AsyncClient":
        clients = self._clients_of_loop()
        if clients.library is None:
            made = await asyncio.to_thread(new_library_client, self._limits)
            clients.library = clients.library or made
        return clients.library

    def _clients_of_loop(self) -> _Clients:
        return self._clients.setdefault(asyncio.get_running_loop(), _Clients())

    def _model_info(self, name: ModelName) -> ModelInfo:
        price = self._prices.of(str(name))
        ready = name.provider == "scripted" or key_of(self._settings, name.provider) is not None
        return ModelInfo(
            str(name),
            name.provider,
            ready,
            "" if ready else f"Set {KEY_NAMES[name.provider]}.",
            None if name.provider == "scripted" else context_window_of(str(name)),
            price.input_usd if price else None,
            price.output_usd if price else None,
        )


def _characters(call: ModelCall) -> int:
    offered = sum(tool.characters for tool in call.tools)
    return characters_in(call.messages) + len(call.instructions) + offered
