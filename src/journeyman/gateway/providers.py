"""Who serves models: what each provider needs, and how its client is built.

Provider libraries take seconds to import, so they are imported when a model is first used. Their
own retries are switched off: ours are visible to the person who waits.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from journeyman.errors import InvalidInput, Unauthenticated
from journeyman.settings import Settings

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

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

_ANTHROPIC_OUTPUT_TOKENS = 16_000
"""Anthropic wants a limit on every call; the library's own default cuts long files in two."""


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


def new_http_client(settings: Settings) -> "httpx2.AsyncClient":
    """One pool for all providers, wide enough for every order at once."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(settings.model_idle_timeout_seconds, connect=15),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
    )


def build_model(settings: Settings, name: ModelName, http: "httpx2.AsyncClient") -> "Model[Any]":
    """The library's model object. Slow the first time, because it imports the provider's library."""
    key = require_key(settings, name)
    if name.provider == "openai":
        return _openai(settings, name.model, key, http)
    if name.provider == "anthropic":
        return _anthropic(settings, name.model, key, http)
    return _google(settings, name.model, key, http)


def _openai(settings: Settings, model: str, key: str, http: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    from journeyman.gateway.openai_chat import openai_client

    base_url = settings.openai_base_url or "https://api.openai.com/v1"
    client = openai_client(key, base_url, http)
    ours = OpenAIModelProfile(
        # A stream that ends in good order but gives no reason was cut by something in between.
        openai_chat_streaming_requires_finish_reason=True,
        # Our tools' schemas are plain already; they would be copied and walked through at every call.
        json_schema_transformer=None,
    )
    profile = merge_profile(OpenAIProvider.model_profile(model), ours)
    return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client), profile=profile)


def _anthropic(settings: Settings, model: str, key: str, http: "httpx2.AsyncClient") -> "Model[Any]":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    base_url = settings.anthropic_base_url or "https://api.anthropic.com"
    client = AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0, http_client=http)
    # The history is sent again with every call: without the cache it is paid for in full every time.
    cached = AnthropicModelSettings(
        max_tokens=_ANTHROPIC_OUTPUT_TOKENS, anthropic_cache_messages=True, anthropic_cache_instructions=True
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client), settings=cached)


def _google(settings: Settings, model: str, key: str, http: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    base_url = settings.gemini_base_url or "https://generativelanguage.googleapis.com"
    return GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=base_url, http_client=http))
