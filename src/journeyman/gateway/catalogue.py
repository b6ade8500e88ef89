"""Which models the configured providers have, as they say themselves.

They are asked at most every ten minutes, and never waited for long: a provider that does not answer is
represented by the models that are known to be worth a choice, and the list says so.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journeyman.access.redaction import Redactor
from journeyman.errors import JourneymanError
from journeyman.gateway.faults import broken_call_error, status_error
from journeyman.gateway.limits import LARGEST_ANSWER_BYTES
from journeyman.gateway.providers import OFFERED, Provider, base_url_of, key_header, key_of
from journeyman.settings import Settings

if TYPE_CHECKING:
    from journeyman.gateway.http_client import HttpClient

_FRESH_SECONDS = 600.0
_ANSWER_SECONDS = 5.0
_NOT_FOR_TALKING = re.compile(
    r"embed|tts|whisper|dall-e|moderation|realtime|audio|image|transcribe|sora|veo|imagen|aqa|live"
)
"""Providers list everything they have; an agent needs a model that it can talk to."""


class Catalogue:
    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._known: dict[Provider, tuple[float, tuple[str, ...]]] = {}

    async def names(self, http: "HttpClient") -> tuple[dict[Provider, tuple[str, ...]], list[str]]:
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

    async def _of(self, provider: Provider, http: "HttpClient") -> tuple[str, ...] | JourneymanError:
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

    async def _ask(self, provider: Provider, key: str, http: "HttpClient") -> tuple[str, ...]:
        from journeyman.gateway.http_client import check_headers

        base = base_url_of(self._settings, provider)
        address, headers = _question(provider, base, key)
        try:
            async with (
                asyncio.timeout(_ANSWER_SECONDS),
                http.request("GET", address, check_headers(headers, address)) as answer,
            ):
                body = await answer.read_all(LARGEST_ANSWER_BYTES)
        except OSError as error:  # a timeout is one
            raise broken_call_error(str(error) or "no answer", f"{provider}/…", self._redactor) from None
        if answer.status != 200:
            raise status_error(answer.status, answer.headers, body, f"{provider}/…", self._redactor)
        try:
            return _names(provider, json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise broken_call_error(
                "its list of models cannot be read", f"{provider}/…", self._redactor
            ) from None


def _question(provider: Provider, base: str, key: str) -> tuple[str, Mapping[str, str]]:
    headers = key_header(provider, key)
    if provider == "openai":
        return f"{base}/models", headers
    if provider == "anthropic":
        return f"{base}/v1/models?limit=1000", {**headers, "anthropic-version": "2023-06-01"}
    return f"{base}/v1beta/models?pageSize=1000", headers


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
