"""What passes through the proxy, and how."""

import asyncio
import contextlib
import gzip
import json
import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from journeyman.environments.egress.proxy import EgressProxy
from journeyman.environments.egress.rules import EgressRules, Registry
from journeyman.errors import InvalidSetting
from journeyman.settings import Settings
from tests.environments.egress.outside import FILE
from tests.environments.egress.standins import NAMES, Inside, StandIn, exchange, inside


def rules_for(outside: StandIn, *more: Registry, hosts: tuple[str, ...] = ()) -> EgressRules:
    registries = (outside.registry(), *more)
    return EgressRules(registries=registries, hosts=hosts, private_hosts=frozenset(NAMES))


async def test_a_file_of_a_registry_arrives_as_it_is(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        answer = await client.ask(outside.registry(), "/file.tgz")
        part = await client.ask(outside.registry(), "/file.tgz", headers={"Range": "bytes=10-19"})
        head = await client.ask(outside.registry(), "/file.tgz", method="HEAD")
        chunked = await client.ask(outside.registry(), "/chunked")
    assert (answer.status, answer.body) == (200, FILE)
    assert (part.status, part.body, part.headers["content-range"]) == (
        206,
        FILE[10:20],
        f"bytes 10-19/{len(FILE)}",
    )
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(FILE)))
    assert chunked.body == b"one two three"
    assert client.denials == []


