"""HTTP to one server, for answers that stream: as little as a call of a model needs, and parsed in C.

A client for everything spends more on each call than all else that happens between two of them. Nothing is
followed, decoded or tried again here: what comes back is bytes, and a connection that was closed before its
answer was whole raises an OSError.
"""

import asyncio
import base64
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httptools

from journeyman.errors import InvalidSetting

_CONNECT_SECONDS = 15.0
_KEPT_SECONDS = 5.0
"""For the next call; servers close what is unused for longer, perhaps just when it is used again."""
_MOST_CONNECTIONS = 1000
_MOST_KEPT = 100
_UNREAD_BYTES = 256_000
"""Above this the server has to wait for whoever reads its answer."""
_HEAD_BYTES = 256_000


class Line:
    """Belongs to the event loop that it is used in."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._to = urlsplit(url)
        self._proxy = _proxy_for(self._to)
        self._head = _head(self._to, self._proxy, headers)
        self._tls = _trust() if "https" in (self._to.scheme, self._proxy and self._proxy.scheme) else None
        self._room = asyncio.Semaphore(_MOST_CONNECTIONS)
        self._kept: list[Connection] = []

    @asynccontextmanager
    async def post(self, body: bytes) -> AsyncIterator["Connection"]:
        """Send a request; inside, its answer can be read. One that was not read whole is broken off."""
        async with self._room:
            connection = self._newest_kept() or await self._connect()
            try:
                await connection.ask(b"%scontent-length: %d\r\n\r\n%s" % (self._head, len(body), body))
                yield connection
            finally:
                self._keep_or_end(connection)

    def close(self) -> None:
        while self._kept:
            self._kept.pop().end()

    def _newest_kept(self) -> "Connection | None":
        while self._kept:
            connection = self._kept.pop()
            if connection.is_reusable and time.monotonic() - connection.kept_at < _KEPT_SECONDS:
                return connection
            connection.end()
        return None

    def _keep_or_end(self, connection: "Connection") -> None:
        now = time.monotonic()
        if connection.is_reusable:
            connection.kept_at = now
            self._kept.append(connection)
        else:
            connection.end()
        # The one at the front has waited longest. One for each call is enough for none to pile up.
        if self._kept and (len(self._kept) > _MOST_KEPT or now - self._kept[0].kept_at > _KEPT_SECONDS):
            self._kept.pop(0).end()

    async def _connect(self) -> "Connection":
        first = self._proxy or self._to
        async with asyncio.timeout(_CONNECT_SECONDS):
            connection = await self._connect_to(first)
            if self._proxy is None or self._to.scheme == "http":
                return connection
            try:
                return await self._tunnel(connection, self._proxy)
            except BaseException:
                connection.end()
                raise

    async def _connect_to(self, address: SplitResult) -> "Connection":
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection,
            address.hostname or "",
            _port(address),
            ssl=self._tls if address.scheme == "https" else None,
            happy_eyeballs_delay=0.25,
        )
        return connection

    async def _tunnel(self, connection: "Connection", proxy: SplitResult) -> "Connection":
        """The same connection, led through the proxy and encrypted to its end."""
        target = f"{_host(self._to)}:{_port(self._to)}"
        head = f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{_proxy_login(proxy)}\r\n"
        await connection.ask(head.encode())
        if connection.status != 200:
            raise ConnectionError(f"the proxy answered {connection.status}")
        assert self._tls is not None
        loop, inner = asyncio.get_running_loop(), Connection()
        transport = await loop.start_tls(
            connection.transport, inner, self._tls, server_hostname=self._to.hostname
        )
        assert transport is not None
        inner.connection_made(transport)
        return inner


class Connection(asyncio.Protocol):
    """A connection, with one answer at a time: `status` and `headers`, then `read` until there is no more."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.kept_at = 0.0
        self.status = 0
        self.headers: dict[str, str] = {}
        self.size = 0
        """Bytes of the answer that have come, read or not."""
        self._parser: httptools.HttpResponseParser | None = None
        self._is_open = True
        self._unread: list[bytes] = []
        self._unread_bytes = 0
        self._head_bytes = 0
        self._is_headed = self._is_whole = self._is_paused = self._stays = False
        self._broken: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_reusable(self) -> bool:
        return (
            self._is_open
            and self._is_whole
            and self._broken is None
            and self._stays
            and not self.transport.is_closing()
        )

    async def ask(self, request: bytes) -> None:
        """Send a request, and wait until its answer begins."""
        self.status, self.headers, self.size, self._head_bytes = 0, {}, 0, 0
        self._is_headed = self._is_whole = False
        self._parser = httptools.HttpResponseParser(self)
        self.transport.write(request)
        while not self._is_headed:
            await self._news()

    async def read(self) -> bytes:
        """What has come since the last time; nothing when the answer is whole."""
        while not self._unread:
            if self._is_whole:
                return b""
            await self._news()
        come = b"".join(self._unread)
        self._unread.clear()
        self._unread_bytes = 0
        if self._is_paused:
            self._is_paused = False
            self.transport.resume_reading()
        return come

    def end(self) -> None:
        # Not politely: a server that is still speaking has nobody left to speak to.
        self.transport.abort()

    async def _news(self) -> None:
        if self._broken is not None:
            raise self._broken
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def _tell(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _break(self, error: Exception) -> None:
        self._broken = self._broken or error
        self.transport.abort()
        self._tell()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._parser is None or self._is_whole:
            self._break(ConnectionError("the server said something that nobody asked for"))
            return
        if not self._is_headed:
            if self._head_bytes > _HEAD_BYTES:
                self._break(ConnectionError("the answer has too long a head"))
                return
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._break(ConnectionError(f"not an HTTP answer: {error}"))
        self._tell()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_open = False
        has_length = not {"content-length", "transfer-encoding"}.isdisjoint(self.headers)
        if error is None and self._is_headed and not has_length and self._broken is None:
            self._is_whole = True  # its end is how such an answer says that it is over
        elif not self._is_whole:
            self._broken = self._broken or error or ConnectionError("the server closed the connection")
        self._tell()

    # What the parser calls; what is raised here comes back as an error of its own.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise ConnectionError("the server answered twice")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_headed:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        self.status = self._parser.get_status_code()
        if self.status < 200:  # only says that an answer will come
            self.headers.clear()
            return
        self._is_headed = True
        self._stays = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._unread.append(body)
        self._unread_bytes += len(body)
        self.size += len(body)
        if self._unread_bytes > _UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()

    def on_message_complete(self) -> None:
        self._is_whole = self._is_headed


def _head(to: SplitResult, proxy: SplitResult | None, headers: Mapping[str, str]) -> bytes:
    """A request up to its length."""
    target, login = quote(to.path, safe="/%:@!$&'()*+,;=~"), ""
    if proxy is not None and to.scheme == "http":
        target, login = f"http://{to.netloc.rpartition('@')[2]}{target}", _proxy_login(proxy)
    host = _host(to) if to.port is None else f"{_host(to)}:{to.port}"
    fields = {"host": host, "accept": "*/*", "accept-encoding": "identity", **headers}
    for name, value in fields.items():
        if not value.isascii() or not value.isprintable():
            raise InvalidSetting(
                f"the header {name} to {to.hostname} would have characters that no header can have",
                hint="Look for line breaks and odd characters in the provider's key and address.",
            )
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {target} HTTP/1.1\r\n{lines}{login}".encode("ascii")


def _host(address: SplitResult) -> str:
    host = address.hostname or ""
    return f"[{host}]" if ":" in host else host.encode("idna").decode()


def _port(address: SplitResult) -> int:
    return address.port or (443 if address.scheme == "https" else 80)


def _proxy_for(to: SplitResult) -> SplitResult | None:
    """The machine's proxy for a server, named as every program is told of it."""
    if proxy_bypass(to.hostname or ""):
        return None
    named = getproxies()
    proxy = named.get(to.scheme) or named.get("all")
    if not proxy:
        return None
    parsed = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parsed.scheme not in ("http", "https"):
        raise InvalidSetting(
            f"the proxy for {to.hostname} is one of the kind {parsed.scheme}, which is not supported",
            hint="Name an HTTP proxy, or except the server by NO_PROXY.",
        )
    return parsed


def _proxy_login(proxy: SplitResult) -> str:
    if proxy.username is None:
        return ""
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return f"proxy-authorization: Basic {base64.b64encode(login).decode()}\r\n"


def _trust() -> ssl.SSLContext:
    # The same roots as for all other servers that we speak to.
    import httpx2

    return httpx2.create_ssl_context()
