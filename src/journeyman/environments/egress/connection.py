"""One connection from inside a sandbox: what it asks for first decides how it goes on.

`CONNECT` to a registry: TLS is ended here and the requests inside are read. `CONNECT` to a host that people
allowed: bytes pass unread, once the client's first message has named the same host. Anything else is a
request by plain HTTP.
"""

import asyncio
import contextlib
import socket
import ssl
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from urllib.parse import SplitResult

import h11
from aiohttp import web

from journeyman.environments.egress.addresses import AddressRefused, CheckedAddresses, connect_by_proxy
from journeyman.environments.egress.certificates import CertificateAuthority
from journeyman.environments.egress.client_hello import LARGEST_CLIENT_HELLO, NotTls, read_server_name
from journeyman.environments.egress.forward import Origin, RequestForwarder
from journeyman.environments.egress.policy import EgressPolicy
from journeyman.environments.egress.rules import parse_authority
from journeyman.environments.egress.tunnel import Preface, TunnelEnd, join

_LARGEST_HEAD = 65_536
_LARGEST_FIELD = 32_768
_FIRST_SECONDS = 30.0
"""For a client to say what it wants, and to agree on TLS."""
_SEND_BUFFER = 1_048_576
"""What is encrypted at once fits into it: the rest would be copied and sent in a second go."""
_KEEP_ALIVE_SECONDS = 120.0
_MOST_CONNECTIONS = 512


@dataclass(frozen=True)
class Outside:
    """How hosts are reached."""

    addresses: CheckedAddresses
    upstream_proxy: SplitResult | None


