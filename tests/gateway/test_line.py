"""HTTP as it is spoken to one server, against servers and proxies that are told what to send."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from journeyman.errors import InvalidSetting
from journeyman.gateway.line import Connection, Line

Serving = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHello"


@asynccontextmanager
async def serving(serve: Serving, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server for as long as it is open."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def request_from(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0] or 0)
    return head + await reader.readexactly(length)


def saying(*answers: bytes, heard: list[bytes] | None = None) -> Serving:
    """One answer to each request of a connection, which is closed after the last."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            request = await request_from(reader)
            if heard is not None:
                heard.append(request)
            writer.write(answer)
            await writer.drain()

    return serve


async def whole(connection: Connection) -> bytes:
    come = []
    while piece := await connection.read():
        come.append(piece)
    return b"".join(come)


async def posted(line: Line, body: bytes = b"{}") -> bytes:
    async with line.post(body) as connection:
        return await whole(connection)


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nHe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nHello",
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + WHOLE,
    ],
    ids=["length", "chunks", "end of the connection", "after a word in advance"],
)
async def test_an_answer_is_read_whole_however_it_says_where_it_ends(answer: bytes) -> None:
    async with serving(saying(answer)) as port:
        assert await posted(Line(f"http://127.0.0.1:{port}/v1/x", {})) == b"Hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nHello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nHello\r\n",
        b"220 mail.example.org ESMTP\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: %s\r\n" % (b"y" * 60_000) * 20 + b"\r\n",
    ],
    ids=["nothing", "head", "length", "chunks", "broken chunk", "other protocol", "upgrade", "endless head"],
)
async def test_half_an_answer_and_what_is_none_break_the_call(answer: bytes) -> None:
    async with serving(saying(answer)) as port:
        with pytest.raises(OSError, match=r"\w"):
            await posted(Line(f"http://127.0.0.1:{port}/v1/x", {}))


async def test_a_request_says_all_that_a_server_needs_and_keeps_its_connection() -> None:
    heard: list[bytes] = []
    async with serving(saying(WHOLE, WHOLE, heard=heard)) as port:
        line = Line(f"http://someone:secret@127.0.0.1:{port}/v1/ä x", {"authorization": "Bearer k"})
        await posted(line, b"one")
        await posted(line, b"two")
        line.close()
    head = (
        f"POST /v1/%C3%A4%20x HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: */*\r\n"
        "accept-encoding: identity\r\nauthorization: Bearer k\r\ncontent-length: 3\r\n\r\n"
    )
    assert heard == [head.encode() + b"one", head.encode() + b"two"]


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async with serving(saying(WHOLE)) as port:
        line = Line(f"http://127.0.0.1:{port}/", {})
        async with line.post(b"") as connection:
            await whole(connection)
        for _ in range(10_000):
            if not connection.is_reusable:  # the end has come through
                break
            await asyncio.sleep(0)
        assert await posted(line) == b"Hello"


async def test_what_nobody_asked_for_ends_a_kept_connection() -> None:
    async with serving(saying(WHOLE + WHOLE.replace(b"Hello", b"Again"), WHOLE)) as port:
        line = Line(f"http://127.0.0.1:{port}/", {})
        assert [await posted(line), await posted(line)] == [b"Hello", b"Hello"]


async def test_leaving_early_and_closing_end_connections() -> None:
    ended: asyncio.Queue[bool] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_from(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello")
        with suppress(OSError):
            await reader.read()
        ended.put_nowait(True)

    async with serving(serve) as port:
        async with Line(f"http://127.0.0.1:{port}/", {}).post(b"") as connection:
            assert await connection.read() == b"Hello"
        assert await ended.get()


async def test_a_server_waits_for_whoever_reads_its_answer() -> None:
    size, sent = 50_000_000, 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await request_from(reader)
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n".encode())
        while sent < size:
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000

    async with serving(serve) as port, Line(f"http://127.0.0.1:{port}/", {}).post(b"") as connection:
        before = -1
        while before != sent:  # until nothing moves any more
            before = sent
            for _ in range(100):
                await asyncio.sleep(0)
        assert sent < size / 2
        assert len(await whole(connection)) == size


@pytest.mark.parametrize("key", ["a\r\nx-other: b", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(InvalidSetting, match="authorization"):
        Line("http://127.0.0.1/", {"authorization": f"Bearer {key}"})


async def test_a_plain_call_goes_through_the_machines_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bytes] = []
    async with serving(saying(WHOLE, heard=heard)) as port:
        monkeypatch.setenv("http_proxy", f"http://me:pass%20word@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "elsewhere.example")
        assert await posted(Line("http://models.example/v1", {})) == b"Hello"
    login = base64.b64encode(b"me:pass word")
    assert heard[0].startswith(b"POST http://models.example/v1 HTTP/1.1\r\nhost: models.example\r\n")
    assert b"proxy-authorization: Basic %s\r\n" % login in heard[0]


async def test_a_server_that_is_excepted_is_reached_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(saying(WHOLE)) as port:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert await posted(Line(f"http://127.0.0.1:{port}/", {})) == b"Hello"


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(InvalidSetting, match="socks5"):
        Line("http://models.example/", {})


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    """What a server for `localhost` needs; `certificate.pem` is whom to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (tmp_path / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    return context


async def test_only_a_server_that_is_trusted_is_spoken_to(
    tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []
    async with serving(saying(WHOLE, heard=heard), tls) as port:
        with pytest.raises(ssl.SSLError):
            await posted(Line(f"https://localhost:{port}/", {}))
        assert heard == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert await posted(Line(f"https://localhost:{port}/", {})) == b"Hello"
        with pytest.raises(ssl.SSLError):
            await posted(Line(f"https://127.0.0.1:{port}/", {}))
    assert len(heard) == 1


async def test_an_encrypted_call_goes_through_a_proxy_that_cannot_read_it(
    tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[bytes] = []

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            passed.append(data)
            writer.write(data)

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed.append(await request_from(reader))
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    monkeypatch.setenv("no_proxy", "")
    async with serving(saying(WHOLE, WHOLE), tls) as port, serving(proxy) as door:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{door}")
        line = Line(f"https://localhost:{port}/", {"authorization": "Bearer some-key"})
        assert [await posted(line), await posted(line)] == [b"Hello", b"Hello"]
        line.close()
    target = f"localhost:{port}"
    assert passed[0] == f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode()
    assert b"some-key" not in b"".join(passed)


async def test_a_proxy_that_refuses_breaks_the_call(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
    monkeypatch.setenv("no_proxy", "")
    async with serving(saying(refusal)) as door:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{door}")
        with pytest.raises(ConnectionError, match="407"):
            await posted(Line("https://models.example/", {}))
