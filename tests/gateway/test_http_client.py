"""HTTP as it is spoken to the servers of models, against servers and proxies that follow a script."""

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
from journeyman.gateway.http_client import HttpClient, HttpResponse, check_headers

Serving = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHello"


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    client = HttpClient()
    yield client
    await client.close()


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


def saying(*answers: bytes, received: list[bytes] | None = None) -> Serving:
    """One answer to each request of a connection, which is closed after the last."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            request = await request_from(reader)
            if received is not None:
                received.append(request)
            writer.write(answer)
            await writer.drain()

    return serve


async def whole(response: HttpResponse) -> bytes:
    chunks = []
    while chunk := await response.read():
        chunks.append(chunk)
    return b"".join(chunks)


async def posted(http: HttpClient, url: str, body: bytes = b"{}", **headers: str) -> bytes:
    async with http.request("POST", url, headers, body) as response:
        return await whole(response)


def head_of(request: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    fields = [line.partition(": ") for line in lines]
    assert len({name.lower() for name, _, _ in fields}) == len(fields)
    return first, {name.lower(): value for name, _, value in fields}


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nHe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nHello",
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + WHOLE,
    ],
    ids=["length", "chunks", "end of the connection", "after an interim response"],
)
async def test_a_response_is_read_whole_however_it_says_where_it_ends(
    http: HttpClient, answer: bytes
) -> None:
    async with serving(saying(answer)) as port:
        assert await posted(http, f"http://127.0.0.1:{port}/v1/x") == b"Hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nHello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nHello\r\n",
        b"220 mail.example.org ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: %s\r\n" % (b"y" * 60_000) * 20 + b"\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000 + b"\r\n",
    ],
    ids=[
        "nothing",
        "head",
        "length",
        "chunks",
        "broken chunk",
        "other protocol",
        "long header",
        "many headers",
    ],
)
async def test_half_a_response_and_what_is_none_break_the_call(http: HttpClient, answer: bytes) -> None:
    async with serving(saying(answer)) as port:
        with pytest.raises(ConnectionError, match=r"\w"):
            await posted(http, f"http://127.0.0.1:{port}/v1/x")


async def test_a_server_that_wants_another_protocol_gives_no_response(http: HttpClient) -> None:
    switching = b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
    async with (
        serving(saying(switching)) as port,
        http.request("POST", f"http://127.0.0.1:{port}/", {}, b"") as response,
    ):
        assert response.status == 101
        assert await whole(response) == b""


async def test_a_request_says_all_that_a_server_needs_and_keeps_its_connection(http: HttpClient) -> None:
    received: list[bytes] = []
    async with serving(saying(WHOLE, WHOLE, received=received)) as port:
        url = f"http://someone:secret@127.0.0.1:{port}/v1/ä x"
        await posted(http, url, b"one", authorization="Bearer k")
        await posted(http, url, b"two", authorization="Bearer k")
        first, fields = head_of(received[0])
    assert first == "POST /v1/%C3%A4%20x HTTP/1.1"
    assert fields == {
        "host": f"127.0.0.1:{port}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "authorization": "Bearer k",
        "content-length": "3",
    }
    assert [request.partition(b"\r\n\r\n")[2] for request in received] == [b"one", b"two"]


async def test_a_redirect_is_not_followed(http: HttpClient) -> None:
    received: list[bytes] = []
    async with serving(saying(WHOLE, received=received)) as elsewhere:
        moved = f"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:{elsewhere}/\r\ncontent-length: 0\r\n\r\n"
        async with serving(saying(moved.encode())) as port:
            headers = {"authorization": "Bearer k"}
            async with http.request("POST", f"http://127.0.0.1:{port}/", headers, b"") as response:
                assert response.status == 307
    assert received == []


async def test_cookies_and_compressed_bodies_are_left_as_they_are(http: HttpClient) -> None:
    received: list[bytes] = []
    answer = WHOLE.replace(b"OK\r\n", b"OK\r\nset-cookie: a=b\r\ncontent-encoding: gzip\r\n")
    async with serving(saying(answer, answer, received=received)) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [await posted(http, url), await posted(http, url)] == [b"Hello", b"Hello"]
    assert "cookie" not in head_of(received[1])[1]


async def test_a_request_is_sent_once_even_if_its_connection_breaks(http: HttpClient) -> None:
    received: list[bytes] = []
    async with serving(saying(WHOLE, b"", received=received)) as port:
        assert await posted(http, f"http://127.0.0.1:{port}/") == b"Hello"
        with pytest.raises(ConnectionError):
            await posted(http, f"http://127.0.0.1:{port}/")
    assert len(received) == 2


async def test_a_connection_that_the_server_closed_is_not_used_again(http: HttpClient) -> None:
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_from(reader)
        writer.write(WHOLE)
        writer.close()
        await writer.wait_closed()
        closed.set()

    async with serving(serve) as port:
        for _ in range(3):
            closed.clear()
            assert await posted(http, f"http://127.0.0.1:{port}/") == b"Hello"
            await closed.wait()
            for _ in range(100):  # until the end has come through
                await asyncio.sleep(0)


async def test_what_nobody_asked_for_ends_a_kept_connection(http: HttpClient) -> None:
    async with serving(saying(WHOLE + WHOLE.replace(b"Hello", b"Again"), WHOLE)) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [await posted(http, url), await posted(http, url)] == [b"Hello", b"Hello"]


async def test_what_comes_on_an_idle_connection_is_no_response_to_the_next_request(http: HttpClient) -> None:
    is_idle = asyncio.Event()
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await request_from(reader)
        writer.write(WHOLE)
        await is_idle.wait()
        writer.write(WHOLE.replace(b"Hello", b"Again"))
        await reader.read()

    async with serving(serve) as port:
        url = f"http://127.0.0.1:{port}/"
        assert await posted(http, url) == b"Hello"
        is_idle.set()
        for _ in range(1000):  # until it has come through
            await asyncio.sleep(0)
        assert await posted(http, url) == b"Hello"
        assert connections == 2


@pytest.mark.parametrize("how", ["leaving", "cancelling", "closing"])
async def test_leaving_early_cancelling_and_closing_end_the_connection(http: HttpClient, how: str) -> None:
    ended: asyncio.Queue[bool] = asyncio.Queue()
    reading = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_from(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\nHello" % (5 if how == "closing" else 9))
        with suppress(OSError):
            await reader.read()
        ended.put_nowait(True)

    async def call(port: int) -> None:
        async with http.request("POST", f"http://127.0.0.1:{port}/", {}, b"") as response:
            assert await response.read() == b"Hello"
            reading.set()
            if how != "leaving":
                await response.read()

    async with serving(serve) as port:
        calling = asyncio.create_task(call(port))
        await reading.wait()
        if how == "cancelling":
            calling.cancel()
        await asyncio.wait({calling})
        if how == "closing":
            await http.close()
        assert await ended.get()


async def test_a_server_waits_for_whoever_reads_its_response(http: HttpClient) -> None:
    size, sent = 50_000_000, 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await request_from(reader)
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n".encode())
        while sent < size:
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000

    async with serving(serve) as port, http.request("POST", f"http://127.0.0.1:{port}/", {}, b"") as response:
        before = -1
        while before != sent:  # until nothing moves any more
            before = sent
            for _ in range(100):
                await asyncio.sleep(0)
        assert sent < size / 2
        assert len(await whole(response)) == response.size == size


async def test_a_body_is_read_up_to_a_limit(http: HttpClient) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n" + b"x" * 50_000
    async with serving(saying(answer, answer)) as port:
        for limit, expected in ((7, 7), (60_000, 50_000)):
            async with http.request("GET", f"http://127.0.0.1:{port}/", {}) as response:
                assert await response.read_all(limit) == b"x" * expected


async def test_a_server_that_cannot_be_reached_breaks_the_call(http: HttpClient) -> None:
    async with serving(saying(WHOLE)) as port:
        pass
    for address in (f"http://127.0.0.1:{port}/", "http://models.invalid/", "no address at all"):
        with pytest.raises(ConnectionError, match=r"\w"):
            await posted(http, address)


@pytest.mark.parametrize("key", ["a\r\nx-other: b", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(InvalidSetting, match="authorization"):
        check_headers({"authorization": f"Bearer {key}"}, "http://127.0.0.1/")


async def test_a_plain_call_goes_through_the_machines_proxy(
    http: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[bytes] = []
    async with serving(saying(WHOLE, received=received)) as port:
        monkeypatch.setenv("http_proxy", f"http://me:pass%20word@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "elsewhere.example")
        assert await posted(http, "http://models.example/v1") == b"Hello"
    login = base64.b64encode(b"me:pass word").decode()
    first, fields = head_of(received[0])
    assert first == "POST http://models.example/v1 HTTP/1.1"
    assert (fields["host"], fields["proxy-authorization"]) == ("models.example", f"Basic {login}")


async def test_a_server_that_is_excepted_is_reached_without_the_proxy(
    http: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(saying(WHOLE)) as port:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert await posted(http, f"http://127.0.0.1:{port}/") == b"Hello"


async def test_a_proxy_of_another_kind_is_refused(http: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(InvalidSetting, match="socks5"):
        await posted(http, "http://models.example/")


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
    http: HttpClient, tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[bytes] = []
    async with serving(saying(WHOLE, received=received), tls) as port:
        with pytest.raises(ConnectionError, match=r"(?i)certificate"):
            await posted(http, f"https://localhost:{port}/")
        assert received == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        trusting = HttpClient()
        assert await posted(trusting, f"https://localhost:{port}/") == b"Hello"
        with pytest.raises(ConnectionError, match=r"(?i)certificate"):
            await posted(trusting, f"https://127.0.0.1:{port}/")
        await trusting.close()
    assert len(received) == 1


async def test_an_encrypted_call_goes_through_a_proxy_that_cannot_read_it(
    http: HttpClient, tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[bytes] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            passed.append(data)
            writer.write(data)

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed.append(await request_from(reader))
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(forward(reader, back), forward(there, writer))

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    monkeypatch.setenv("no_proxy", "")
    async with serving(saying(WHOLE, WHOLE), tls) as port, serving(proxy) as door:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{door}")
        url = f"https://localhost:{port}/"
        for _ in range(2):
            assert await posted(http, url, authorization="Bearer some-key") == b"Hello"
        await http.close()
    first, fields = head_of(passed[0])
    assert (first, fields["host"]) == (f"CONNECT localhost:{port} HTTP/1.1", f"localhost:{port}")
    assert sum(chunk.startswith(b"CONNECT") for chunk in passed) == 1
    assert b"some-key" not in b"".join(passed)


async def test_a_proxy_that_refuses_breaks_the_call(
    http: HttpClient, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
    monkeypatch.setenv("no_proxy", "")
    async with serving(saying(refusal)) as door:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{door}")
        with pytest.raises(ConnectionError, match="407"):
            await posted(http, "https://models.example/")