class ConnectionServer:
    """Serves the connections of one sandbox."""

    def __init__(
        self,
        policy: EgressPolicy,
        outside: Outside,
        authority: CertificateAuthority,
        forwarder: RequestForwarder,
    ) -> None:
        self._policy = policy
        self._outside = outside
        self._authority = authority
        self._forwarder = forwarder
        self._servers: dict[Origin | None, web.Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._transports: set[asyncio.Transport] = set()

    def protocol(self) -> asyncio.Protocol:
        return _Accepted(self)

    def accept(self, client: Preface) -> None:
        assert client.transport is not None
        self._transports = {one for one in self._transports if not one.is_closing()}
        if len(self._transports) >= _MOST_CONNECTIONS:
            client.transport.write(_head(503, f"more than {_MOST_CONNECTIONS} connections at once"))
            client.transport.close()
            return
        self._transports.add(client.transport)
        task = asyncio.create_task(self._serve(client, client.transport))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        for transport in self._transports:
            transport.abort()
        for server in self._servers.values():
            await server.shutdown(0)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, client: Preface, transport: asyncio.Transport) -> None:
        try:
            async with asyncio.timeout(_FIRST_SECONDS):
                request = await _read_head(client)
            if request is None:
                _refuse(transport, 431, "these headers are too large")
            elif request.method != b"CONNECT":
                self._read_requests(client, transport, None)
            else:
                await self._connect(client, transport, request.target.decode("ascii", "replace"))
        except h11.RemoteProtocolError:
            _refuse(transport, 400, "this is not a request to an HTTP proxy")
        except (OSError, ssl.SSLError):  # a client that goes away, is silent, or does not trust us
            transport.abort()

    async def _connect(self, client: Preface, transport: asyncio.Transport, target: str) -> None:
        parsed = parse_authority(target)
        if parsed is None or client.received:
            # A client that sends more before it has an answer wants two readers to read it differently.
            _refuse(transport, 400, f"{target[:100]} is not a host and a port")
            return
        host, port = parsed
        decision = self._policy.decide(host, port, "https")
        if decision.verdict == "denied":
            _refuse(transport, 403, decision.reason)
        elif decision.verdict == "registry":
            await self._end_tls(transport, Origin(host, port, "https"))
        else:
            await self._tunnel(client, transport, host, port)

    async def _end_tls(self, transport: asyncio.Transport, origin: Origin) -> None:
        """Answer as the registry, with a certificate that only this sandbox's programs trust."""
        context = self._authority.context_for(origin.host)
        transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        # Requests can arrive with the end of the handshake, before it is known here that it has ended.
        first = Preface(_LARGEST_HEAD)
        loop = asyncio.get_running_loop()
        encrypted = await loop.start_tls(
            transport, first, context, server_side=True, ssl_handshake_timeout=_FIRST_SECONDS
        )
        assert encrypted is not None
        self._read_requests(first, encrypted, origin)

    def _read_requests(self, first: Preface, transport: asyncio.Transport, origin: Origin | None) -> None:
        if origin not in self._servers:
            self._servers[origin] = web.Server(
                partial(self._forwarder.answer, origin=origin),
                handler_cancellation=True,
                access_log=None,
                tcp_keepalive=False,
                keepalive_timeout=_KEEP_ALIVE_SECONDS,
                max_line_size=_LARGEST_FIELD,
                max_field_size=_LARGEST_FIELD,
                lingering_time=0,
            )
        first.hand_over(transport, self._servers[origin]())

    async def _tunnel(self, client: Preface, transport: asyncio.Transport, host: str, port: int) -> None:
        try:
            if self._outside.upstream_proxy is None:
                connection = await self._outside.addresses.connect(host, port)
            else:
                await self._outside.addresses.check_for_proxy(host, port)
                connection = await connect_by_proxy(self._outside.upstream_proxy, host, port)
        except AddressRefused as error:
            self._policy.deny(host, port, str(error))
            _refuse(transport, 403, str(error))
            return
        except OSError as error:
            _refuse(transport, 502, f"{host} cannot be reached: {error.strerror or error or 'no answer'}")
            return
        with contextlib.ExitStack() as until_joined:
            until_joined.callback(connection.close)
            transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            transport.resume_reading()
            if not await self._names(client, host, port):
                transport.abort()
                return
            until_joined.pop_all()
        transport.pause_reading()
        inner, outer = TunnelEnd(), TunnelEnd()
        join(inner, outer)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: outer, sock=connection)
        client.hand_over(transport, inner)

    async def _names(self, client: Preface, host: str, port: int) -> bool:
        """Whether the client's first message asks for the host that the tunnel is for."""
        asked = None
        try:
            async with asyncio.timeout(_FIRST_SECONDS):
                while asked is None and len(client.received) < LARGEST_CLIENT_HELLO:
                    await client.more()
                    asked = read_server_name(bytes(client.received))
        except NotTls:
            pass
        if asked is not None and asked.host == host:
            return True
        said = f"asks for {asked.host or 'no host'}" if asked is not None else "does not speak TLS"
        self._policy.deny(host, port, f"a connection to {host} {said}: it must ask for the host it names")
        return False


class _Accepted(Preface):
    def __init__(self, server: ConnectionServer) -> None:
        super().__init__(_LARGEST_HEAD)
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        self._server.accept(self)


async def _read_head(client: Preface) -> h11.Request | None:
    """The first request. Of a CONNECT everything is taken; another is left to be read again."""
    assert client.transport is not None
    while b"\r\n\r\n" not in client.received:
        if client.is_full:
            return None
        await client.more()
    client.transport.pause_reading()
    end = client.received.index(b"\r\n\r\n") + 4
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)
    parser.receive_data(bytes(client.received[:end]))
    request = parser.next_event()
    if not isinstance(request, h11.Request):
        raise h11.RemoteProtocolError("not a request")
    if request.method == b"CONNECT":
        del client.received[:end]
    return request


def _refuse(transport: asyncio.Transport, status: int, reason: str) -> None:
    transport.write(_head(status, reason))
    transport.close()


def _head(status: int, reason: str) -> bytes:
    """An answer to a CONNECT. Most tools print the status line of it, and nothing else."""
    sentence = f"{HTTPStatus(status).phrase}. Journeyman: {reason}".replace("\r", " ").replace("\n", " ")
    phrase = sentence.encode("ascii", "replace")[:600]
    body = phrase + b"\n"
    return (
        b"HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
        % (status, phrase, len(body), body)
    )
