"""Requests that the proxy reads: to registries, whose TLS it ends, and by plain HTTP.

A registry is sent what we choose to send: a few headers by name, no body, and the credential of that host.
Bodies pass as they come; only an index that may name further hosts is kept until its end, and its last bytes
wait until the rules know those hosts, because the next request asks for one of them.
"""

import asyncio
import re
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from journeyman.environments.egress.addresses import AddressRefused, CheckedAddresses
from journeyman.environments.egress.links import is_worth_reading, linked_registries, redirected_registry
from journeyman.environments.egress.policy import EgressPolicy
from journeyman.environments.egress.rules import Registry, Scheme, parse_authority

_LARGEST_INDEX = 64_000_000
_REDIRECTS = (301, 302, 303, 307, 308)
_SENT_TO_REGISTRIES = (
    "accept",
    "accept-language",
    "cache-control",
    "if-range",
    "pragma",
    "range",
    "user-agent",
)
_CONDITIONS = ("if-none-match", "if-modified-since")
_HOP_BY_HOP = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    )
)
_KEPT_FROM_CLIENTS = frozenset({"set-cookie", "strict-transport-security", "alt-svc", "public-key-pins"})
_INDEXES = frozenset({"pypi", "npm", "cargo", "nuget", "composer"})


@dataclass(frozen=True)
class Origin:
    """Whom a connection was opened to."""

    host: str
    port: int
    scheme: Scheme

    @property
    def authorities(self) -> tuple[str, ...]:
        """What a client may write into its Host header."""
        is_default = self.port == (443 if self.scheme == "https" else 80)
        return (f"{self.host}:{self.port}", *((self.host,) if is_default else ()))


@dataclass(frozen=True)
class _Asked:
    origin: Origin
    path: str
    query: str

    @property
    def url(self) -> URL:
        target = f"{self.path}?{self.query}" if self.query else self.path
        return URL(f"{self.origin.scheme}://{self.origin.host}:{self.origin.port}{target}", encoded=True)


