"""HTTP to the servers of models, by aiohttp: streams of bytes, one pool of connections for an event loop.

Nothing is followed, decoded, remembered or tried again: no redirects, no cookies, no retries. Those who call
handle one kind of error: whatever breaks a connection before its response is complete raises ConnectionError.
How long a silent or an endless response is read is their decision too, see `limits.py`.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from journeyman.errors import InvalidSetting

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

_CONNECT_SECONDS = 15.0
_KEEP_ALIVE_SECONDS = 4.0
"""Many servers close a connection that is idle for 5 seconds, perhaps just when it would be used again."""
_MOST_CONNECTIONS = 1000
_HEADER_BYTES = 32_768


class HttpClient:
    """Belongs to the running event loop. Close it there."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=_MOST_CONNECTIONS, keepalive_timeout=_KEEP_ALIVE_SECONDS),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            # One client serves all orders: a cookie of one must not be sent with the calls of another.
            cookie_jar=aiohttp.DummyCookieJar(),
            # A compressed stream could not be read on its way, and would arrive in blocks.
            headers={"accept-encoding": "identity"},
            skip_auto_headers=("user-agent", "content-type"),
            auto_decompress=False,
            max_field_size=_HEADER_BYTES,
        )
        self._proxies: dict[tuple[str, str], str | None] = {}
        self._tls: ssl.SSLContext | None = None

    @asynccontextmanager
    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncIterator["HttpResponse"]:
        """Send a request; inside, its response can be read. Leaving before its end closes the connection."""
        target = urlsplit(url)
        proxy = self._proxy_for(target)
        is_encrypted = target.scheme == "https" or (proxy or "").startswith("https:")
        with _connection_errors():
            response = await self._session.request(
                method,
                # Credentials inside an address are not sent: the key of a provider goes into a header.
                target._replace(netloc=target.netloc.rpartition("@")[2]).geturl(),
                data=body,
                headers=headers,
                allow_redirects=False,
                proxy=proxy,
                ssl=await self._trusted() if is_encrypted else True,
            )
        try:
            yield HttpResponse(response)
        finally:
            if not response.content.is_eof():
                response.close()
            response.release()

    async def close(self) -> None:
        await self._session.close()

    async def _trusted(self) -> ssl.SSLContext:
        """The same roots as for all other servers that we speak to. Reading them takes a while."""
        import httpcore2

        if self._tls is None:
            self._tls = await asyncio.to_thread(httpcore2.default_ssl_context)
        return self._tls

    def _proxy_for(self, target: SplitResult) -> str | None:
        key = (target.scheme, target.hostname or "")
        if key not in self._proxies:
            self._proxies[key] = proxy_for(*key)
        return self._proxies[key]


class _Connector(aiohttp.TCPConnector):
    """Closes an idle connection on which a server sent anything, instead of using it again.

    aiohttp would take what came for the response to the next request, and from then on every call would get
    the answer of the call before, perhaps that of another order.
    """

    async def connect(
        self, req: aiohttp.ClientRequest, traces: "list[Trace]", timeout: aiohttp.ClientTimeout
    ) -> "Connection":
        while True:
            connection = await super().connect(req, traces, timeout)
            if connection.protocol is None or not connection.protocol.should_close:
                return connection
            connection.close()


class HttpResponse:
    """`status` and `headers`, their names in lower case; then `read` until there is no more."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self.size = 0
        """Bytes of the body that were read."""

    async def read(self) -> bytes:
        """What has come since the last time; nothing at the end of a complete response."""
        with _connection_errors():
            chunk = await self._content.readany()
        self.size += len(chunk)
        return chunk

    async def read_all(self, limit: int) -> bytes:
        """The body, or its beginning if there are more bytes than the limit."""
        chunks = []
        while self.size < limit and (chunk := await self.read()):
            chunks.append(chunk)
        return b"".join(chunks)[:limit]


def proxy_for(scheme: str, host: str) -> str | None:
    """The proxy that the machine's environment names for a server, as every program finds it there."""
    if proxy_bypass(host):
        return None
    named = getproxies()
    proxy = named.get(scheme) or named.get("all")
    if not proxy:
        return None
    parsed = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parsed.scheme not in ("http", "https"):
        raise InvalidSetting(
            f"the proxy for {host} is one of the kind {parsed.scheme}, which is not supported",
            hint="Name an HTTP proxy, or except the server by NO_PROXY.",
        )
    return parsed.geturl()


def check_headers(headers: Mapping[str, str], url: str) -> Mapping[str, str]:
    """The headers, if a request can have them. They are made from settings, which may hold anything."""
    for name, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise InvalidSetting(
                f"the header {name} to {urlsplit(url).hostname} has characters that no header can have",
                hint="Look for line breaks and odd characters in the provider's key and address.",
            )
    return headers


@contextmanager
def _connection_errors() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:  # a timeout while connecting is an OSError
        raise ConnectionError(str(error) or type(error).__name__) from error
