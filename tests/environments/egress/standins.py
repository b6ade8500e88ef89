"""Registries on loopback with certificates of the tests' own, and a client as it would be in a sandbox."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import h11
from aiohttp import web
from aiohttp.typedefs import Handler
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from journeyman.environments.egress.proxy import EgressProxy, EgressSession
from journeyman.environments.egress.rules import Denial, EgressRules, Registry, RegistryKind
from journeyman.settings import Settings

NAMES = ("registry.example", "files.example", "evil.example", "api.evil.example", "allowed.example")


def make_certificate(directory: Path, names: Sequence[str] = NAMES) -> tuple[Path, Path]:
    """A self-signed certificate that is its own authority, and its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, key_path = directory / f"{names[0]}.pem", directory / f"{names[0]}.key"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return path, key_path


def server_context(directory: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_certificate(directory))
    return context


@dataclass
class StandIn:
    """A server of the outside under every one of NAMES, by TLS and by plain HTTP."""

    tls_port: int
    plain_port: int
    ca_file: Path
    context: ssl.SSLContext
    app: web.Application
    requests: list[web.BaseRequest] = field(default_factory=list)
    is_left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody went away before an answer was complete."""

    def registry(
        self, kind: RegistryKind = "npm", host: str = "registry.example", path: str = "/"
    ) -> Registry:
        return Registry(kind=kind, host=host, port=self.tls_port, path=path)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if host in NAMES:
            return ["127.0.0.1"]
        raise OSError(f"{host} is not known")


@asynccontextmanager
async def standin(directory: Path, *routes: web.RouteDef) -> AsyncIterator[StandIn]:
    seen: list[web.BaseRequest] = []
    is_left = asyncio.Event()

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        seen.append(request)
        try:
            return await handler(request)
        except ConnectionError:
            is_left.set()
            raise

    app = web.Application(middlewares=[note], client_max_size=10**9)
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    context = server_context(directory)
    tls, plain = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context), web.TCPSite(runner, "127.0.0.1", 0)
    try:
        await tls.start()
        await plain.start()
        ports = [address[1] for address in runner.addresses]
        yield StandIn(ports[0], ports[1], directory / f"{NAMES[0]}.pem", context, app, seen, is_left)
    finally:
        await runner.cleanup()


@dataclass
class Answer:
    status: int
    reason: str
    headers: dict[str, str]
    body: bytes


@cache
def _trusting(bundle: Path) -> ssl.SSLContext:
    """Reading a bundle takes a tenth of a second."""
    return ssl.create_default_context(cafile=bundle)


@dataclass
class Inside:
    """What a program in the sandbox can do: write to the proxy's socket."""

    session: EgressSession
    denials: list[Denial]

    async def raw(self, sent: bytes) -> bytes:
        """Everything that comes back until the connection is closed."""
        reader, writer = await asyncio.open_unix_connection(self.session.socket)
        writer.write(sent)
        try:
            return await reader.read()
        finally:
            writer.close()

    async def connect(self, target: str) -> tuple[Answer, asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(self.session.socket)
        writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        status, _, reason = head.partition(b"\r\n")[0].decode().partition(" ")[2].partition(" ")
        return Answer(int(status), reason, {}, b""), reader, writer

    async def tls(
        self, host: str, port: int, *, server_hostname: str | None = None, ca_file: Path | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        answer, reader, writer = await self.connect(f"{host}:{port}")
        assert answer.status == 200, answer.reason
        context = _trusting(ca_file or self.session.certificates / "bundle.pem")
        await writer.start_tls(context, server_hostname=server_hostname or host)
        return reader, writer

    async def ask(
        self,
        registry: Registry,
        path: str,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> Answer:
        """One request by TLS that the proxy ends, as pip or npm would send it."""
        reader, writer = await self.tls(registry.host, registry.port)
        named = {"Host": f"{registry.host}:{registry.port}", **(headers or {})}
        if body:
            named["Content-Length"] = str(len(body))
        try:
            return await exchange(reader, writer, method, path, named, body)
        finally:
            writer.close()


async def exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    method: str,
    target: str,
    headers: dict[str, str],
    body: bytes = b"",
) -> Answer:
    client = h11.Connection(h11.CLIENT)
    writer.write(client.send(h11.Request(method=method, target=target, headers=list(headers.items()))) or b"")
    if body:
        writer.write(client.send(h11.Data(data=body)) or b"")
    writer.write(client.send(h11.EndOfMessage()) or b"")
    answer = Answer(0, "", {}, b"")
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Response):
            named = {name.decode(): value.decode() for name, value in event.headers}
            answer = Answer(event.status_code, event.reason.decode(), named, b"")
        elif isinstance(event, h11.Data):
            answer.body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return answer


@asynccontextmanager
async def inside(settings: Settings, outside: StandIn, rules: EgressRules) -> AsyncIterator[Inside]:
    """A session of a proxy that trusts the stand-in and lets its own names be on loopback."""
    trusting = settings.model_copy(update={"registry_ca_file": outside.ca_file})
    denials: list[Denial] = []
    async with EgressProxy(trusting, resolve_name=outside.resolve, silence_seconds=5) as proxy:
        session = await proxy.open(rules, denials.append)
        try:
            yield Inside(session, denials)
        finally:
            await session.close()
