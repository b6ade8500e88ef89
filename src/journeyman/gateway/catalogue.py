"""Which models the configured providers have, as they say themselves.

They are asked at most every ten minutes, and never waited for long: a provider that does not answer is
represented by the models that are known to be worth a choice, and the list says so.
"""

import asyncio
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journeyman.access.redaction import Redactor
from journeyman.errors import JourneymanError
from journeyman.gateway.faults import told_break, told_status
from journeyman.gateway.providers import OFFERED, Provider, base_url_of, key_of
from journeyman.settings import Settings

if TYPE_CHECKING:
    import httpx2

_FRESH_SECONDS = 600.0
_PATIENCE_SECONDS = 5.0
_NOT_FOR_TALKING = re.compile(
    r"embed|tts|whisper|dall-e|moderation|realtime|audio|image|transcribe|sora|veo|imagen|aqa|live"
)
"""Providers list everything they have; an agent needs a model that it can talk to."""


class Catalogue:
    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._known: dict[Provider, tuple[float, tuple[str, ...]]] = {}

    async def names(self, http: "httpx2.AsyncClient") -> tuple[dict[Provider, tuple[str, ...]], list[str]]:
        """The models of every provider, and a sentence for each that has a key and could not be asked."""
        answers = await asyncio.gather(*(self._of(provider, http) for provider in OFFERED))
        names: dict[Provider, tuple[str, ...]] = {}
        troubles = []
        for provider, answer in zip(OFFERED, answers, strict=True):
            if isinstance(answer, JourneymanError):
                troubles.append(f"{answer.message}; what is listed of {provider} is a first choice")
                answer = OFFERED[provider]
            names[provider] = answer
        return names, troubles

    async def _of(self, provider: Provider, http: "httpx2.AsyncClient") -> tuple[str, ...] | JourneymanError:
        key = key_of(self._settings, provider)
        if not key:
            return OFFERED[provider]
        asked_at, known = self._known.get(provider, (0.0, ()))
        if known and time.monotonic() - asked_at < _FRESH_SECONDS:
            return known
        try:
            found = await self._ask(provider, key, http)
        except JourneymanError as error:
            return known or error
        if found:
            self._known[provider] = (time.monotonic(), found)
        return found or OFFERED[provider]

    async def _ask(self, provider: Provider, key: str, http: "httpx2.AsyncClient") -> tuple[str, ...]:
        import httpx2

        base = base_url_of(self._settings, provider)
        address, headers = _question(provider, base, key)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                answer = await http.get(address, headers=headers)
        except (httpx2.HTTPError, httpx2.StreamError, TimeoutError) as error:
            raise told_break(str(error) or "no answer", f"{provider}/…", self._redactor) from None
        if answer.status_code != 200:
            raise told_status(
                answer.status_code, answer.headers, answer.content, f"{provider}/…", self._redactor
            )
        try:
            return _names(provider, answer.json())
        except (ValueError, KeyError, TypeError, AttributeError):
            raise told_break("its list of models cannot be read", f"{provider}/…", self._redactor) from None


def _question(provider: Provider, base: str, key: str) -> tuple[str, Mapping[str, str]]:
    if provider == "openai":
        return f"{base}/models", {"authorization": f"Bearer {key}"}
    if provider == "anthropic":
        return f"{base}/v1/models?limit=1000", {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return f"{base}/v1beta/models?pageSize=1000", {"x-goog-api-key": key}


def _names(provider: Provider, body: Any) -> tuple[str, ...]:
    if provider == "google":
        found = [
            model["name"].removeprefix("models/")
            for model in body["models"]
            if "generateContent" in model.get("supportedGenerationMethods", ["generateContent"])
        ]
    else:
        found = [model["id"] for model in body["data"]]
    return tuple(sorted(name for name in found if not _NOT_FOR_TALKING.search(name)))
