"""Who serves models: what each provider needs, and who speaks to it.

What speaks to a provider is imported when a model of it is first used: a library may take a second.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from journeyman.access.redaction import Redactor
from journeyman.errors import InvalidInput, Unauthenticated
from journeyman.gateway.messages import AssistantMessage, Message, ToolOffer
from journeyman.gateway.patience import Patience
from journeyman.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from journeyman.gateway.line import Line

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
        """Text as it comes, an empty piece for any other sign of life, and the whole message at the end.

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


def new_http_client(patience: Patience | None = None) -> "httpx2.AsyncClient":
    """One pool for all libraries, wide enough for every order at once. Without patience, its user counts."""
    import httpx2

    from journeyman.gateway.bounded import bounding

    return httpx2.AsyncClient(
        # The gateway itself watches for silence.
        timeout=httpx2.Timeout(None, connect=15),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
        event_hooks={"response": [bounding(patience)]} if patience else {},
    )


def chat_line(settings: Settings, name: ModelName) -> "Line":
    """The way to the server that speaks chat completions, for all of its models."""
    from journeyman.gateway.line import Line

    key, base_url = require_key(settings, name), base_url_of(settings, name.provider)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    return Line(f"{base_url}/chat/completions", headers)


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
