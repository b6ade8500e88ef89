"""A call passed on to the provider that it is meant for, with the key that the sandbox never sees.

What an agent sends is not trusted: the address comes from the settings, the model from its account, and
only headers that are named here go on, with a body that was made anew of known fields.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx2

from journeyman.access.redaction import Redactor
from journeyman.errors import InvalidInput, Transient
from journeyman.gateway.door.calls import Call, Opened
from journeyman.gateway.door.wires import SPOKEN, WORDS, Wire
from journeyman.gateway.faults import told_break
from journeyman.gateway.providers import (
    ModelName,
    base_url_of,
    new_http_client,
    parse_model_name,
    require_key,
)
from journeyman.settings import Settings

_PASSED_ON = ("accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta")
_PASSED_BACK = (
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "anthropic-ratelimit-unified-reset",
)
_AGENTS: dict[Wire, str] = {
    "chat": "OpenCode or the built-in agent",
    "responses": "Codex",
    "messages": "Claude Code",
    "generate": "Gemini",
}


class PassedOn:
    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._http = new_http_client()

    @asynccontextmanager
    async def answer(self, call: Call) -> AsyncIterator[Opened]:
        name = parse_model_name(call.account.model)
        check_wire(name, call.wire)
        headers = {key: call.headers[key] for key in _PASSED_ON if key in call.headers}
        # A compressed answer could not be read on its way, and would be held back in blocks.
        headers |= {"accept-encoding": "identity", **_key_header(name, require_key(self._settings, name))}
        request = self._http.build_request(
            "POST", _address(self._settings, name, call), headers=headers, json=rewritten(name, call)
        )
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise self._broken(call, error) from None
        try:
            kept = {key: response.headers[key] for key in _PASSED_BACK if key in response.headers}
            yield Opened(response.status_code, kept, self._body(call, response))
        finally:
            await response.aclose()

    async def close(self) -> None:
        await self._http.aclose()

    async def _body(self, call: Call, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in response.aiter_raw():
                yield chunk
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise self._broken(call, error) from None

    def _broken(self, call: Call, error: Exception) -> Transient:
        return told_break(str(error) or type(error).__name__, call.account.model, self._redactor)


def check_wire(name: ModelName, wire: Wire) -> None:
    spoken = SPOKEN[name.provider]
    if wire not in spoken:
        fitting = " or ".join(_AGENTS[each] for each in spoken)
        raise InvalidInput(
            f"{name} cannot be asked in {WORDS[wire]}: {name.provider} does not speak it",
            hint=f"Use {fitting} with {name.provider}'s models, or choose another model for this agent.",
        )


def rewritten(name: ModelName, call: Call) -> dict[str, Any]:
    """The request as it goes on: for the account's model, and with its tokens counted."""
    body = dict(call.body)
    if call.wire != "generate":
        body["model"] = name.model
    if call.wire == "chat" and call.is_stream:
        asked = body.get("stream_options")
        body["stream_options"] = {**(asked if isinstance(asked, dict) else {}), "include_usage": True}
    return body


def _address(settings: Settings, name: ModelName, call: Call) -> str:
    base = base_url_of(settings, name.provider)
    if name.provider == "openai":
        return f"{base}/{'responses' if call.wire == 'responses' else 'chat/completions'}"
    if name.provider == "anthropic":
        return f"{base}/v1/messages{'/count_tokens' if call.operation == 'count' else ''}"
    act = "streamGenerateContent" if call.is_stream else "generateContent"
    act = "countTokens" if call.operation == "count" else act
    events = "?alt=sse" if call.is_stream and call.as_events else ""
    return f"{base}/v1beta/models/{quote(name.model, safe='')}:{act}{events}"


def _key_header(name: ModelName, key: str) -> Mapping[str, str]:
    if name.provider == "openai":
        return {"authorization": f"Bearer {key}"}
    return {"x-api-key": key} if name.provider == "anthropic" else {"x-goog-api-key": key}