class RequestForwarder:
    def __init__(
        self,
        policy: EgressPolicy,
        addresses: CheckedAddresses,
        client: aiohttp.ClientSession,
        tls: ssl.SSLContext,
        upstream_proxy: str | None,
    ) -> None:
        self._policy = policy
        self._addresses = addresses
        self._client = client
        self._tls = tls
        self._upstream_proxy = upstream_proxy

    async def answer(self, request: web.BaseRequest, origin: Origin | None) -> web.StreamResponse:
        """Answer one request. Without an origin it came by plain HTTP and names its own."""
        asked = _read_target(request, origin)
        if asked is None:
            return refusal(400, "this request does not name one host in a plain way")
        decision = self._policy.decide(
            asked.origin.host,
            asked.origin.port,
            asked.origin.scheme,
            method=request.method,
            path=asked.path,
        )
        if decision.verdict == "denied":
            status = 405 if request.method not in ("GET", "HEAD") else 403
            return refusal(status, decision.reason)
        if decision.verdict == "registry":
            if request.can_read_body:
                return refusal(400, "a request to a registry has no body")
            registries = self._policy.rules.registries_at(
                asked.origin.host, asked.origin.port, asked.origin.scheme
            )
            return await self._pass(request, asked, self._registry_headers(request, registries), registries)
        return await self._pass(request, asked, _passed_on(request.headers), ())

    def _registry_headers(
        self, request: web.BaseRequest, registries: tuple[Registry, ...]
    ) -> CIMultiDict[str]:
        headers = CIMultiDict((n, request.headers[n]) for n in _SENT_TO_REGISTRIES if n in request.headers)
        if not _INDEXES & {one.kind for one in registries}:
            # The answer "not modified" would name no hosts.
            headers.update((name, request.headers[name]) for name in _CONDITIONS if name in request.headers)
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        headers["Accept-Encoding"] = "gzip" if takes_gzip else "identity"
        if (credential := self._policy.rules.credential_for(registries[0])) is not None:
            headers["Authorization"] = credential
        return headers

    async def _pass(
        self,
        request: web.BaseRequest,
        asked: _Asked,
        headers: CIMultiDict[str],
        registries: tuple[Registry, ...],
    ) -> web.StreamResponse:
        host = asked.origin.host
        try:
            async with self._asking(request, asked, headers) as answer:
                if registries:
                    self._follow_redirect(asked, registries, answer)
                return await self._relay(request, asked, registries, answer)
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, AddressRefused):
                return self._refuse_address(asked, error.os_error)
            return refusal(502, f"{host} cannot be reached: {_reason(error)}")
        except AddressRefused as error:
            return self._refuse_address(asked, error)
        except TimeoutError:
            return refusal(504, f"{host} does not answer")
        except (aiohttp.ClientError, OSError) as error:
            return refusal(502, f"{host} cannot be read: {_reason(error)}")

    @asynccontextmanager
    async def _asking(
        self, request: web.BaseRequest, asked: _Asked, headers: CIMultiDict[str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._upstream_proxy:
            await self._addresses.check_for_proxy(asked.origin.host, asked.origin.port)
        response = await self._client.request(
            request.method,
            asked.url,
            headers=headers,
            data=request.content if request.can_read_body else None,
            allow_redirects=False,
            proxy=self._upstream_proxy,
            ssl=self._tls,
        )
        try:
            yield response
        finally:
            if not response.content.is_eof():
                response.close()
            response.release()

    def _refuse_address(self, asked: _Asked, error: AddressRefused) -> web.Response:
        self._policy.deny(asked.origin.host, asked.origin.port, str(error))
        return refusal(403, str(error))

    def _follow_redirect(
        self, asked: _Asked, registries: tuple[Registry, ...], answer: aiohttp.ClientResponse
    ) -> None:
        if answer.status in _REDIRECTS and (location := answer.headers.get("location")):
            self._policy.widen(redirected_registry(registries, asked.path, asked.query, location))

    async def _relay(
        self,
        request: web.BaseRequest,
        asked: _Asked,
        registries: tuple[Registry, ...],
        answer: aiohttp.ClientResponse,
    ) -> web.StreamResponse:
        content_type = answer.headers.get("content-type", "")
        reads = answer.status == 200 and is_worth_reading(registries, asked.path, content_type)
        response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=_answered(answer))
        await response.prepare(request)
        kept, last = bytearray(), b""
        try:
            async for chunk in answer.content.iter_any():
                if not reads:
                    await response.write(chunk)
                    continue
                kept += chunk
                reads = len(kept) <= _LARGEST_INDEX
                await response.write(last)
                last = chunk
        except (aiohttp.ClientError, OSError):
            # Broken off on one side: the other must see that it is, and not a proper end.
            _abort(request)
            return response
        if reads and kept:
            body = _decoded(bytes(kept), answer.headers.get("content-encoding", ""))
            found = await asyncio.to_thread(linked_registries, registries, asked.path, content_type, body)
            self._policy.widen(found)
        await response.write(last)
        await response.write_eof()
        return response


def refusal(status: int, reason: str) -> web.Response:
    """An answer of our own. Most tools print the reason of the status line, and no body."""
    sentence = f"Journeyman: {reason}"
    phrase = sentence.encode("ascii", "replace").decode().replace("\r", " ").replace("\n", " ")[:500]
    response = web.Response(status=status, reason=phrase, text=f"{sentence}\n")
    response.force_close()
    return response


def _read_target(request: web.BaseRequest, origin: Origin | None) -> _Asked | None:
    """Whom and what a request asks for, if all of its parts say the same."""
    raw = request.raw_path
    if request.version < (1, 0) or not raw.isascii() or not raw.isprintable() or " " in raw or "#" in raw:
        return None
    if not raw.startswith("/"):
        scheme: Scheme = origin.scheme if origin else "http"
        written, _, rest = raw.partition("://")
        netloc = re.split("[/?]", rest, maxsplit=1)[0]
        authority = parse_authority(netloc, 443 if scheme == "https" else 80)
        if written.lower() != scheme or authority is None:
            return None
        named = Origin(*authority, scheme)
        if origin is not None and named != origin:
            return None
        origin, raw = named, rest[len(netloc) :] or "/"
    if origin is None or not raw.startswith("/"):
        return None
    hosts = [host.lower() for host in request.headers.getall("host", [])]
    if hosts not in [[authority] for authority in origin.authorities]:
        return None
    path, _, query = raw.partition("?")
    return _Asked(origin, path, query)


def _passed_on(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    named = {one.strip().lower() for one in headers.get("connection", "").split(",")}
    dropped = _HOP_BY_HOP | named | {"host", "content-length"}
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in dropped)


def _answered(answer: aiohttp.ClientResponse) -> CIMultiDict[str]:
    named = {one.strip().lower() for one in answer.headers.get("connection", "").split(",")}
    dropped = _HOP_BY_HOP | _KEPT_FROM_CLIENTS | named
    return CIMultiDict((name, value) for name, value in answer.headers.items() if name.lower() not in dropped)


def _decoded(body: bytes, encoding: str) -> bytes:
    """The content of an answer; empty where it cannot be read or unpacks to too much."""
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip"):
        return b""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(body, _LARGEST_INDEX)
    except zlib.error:
        return b""
    return content if not unpacker.unconsumed_tail else b""


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def _reason(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted ({error.certificate_error})"
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