async def test_one_connection_carries_many_requests(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        host = {"Host": f"registry.example:{outside.tls_port}"}
        answers = [await exchange(reader, writer, "GET", "/file.tgz", host) for _ in range(3)]
        writer.close()
    assert [answer.body for answer in answers] == [FILE] * 3


async def test_a_registry_gets_no_cookie_and_no_credential_of_the_inside(
    settings: Settings, outside: StandIn
) -> None:
    sent = {"Authorization": "Bearer inner", "Cookie": "a=b", "X-Api-Key": "inner", "User-Agent": "tool/1"}
    async with inside(settings, outside, rules_for(outside)) as client:
        answer = await client.ask(outside.registry(), "/echo", headers=sent)
        cookie = await client.ask(outside.registry(), "/cookie")
    received = {name.lower(): value for name, value in json.loads(answer.body)["headers"].items()}
    assert set(received) == {"host", "user-agent", "accept-encoding"}
    assert received["host"] == f"registry.example:{outside.tls_port}"
    assert cookie.headers["x-kept"] == "1"
    assert not {"set-cookie", "alt-svc", "x-private"} & set(cookie.headers)


async def test_a_credential_is_added_for_its_host_and_no_other(settings: Settings, outside: StandIn) -> None:
    credentials = {"registry.example": SecretStr("Basic c2VjcmV0")}
    settings = settings.model_copy(update={"registry_credentials": credentials})
    files = outside.registry("files", "files.example")
    plain = Registry(kind="npm", host="registry.example", port=outside.plain_port, scheme="http")
    async with inside(settings, outside, rules_for(outside, files, plain)) as client:
        for registry in (outside.registry(), files):
            await client.ask(registry, "/echo")
        reader, writer = await asyncio.open_unix_connection(client.session.socket)
        host = f"registry.example:{outside.plain_port}"
        await exchange(reader, writer, "GET", f"http://{host}/echo", {"Host": host})
        writer.close()
    sent = [request.headers.get("authorization") for request in outside.requests]
    assert sent == ["Basic c2VjcmV0", None, None]


async def test_hosts_that_an_index_names_can_be_read_at_once(settings: Settings, outside: StandIn) -> None:
    files = outside.registry("files", "files.example")
    async with inside(settings, outside, rules_for(outside)) as client:
        before, *_ = await client.connect(f"files.example:{outside.tls_port}")
        answer = await client.ask(outside.registry(), "/package", headers={"Accept-Encoding": "gzip, br"})
        file = await client.ask(files, "/file.tgz")
        written = await client.ask(files, "/echo", method="PUT", body=b"private")
        evil, *_ = await client.connect("evil.example:443")
    assert before.status == 403
    assert json.loads(gzip.decompress(answer.body))["homepage"] == "https://evil.example/"
    assert file.body == FILE
    assert (written.status, evil.status) == (405, 403)


async def test_a_page_of_a_simple_index_names_its_files_and_not_its_authors(
    settings: Settings, outside: StandIn
) -> None:
    registry = outside.registry("pypi", path="/simple")
    rules = EgressRules(registries=(registry,), private_hosts=frozenset(NAMES))
    async with inside(settings, outside, rules) as client:
        await client.ask(registry, "/project/package/")
        await client.ask(registry, "/simple/package/")
        known = {one.host for one in client.session.rules.registries}
    assert known == {"registry.example", "files.example"}


async def test_a_redirect_of_a_registry_can_be_followed(settings: Settings, outside: StandIn) -> None:
    files = outside.registry("files", "files.example")
    async with inside(settings, outside, rules_for(outside)) as client:
        moved = await client.ask(outside.registry(), "/moved")
        landed = await client.ask(files, "/landing.tgz?signed=1")
        beside = await client.ask(files, "/file.tgz")
    assert moved.status == 302
    assert landed.body == b"landed"
    assert beside.status == 403


async def test_a_redirect_with_a_query_opens_nothing(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        moved = await client.ask(outside.registry(), "/login?next=x")
        denied, *_ = await client.connect(f"files.example:{outside.tls_port}")
    assert (moved.status, denied.status) == (302, 403)


async def test_what_people_allow_takes_effect_at_once(settings: Settings, outside: StandIn) -> None:
    target = f"allowed.example:{outside.tls_port}"
    async with inside(settings, outside, rules_for(outside)) as client:
        denied, *_ = await client.connect(target)
        client.session.allow(target)
        reader, writer = await client.tls("allowed.example", outside.tls_port, ca_file=outside.ca_file)
        headers = {"Host": "allowed.example", "Content-Length": "5"}
        answer = await exchange(reader, writer, "POST", "/echo", headers, b"hello")
        writer.close()
    assert denied.status == 403
    assert json.loads(answer.body)["body"] == "hello"


async def test_plain_http_passes_to_a_host_that_people_allowed(settings: Settings, outside: StandIn) -> None:
    host = f"allowed.example:{outside.plain_port}"
    async with inside(settings, outside, rules_for(outside, hosts=(host,))) as client:
        reader, writer = await asyncio.open_unix_connection(client.session.socket)
        headers = {"Host": host, "Content-Length": "5", "Proxy-Authorization": "x", "X-Own": "1"}
        answer = await exchange(reader, writer, "POST", f"http://{host}/echo", headers, b"hello")
        writer.close()
    received = json.loads(answer.body)
    assert received["body"] == "hello"
    assert received["headers"]["X-Own"] == "1"
    assert "Proxy-Authorization" not in received["headers"]


async def test_a_denial_is_reported_once_with_the_command_that_ran(
    settings: Settings, outside: StandIn
) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        client.session.command = "npm ci"
        answers = [(await client.connect("evil.example:443"))[0] for _ in range(3)]
        await client.connect("evil.example:22")
    assert [(one.host, one.port, one.command, one.may_be_allowed) for one in client.denials] == [
        ("evil.example", 443, "npm ci", True),
        ("evil.example", 22, "npm ci", False),
    ]
    assert "evil.example" in answers[0].reason
    assert "nobody has allowed it" in answers[0].reason


async def test_a_registry_that_is_down_is_a_502_that_says_so(settings: Settings, outside: StandIn) -> None:
    with_gone = Registry(kind="npm", host="registry.example", port=1)
    async with inside(settings, outside, rules_for(outside, with_gone)) as client:
        answer = await client.ask(with_gone, "/package")
    assert answer.status == 502
    assert "registry.example cannot be reached" in answer.reason
    assert answer.reason in answer.body.decode()


async def test_a_registry_that_nobody_knows_is_a_502(settings: Settings, outside: StandIn) -> None:
    unknown = Registry(kind="npm", host="unknown.example")
    async with inside(settings, outside, rules_for(outside, unknown)) as client:
        answer = await client.ask(unknown, "/package")
    assert answer.status == 502


async def test_a_registry_with_a_strange_certificate_is_not_asked(
    settings: Settings, outside: StandIn
) -> None:
    async with EgressProxy(settings, resolve_name=outside.resolve) as proxy:
        session = await proxy.open(rules_for(outside), lambda _: None)
        answer = await Inside(session, []).ask(outside.registry(), "/echo")
    assert answer.status == 502
    assert "certificate" in answer.reason
    assert outside.requests == []


async def test_half_an_answer_is_not_taken_for_a_whole_one(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        writer.write(f"GET /half HTTP/1.1\r\nHost: registry.example:{outside.tls_port}\r\n\r\n".encode())
        with pytest.raises((asyncio.IncompleteReadError, OSError)):
            await reader.readexactly(1500)
        writer.close()


async def test_a_silent_registry_is_given_up(settings: Settings, outside: StandIn) -> None:
    trusting = settings.model_copy(update={"registry_ca_file": outside.ca_file})
    async with EgressProxy(trusting, resolve_name=outside.resolve, silence_seconds=0.2) as proxy:
        session = await proxy.open(rules_for(outside), lambda _: None)
        answer = await Inside(session, []).ask(outside.registry(), "/silent")
    assert answer.status == 504
    assert "does not answer" in answer.reason


async def test_a_large_file_takes_no_memory(settings: Settings, outside: StandIn) -> None:
    """The client reads nothing at first: no more is taken from the registry than some buffers hold."""
    async with inside(settings, outside, rules_for(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        before = _resident_mb()
        host = f"Host: registry.example:{outside.tls_port}\r\n\r\n"
        writer.write(f"GET /endless/150 HTTP/1.1\r\n{host}".encode())
        await reader.readuntil(b"\r\n\r\n")
        received, growth = 0, 0.0
        while received < 150_000_000:
            received += len(await reader.read(1_000_000))
            growth = max(growth, _resident_mb() - before)
        writer.close()
    assert growth < 60


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def test_a_hundred_connections_at_once_are_served(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        asked = [client.ask(outside.registry(), "/echo") for _ in range(100)]
        answers = await asyncio.gather(*asked)
    assert [answer.status for answer in answers] == [200] * 100


async def test_a_client_that_goes_away_ends_its_request(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        host = f"Host: registry.example:{outside.tls_port}\r\n\r\n"
        writer.write(f"GET /endless/100000 HTTP/1.1\r\n{host}".encode())
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()
        async with asyncio.timeout(20):
            await outside.is_left.wait()


async def test_a_session_ends_with_everything_in_it(settings: Settings, outside: StandIn) -> None:
    async with inside(settings, outside, rules_for(outside)) as client:
        reader, writer = await client.tls("registry.example", outside.tls_port)
        await client.session.close()
        await client.session.close()
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        assert not client.session.socket.exists()
        with pytest.raises(OSError, match="No such file"):
            await client.connect("registry.example:443")


async def test_what_a_killed_process_left_is_removed(settings: Settings) -> None:
    left = settings.home / "egress" / "left"
    left.mkdir(parents=True, mode=0o700)
    left.parent.chmod(0o700)
    (left / "lock").write_text("")
    async with EgressProxy(settings) as one, EgressProxy(settings) as other:
        assert not left.exists()
        assert one.certificates.is_dir()
        assert other.certificates.is_dir()
    assert list((settings.home / "egress").iterdir()) == []


async def test_everything_goes_by_the_proxy_of_this_network(settings: Settings, outside: StandIn) -> None:
    """The next proxy is another of ours: it shows the path, and is reached at a private address."""
    asked: list[bytes] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", outside.tls_port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_copy(reader, to_writer), _copy(to_reader, writer))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = settings.model_copy(update={"upstream_proxy": f"http://127.0.0.1:{port}"})
    hosts = (f"allowed.example:{outside.tls_port}",)
    async with server, inside(settings, outside, rules_for(outside, hosts=hosts)) as client:
        answer = await client.ask(outside.registry(), "/file.tgz")
        reader, writer = await client.tls("allowed.example", outside.tls_port, ca_file=outside.ca_file)
        tunnelled = await exchange(reader, writer, "GET", "/file.tgz", {"Host": "allowed.example"})
        writer.close()
    assert answer.body == tunnelled.body == FILE
    assert asked == [
        f"CONNECT {host}:{outside.tls_port} HTTP/1.1".encode()
        for host in ("registry.example", "allowed.example")
    ]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"registry_credentials": {"a.example": SecretStr("Basic x\r\nX: y")}},
        {"upstream_proxy": "socks5://x"},
        {"registry_ca_file": Path("/nonexistent.pem")},
    ],
)
async def test_settings_that_cannot_be_used_are_refused_at_the_start(
    settings: Settings, wrong: dict[str, object]
) -> None:
    with pytest.raises(InvalidSetting):
        await EgressProxy(settings.model_copy(update=wrong)).start()


async def test_tools_are_told_of_the_proxy_and_its_certificates(settings: Settings) -> None:
    async with EgressProxy(settings) as proxy:
        session = await proxy.open(EgressRules(), lambda _: None)
        variables = session.variables(3128)
    assert variables["HTTPS_PROXY"] == variables["http_proxy"] == "http://127.0.0.1:3128"
    assert variables["PIP_CERT"] == variables["npm_config_cafile"] == f"{proxy.certificates}/bundle.pem"
    assert "-Dhttps.proxyPort=3128" in variables["JAVA_TOOL_OPTIONS"]
    assert "127.0.0.1" in variables["NO_PROXY"].split(",")


async def test_no_key_is_on_the_disk(settings: Settings) -> None:
    async with EgressProxy(settings) as proxy:
        session = await proxy.open(EgressRules(), lambda _: None)
        await session.close()
        files = [path for path in settings.home.rglob("*") if path.is_file()]
        assert {path.name for path in files} == {"bundle.pem", "truststore.p12", "lock"}
        assert "PRIVATE" not in (proxy.certificates / "bundle.pem").read_text()
        assert proxy.certificates.parent.stat().st_mode & 0o077 == 0
