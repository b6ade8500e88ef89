"""Who serves models: what each provider needs, and who speaks to it.

What speaks to a provider is imported when a model of it is first used: a library may take a second.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from journeyman.access.redaction import Redactor
from journeyman.errors import InvalidInput, Unauthenticated
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.messages import AssistantMessage, Message, ToolOffer
from journeyman.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from journeyman.gateway.http_client import HttpClient

Provider = Literal["openai", "anthropic", "google", "scripted"]

KEY_NAMES: dict[Provider, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
}

OFFERED: dict[Provider, tuple[str, ...]] = {
    "anthropic": ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-4-6"),
    "openai": ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.5", "gpt-5.4-mini"),
    "google": ("gemini-4-argon", "gemini-3.8-flash", "gemini-3.5-flash-lite"),
}
"""A first choice for people; any other model of a provider can be named too."""


class Model(Protocol):
    """A model at its provider, whatever the format that is spoken there."""

    def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        """Text as it comes, an empty piece whenever anything else came, and the whole message at the end.

        Raises one of our errors when there is no whole message.
        """
        ...


@dataclass(frozen=True)
class ModelName:
    provider: Provider
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse_model_name(name: str) -> ModelName:
    provider, separator, model = name.partition("/")
    known: tuple[Provider, ...] = get_args(Provider)
    for candidate in known:
        if provider == candidate and separator and model and not any(c.isspace() for c in model):
            return ModelName(candidate, model)
    raise InvalidInput(
        f"{name!r} is not the name of a model" if name else "no model is named",
        hint=f"Use provider/model with one of {', '.join(known)}; `jm models` lists what is ready.",
    )


def key_of(settings: Settings, provider: Provider) -> str | None:
    keys = {
        "openai": settings.openai_api_key,
        "anthropic": settings.anthropic_api_key,
        "google": settings.gemini_api_key,
    }
    secret = keys.get(provider)
    return secret.get_secret_value() if secret else None


def require_key(settings: Settings, name: ModelName) -> str:
    key = key_of(settings, name.provider)
    if not key:
        variable = KEY_NAMES[name.provider]
        raise Unauthenticated(
            f"{name} cannot be used: there is no key for {name.provider}",
            hint=f"Set {variable} in the environment of the server, or in journeyman.toml.",
        )
    return key


def base_url_of(settings: Settings, provider: Provider) -> str:
    """Where the provider is asked, without a slash at the end."""
    chosen = {
        "openai": settings.openai_base_url or "https://api.openai.com/v1",
        "anthropic": settings.anthropic_base_url or "https://api.anthropic.com",
        "google": settings.gemini_base_url or "https://generativelanguage.googleapis.com",
    }
    return chosen[provider].rstrip("/")


def key_header(provider: Provider, key: str) -> dict[str, str]:
    """Where each provider looks for its key."""
    if provider == "openai":
        return {"authorization": f"Bearer {key}"}
    return {"x-api-key": key} if provider == "anthropic" else {"x-goog-api-key": key}


def load_http_client() -> "type[HttpClient]":
    """Slow the first time, where it imports aiohttp."""
    from journeyman.gateway.http_client import HttpClient

    return HttpClient


def chat_model(
    settings: Settings, name: ModelName, http: "HttpClient", limits: CallLimits, redactor: Redactor
) -> Model:
    from journeyman.gateway.chat_model import ChatModel
    from journeyman.gateway.http_client import check_headers

    url = f"{base_url_of(settings, name.provider)}/chat/completions"
    key = key_header(name.provider, require_key(settings, name))
    headers = check_headers({**key, "content-type": "application/json"}, url)
    return ChatModel(name, url, headers, http, limits, redactor)


def library_model(
    settings: Settings, name: ModelName, http: "httpx2.AsyncClient", redactor: Redactor
) -> Model:
    """Slow the first time, where it imports the provider's library."""
    from journeyman.gateway.library import LibraryModel, anthropic_model, google_model

    key, base_url = require_key(settings, name), base_url_of(settings, name.provider)
    if name.provider == "anthropic":
        model = anthropic_model(name.model, base_url=base_url, key=key, http=http)
    else:
        model = google_model(name.model, base_url=base_url, key=key, http=http)
    return LibraryModel(str(name), model, redactor)


def new_library_client(limits: CallLimits) -> "httpx2.AsyncClient":
    """The client that the providers' libraries want to be given: one pool for all of them."""
    from journeyman.gateway.library import bounded_client

    return bounded_client(limits)
