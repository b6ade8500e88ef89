"""What a program in a sandbox tries in order to get out, or to bring something out."""

import asyncio
import contextlib
import ssl
from collections.abc import Sequence

import pytest

from journeyman.environments.egress.client_hello import NotTls, ServerName, read_server_name
from journeyman.environments.egress.proxy import EgressProxy
from journeyman.environments.egress.rules import Denial, EgressRules, Registry
from journeyman.settings import Settings
from tests.environments.egress.standins import NAMES, Inside, StandIn, exchange, inside


def _rules(outside: StandIn, *hosts: str) -> EgressRules:
    return EgressRules(registries=(outside.registry(),), hosts=hosts, private_hosts=frozenset(NAMES))


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:443",
        "2130706433:443",
        "0x7f000001:443",
        "[::1]:443",
        "[::ffff:127.0.0.1]:443",
        "169.254.169.254:80",
        "registry.example:22",
        "registry.example.:443",
        "registry.example@evil.example:443",
        "evil.example:443",
        "localhost:443",
        "registry.example",
        "/etc/passwd",
        "http://registry.example/",
    ],
)
async def test_a_connect_to_anything_else_is_refused(
    settings: Settings, outside: StandIn, target: str
) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        answer, _, writer = await client.connect(target)
        writer.close()
    assert answer.status in (400, 403)
    assert not any(one.may_be_allowed for one in client.denials if one.host[0] in "0123456789[")


async def test_a_tunnel_must_ask_for_the_host_it_names(settings: Settings, outside: StandIn) -> None:
    """Domain fronting: the connection is for one host, what is said in it for another."""
    target = f"allowed.example:{outside.tls_port}"
    async with inside(settings, outside, _rules(outside, target)) as client:
        with pytest.raises((ssl.SSLError, OSError)):
            await client.tls("allowed.example", outside.tls_port, server_hostname="evil.example")
    assert outside.requests == []
    assert "asks for evil.example" in client.denials[0].reason
    assert not client.denials[0].may_be_allowed


@pytest.mark.parametrize(
    "sent", [b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"\x16\x03\x01\xff"]
)
async def test_a_tunnel_carries_tls_and_nothing_else(
    settings: Settings, outside: StandIn, sent: bytes
) -> None:
    target = f"allowed.example:{outside.tls_port}"
    async with inside(settings, outside, _rules(outside, target)) as client:
        _, reader, writer = await client.connect(target)
        writer.write(sent)
        writer.write_eof()
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
    assert outside.requests == []


async def test_a_host_with_a_private_address_is_not_reached(settings: Settings, outside: StandIn) -> None:
    registry = outside.registry()
    rules = EgressRules(registries=(registry,), hosts=(f"allowed.example:{outside.tls_port}",))
    async with inside(settings, outside, rules) as client:
        asked = await client.ask(registry, "/package")
        tunnel, *_ = await client.connect(f"allowed.example:{outside.tls_port}")
    assert (asked.status, tunnel.status) == (403, 403)
    assert "127.0.0.1" in asked.reason
    assert [(one.host, one.may_be_allowed) for one in client.denials] == [
        ("registry.example", False),
        ("allowed.example", False),
    ]
    assert outside.requests == []


async def test_a_name_that_is_bound_to_the_inside_reaches_nothing(
    settings: Settings, outside: StandIn
) -> None:
    answers = iter([["::ffff:127.0.0.1"], ["203.0.113.1", "127.0.0.1"]])

    async def rebinding(_: str, __: int) -> Sequence[str]:
        return next(answers)

    denials: list[Denial] = []
    trusting = settings.model_copy(update={"registry_ca_file": outside.ca_file})
    async with EgressProxy(trusting, resolve_name=rebinding) as proxy:
        session = await proxy.open(EgressRules(registries=(outside.registry(),)), denials.append)
        client = Inside(session, denials)
        statuses = [(await client.ask(outside.registry(), "/echo")).status for _ in range(2)]
    assert statuses == [403, 403]
    assert outside.requests == []


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"])
async def test_nothing_is_published(settings: Settings, outside: StandIn, method: str) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        host = f"registry.example:{outside.tls_port}"
        target = "/echo" if method != "CONNECT" else host
        writer.write(
            f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 7\r\n\r\nprivate".encode()
        )
        answer = await reader.read()
        writer.close()
    assert answer.startswith((b"HTTP/1.1 405", b"HTTP/1.1 400"))
    assert outside.requests == []


