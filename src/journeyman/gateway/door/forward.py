"""A call forwarded to the provider that it is meant for, with the key that the sandbox never sees.

What an agent sends is not trusted: the address comes from the settings, the model from its account, and
only headers that are named here go on, with a body that was made anew of known fields.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from journeyman.access.redaction import Redactor
from journeyman.errors import InvalidInput, Transient
from journeyman.gateway.door.calls import Call, OpenAnswer
from journeyman.gateway.faults import broken_call_error
from journeyman.gateway.providers import (
    ModelName,
    base_url_of,
    key_header,
    load_http_client,
    parse_model_name,
    require_key,
)
from journeyman.gateway.wires.base import SPOKEN, Wire
from journeyman.gateway.wires.formats import FORMATS
from journeyman.settings import Settings

if TYPE_CHECKING:
    from journeyman.gateway.http_client import HttpClient, HttpResponse

_FORWARDED = ("accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta")
_RETURNED = (
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


class Forwarder:
    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._http: HttpClient | None = None

    @asynccontextmanager
    async def answer(self, call: Call) -> AsyncIterator[OpenAnswer]:
        name = parse_model_name(call.account.model)
        check_wire(name, call.wire)
        http, url = await self._client(), _address(self._settings, name, call)
        headers = {key: call.headers[key] for key in _FORWARDED if key in call.headers}
        headers = {"content-type": "application/json", **headers, **_checked_key(self._settings, name, url)}
        body = _written(rewritten(name, call))
        async with AsyncExitStack() as opened:
            try:
                response = await opened.enter_async_context(http.request("POST", url, headers, body))
            except OSError as error:
                raise self._broken(call, error) from None
            returned = {key: response.headers[key] for key in _RETURNED if key in response.headers}
            yield OpenAnswer(response.status, returned, self._body(call, response))

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()

    async def _client(self) -> "HttpClient":
        if self._http is None:
            client = await asyncio.to_thread(load_http_client)
            self._http = self._http or client()
        return self._http

    async def _body(self, call: Call, response: "HttpResponse") -> AsyncGenerator[bytes, None]:
        try:
            while chunk := await response.read():
                yield chunk
        except OSError as error:
            raise self._broken(call, error) from None

    def _broken(self, call: Call, error: Exception) -> Transient:
        return broken_call_error(str(error), call.account.model, self._redactor)


def check_wire(name: ModelName, wire: Wire) -> None:
    spoken = SPOKEN[name.provider]
    if wire not in spoken:
        fitting = " or ".join(_AGENTS[each] for each in spoken)
        raise InvalidInput(
            f"{name} cannot be asked in {FORMATS[wire].title}: {name.provider} does not speak it",
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


def _written(body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:  # a number such as 1e999, which was read as infinite
        raise InvalidInput("the request holds a number that is too large", hint="Correct it.") from None


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


def _checked_key(settings: Settings, name: ModelName, url: str) -> Mapping[str, str]:
    from journeyman.gateway.http_client import check_headers

    return check_headers(key_header(name.provider, require_key(settings, name)), url)
