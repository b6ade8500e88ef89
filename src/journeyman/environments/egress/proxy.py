"""The egress proxy: one unix socket for each sandbox, with rules of its own.

A sandbox has no network. It is shown its socket by `Sandbox.open_door`, and the directory of certificates
read-only; the socket of another sandbox is nowhere in it, so neither are another's rules or credentials.
"""

import asyncio
import contextlib
import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp

from journeyman.environments.egress.addresses import (
    CheckedAddresses,
    ResolveName,
    parse_proxy,
    system_resolver,
)
from journeyman.environments.egress.certificates import CertificateAuthority, upstream_context
from journeyman.environments.egress.connection import ConnectionServer, Outside
from journeyman.environments.egress.forward import RequestForwarder
from journeyman.environments.egress.policy import EgressPolicy, OnDenied
from journeyman.environments.egress.rules import EgressRules
from journeyman.environments.egress.variables import proxy_variables
from journeyman.errors import Conflict, InvalidSetting
from journeyman.settings import Settings

_LONGEST_DIRECTORY = 85
"""Bytes; the kernel allows 108 for a socket, and a jail may want a few for itself."""
_CONNECT_SECONDS = 20.0
_SILENCE_SECONDS = 120.0
_HEADER_BYTES = 65_536
_READ_BYTES = 131_072
"""More is slower: each answer's bytes would leave the processor's cache on their way."""


class EgressProxy:
    """Start it once; then `open` a session for each sandbox that may reach anything.

    It belongs to the event loop that it was started on; sessions are opened, changed and closed there.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        resolve_name: ResolveName = system_resolver,
        silence_seconds: float = _SILENCE_SECONDS,
    ) -> None:
        self._settings = settings
        self._resolve_name = resolve_name
        self._silence_seconds = silence_seconds
        self._open = AsyncExitStack()
        self._numbers = itertools.count(1)
        self._sessions: set[EgressSession] = set()
        self._directory: Path | None = None
        self._sockets: Path | None = None

    async def start(self) -> None:
        parse_proxy(self._settings.upstream_proxy)
        _check_credentials(self._settings)
        self._tls = await asyncio.to_thread(upstream_context, self._settings.registry_ca_file)
        self._tls.set_alpn_protocols(["http/1.1"])
        self._authority = CertificateAuthority()
        self._directory = self._open.enter_context(_private_directory(self._settings.home))
        await asyncio.to_thread(
            self._authority.write_bundle, self.certificates, self._settings.registry_ca_file
        )

    async def close(self) -> None:
        for session in list(self._sessions):
            await session.close()
        await self._open.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def certificates(self) -> Path:
        """To be shown read-only in every sandbox that has a session (`SandboxSpec.shown`)."""
        assert self._directory is not None, "start() comes first"
        return self._directory / "certificates"

    async def open(self, rules: EgressRules, on_denied: OnDenied) -> "EgressSession":
        """A way out for one sandbox. `on_denied` is called once for each host and port."""
        own = {host: value.get_secret_value() for host, value in self._settings.registry_credentials.items()}
        # A host without a port means the ports that are configured now, and none that an index names later.
        ports = {f"{one.host}:{one.port}": own[one.host] for one in rules.registries if one.host in own}
        rules = replace(rules, credentials={**rules.credentials, **ports, **own})
        policy = EgressPolicy(rules, on_denied)
        proxy = parse_proxy(self._settings.upstream_proxy)
        private = rules.private_hosts | ({proxy.hostname} if proxy and proxy.hostname else set())
        addresses = CheckedAddresses(self._resolve_name, private)
        client = self._client(addresses)
        forwarder = RequestForwarder(policy, addresses, client, self._tls, proxy.geturl() if proxy else None)
        server = ConnectionServer(policy, Outside(addresses, proxy), self._authority, forwarder)
        path = self._socket_directory() / f"{next(self._numbers)}.sock"
        session = EgressSession(policy, path, self.certificates)
        session.ends.callback(self._sessions.discard, session)
        session.ends.push_async_callback(client.close)
        session.ends.push_async_callback(server.close)
        await session.listen(server)
        self._sessions.add(session)
        return session

    def _socket_directory(self) -> Path:
        """Made for the first session: a process that needs none leaves nothing behind when it is killed."""
        assert self._directory is not None, "start() comes first"
        if self._sockets is None:
            self._sockets = self._open.enter_context(_short_directory(self._directory))
        return self._sockets

    def _client(self, addresses: CheckedAddresses) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=addresses, use_dns_cache=False, limit=0),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_CONNECT_SECONDS, sock_read=self._silence_seconds
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("user-agent", "accept", "accept-encoding", "content-type"),
            auto_decompress=False,
            max_field_size=_HEADER_BYTES,
            max_line_size=_HEADER_BYTES,
            read_bufsize=_READ_BYTES,
        )


class EgressSession:
    """The way out of one sandbox, until it is closed."""

    def __init__(self, policy: EgressPolicy, path: Path, certificates: Path) -> None:
        self.socket = path
        self.certificates = certificates
        self.ends = AsyncExitStack()
        self._policy = policy

    @property
    def command(self) -> str | None:
        """What runs inside now, for the next denial."""
        return self._policy.command

    @command.setter
    def command(self, command: str | None) -> None:
        self._policy.command = command

    @property
    def rules(self) -> EgressRules:
        return self._policy.rules

    def allow(self, host: str) -> None:
        """Let a host through from now on, as `EgressRules.hosts` writes them."""
        self._policy.allow(host)

    def report_anew(self) -> None:
        """Report denials again that were reported before."""
        self._policy.report_anew()

    def variables(self, port: int) -> dict[str, str]:
        """For commands inside, where the session's socket answers on this port."""
        return proxy_variables(port, self.certificates)

    async def listen(self, server: ConnectionServer) -> None:
        loop = asyncio.get_running_loop()
        listener = await loop.create_unix_server(server.protocol, self.socket, backlog=512)
        self.socket.chmod(0o666)  # the jail's user is another one than ours; the directory is private
        self.ends.callback(self.socket.unlink, missing_ok=True)
        self.ends.callback(listener.close)

    async def close(self) -> None:
        """Break off what is under way. Safe to call twice."""
        await self.ends.aclose()


def _check_credentials(settings: Settings) -> None:
    for host, value in settings.registry_credentials.items():
        text = value.get_secret_value()
        if not text.isascii() or not text.isprintable():
            raise InvalidSetting(
                f"the credential of {host} has characters that no header can have",
                hint="JOURNEYMAN_REGISTRY_CREDENTIALS holds whole values, such as `Bearer …` or `Basic …`.",
            )


@contextlib.contextmanager
def _private_directory(home: Path) -> Iterator[Path]:
    """A directory of this process. Those of processes that were killed are removed on the way."""
    parent = home.absolute() / "egress"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = parent.lstat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Conflict(
            f"{parent} must be a directory that only this user can enter", hint="Remove it; it is made again."
        )
    for left in parent.glob("[!.]*"):
        _remove_if_left(left)
    made = Path(tempfile.mkdtemp(dir=parent, prefix="."))
    directory = parent / made.name.removeprefix(".")
    lock = os.open(made / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made.rename(directory)  # under this name others look whether it was left behind
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


@contextlib.contextmanager
def _short_directory(directory: Path) -> Iterator[Path]:
    """The directory itself, or a private one elsewhere when its path is too long for sockets."""
    if len(os.fsencode(directory)) <= _LONGEST_DIRECTORY:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="journeyman-egress-") as name:
        yield Path(name)


def _remove_if_left(directory: Path) -> None:
    try:
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)