@pytest.mark.parametrize(
    "head",
    [
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nContent-Length: 7\r\n\r\nprivate",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nprivate\r\n0\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
        "GET /echo HTTP/1.1\r\n\r\n",
        "GET https://evil.example/echo HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET http://{host}/echo HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET https://user@{host}/echo HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET //evil.example/echo HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET echo HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET /echo\r\nHost: {host}\r\n\r\n",
        "GET /e\tcho HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost : {host}\r\n\r\n",
        "GET /echo HTTP/1.1\nHost: {host}\n\n",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\n folded\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: {host}\r\nX: " + "x" * 200_000 + "\r\n\r\n",
        "GET /" + "x" * 200_000 + " HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ],
)
async def test_a_request_that_two_readers_could_read_differently_is_refused(
    settings: Settings, outside: StandIn, head: str
) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        writer.write(head.replace("{host}", f"registry.example:{outside.tls_port}").encode())
        answer = b""
        try:
            async with asyncio.timeout(10):
                answer = await reader.read()
        except OSError:
            pass  # closed while we were still sending
        writer.close()
    assert not answer.startswith(b"HTTP/1.1 200"), answer
    assert outside.requests == []


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: registry.example\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET http://registry.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET https://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n\r\n",
        b"GET ftp://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n\r\n",
        b"GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
        b"GET http://[::1]/ HTTP/1.1\r\nHost: [::1]\r\n\r\n",
        b"CONNECT registry.example:443 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"CONNECT registry.example:443 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"GET " + b"x" * 100_000,
        b"CONNECT registry.example:443 HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    ],
)
async def test_a_strange_first_request_is_refused(settings: Settings, outside: StandIn, sent: bytes) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        async with asyncio.timeout(10):
            try:
                answer = await client.raw(sent)
            except ConnectionError:
                answer = b""
    assert not answer.startswith(b"HTTP/1.1 200"), answer
    assert outside.requests == []


async def test_requests_behind_a_connect_inside_tls_reach_nobody(
    settings: Settings, outside: StandIn
) -> None:
    host = f"registry.example:{outside.tls_port}"
    async with inside(settings, outside, _rules(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        writer.write(f"CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        writer.write(f"PUT /echo HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
    assert not answer.startswith(b"HTTP/1.1 200")
    assert outside.requests == []


async def test_headers_of_a_registry_have_a_limit(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        answer = await client.ask(outside.registry(), "/large-header")
    assert answer.status == 502


async def test_a_program_that_tries_every_host_is_not_reported_without_end(
    settings: Settings, outside: StandIn
) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        for number in range(600):
            await client.connect(f"h{number}.example:443")
    assert len(client.denials) == 500


async def test_sessions_do_not_share_what_they_learned(settings: Settings, outside: StandIn) -> None:
    trusting = settings.model_copy(update={"registry_ca_file": outside.ca_file})
    async with EgressProxy(trusting, resolve_name=outside.resolve) as proxy:
        one = Inside(await proxy.open(_rules(outside), lambda _: None), [])
        other = Inside(await proxy.open(_rules(outside), lambda _: None), [])
        await one.ask(outside.registry(), "/package")
        one.session.allow("evil.example")
        target = f"files.example:{outside.tls_port}"
        first, second = (await one.connect(target))[0], (await other.connect(target))[0]
    assert (first.status, second.status) == (200, 403)
    assert other.session.rules.hosts == ()


async def test_the_certificate_of_a_registry_is_good_for_that_host_alone(
    settings: Settings, outside: StandIn
) -> None:
    async with inside(settings, outside, _rules(outside)) as client:
        _, reader, writer = await client.connect(f"registry.example:{outside.tls_port}")
        context = ssl.create_default_context(cafile=client.session.certificates / "bundle.pem")
        with pytest.raises(ssl.SSLCertVerificationError):
            await writer.start_tls(context, server_hostname="evil.example")
        writer.close()
        del reader


async def test_a_registry_by_plain_http_is_only_read(settings: Settings, outside: StandIn) -> None:
    registry = Registry(kind="npm", host="registry.example", port=outside.plain_port, scheme="http")
    host = f"registry.example:{outside.plain_port}"
    rules = EgressRules(registries=(registry,), private_hosts=frozenset(NAMES))
    async with inside(settings, outside, rules) as client:
        statuses = []
        for method in ("GET", "PUT"):
            reader, writer = await asyncio.open_unix_connection(client.session.socket)
            answer = await exchange(reader, writer, method, f"http://{host}/echo", {"Host": host})
            statuses.append(answer.status)
            writer.close()
    assert statuses == [200, 405]


def test_a_name_is_read_from_a_first_message_in_pieces() -> None:
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(incoming, outgoing, server_hostname="Registry.Example")
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    message = outgoing.read()
    assert all(read_server_name(message[:length]) is None for length in range(5, len(message), 50))
    assert read_server_name(message) == ServerName("registry.example")
    with pytest.raises(NotTls):
        read_server_name(b"GET / HTTP/1.1\r\n")
