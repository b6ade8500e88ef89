"""What the egress proxy costs: the same registry asked directly and through the proxy, by turns.

Registry, proxy and client are processes of their own, and the registry speaks TLS in both cases: through the
proxy it is ended twice. The client downloads as pip does: by urllib3, in pieces, and with the hash of every
byte. A bare socket that throws away what it reads is measured beside it; no installer is as quick as that.
"""

import asyncio
import hashlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import urllib3

from bench.measuring import Row, Table, asked_to_be_quick, median_ms, memory_mb

_HOST = "registry.example"
_MB = 1_000_000
_AT_ONCE = 4
"""Connections of an installer."""
_BAR = 0.6
"""Of the throughput without a proxy."""


def main() -> int:
    quick = asked_to_be_quick(__doc__ or "")
    size, repetitions = (100 * _MB, 3) if quick else (400 * _MB, 7)
    with (
        tempfile.TemporaryDirectory() as directory,
        _process("registry", directory) as (port,),
        _process("proxy", directory, port) as (path, bundle, pid),
    ):
        direct = _Way(Path(directory, f"{_HOST}.pem"), port=int(port))
        through = _Way(Path(bundle), port=int(port), path=path)
        return _measure(direct, through, int(pid), size, repetitions)


def _measure(direct: "_Way", through: "_Way", pid: int, size: int, repetitions: int) -> int:
    table = Table("Through the egress proxy, against the registry itself")
    for what, count, is_bare in (
        ("one download", 1, False),
        (f"{_AT_ONCE} downloads at once", _AT_ONCE, False),
        ("one download by a bare socket", 1, True),
    ):
        taken: tuple[list[float], list[float]] = ([], [])
        for number in range(repetitions + 1):
            for side, way in zip(taken, (direct, through), strict=True):
                seconds = way.download(count, size // count, is_bare=is_bare)
                if number:  # the first one makes certificates
                    side.append(seconds)
        ours, other = median_ms(taken[1]), median_ms(taken[0])
        bar = None if is_bare else other / _BAR
        table.add(Row(f"{what}, {size // _MB} MB", ours, other, "directly", bar=bar))
    small = ([way.download(1, 1, is_bare=True) for _ in range(20 * repetitions)] for way in (direct, through))
    other, ours = (median_ms(side) for side in small)
    table.add(Row("a connection and a small file", ours, other, "directly"))
    table.add(Row("the proxy's memory at most", memory_mb(pid, "VmHWM"), size / _MB, "a download", "MB"))
    table.notes.append(f"bar: {_BAR} of the throughput without a proxy")
    return table.finish()


class _Way:
    """How to get to the registry: by loopback, or by the proxy's socket."""

    def __init__(self, trusted: Path, *, port: int, path: str | None = None) -> None:
        self._context = ssl.create_default_context(cafile=trusted)
        self._port = port
        self._path = path

    def download(self, count: int, size: int, *, is_bare: bool) -> float:
        """Seconds for so many files of this size, each by a connection of its own."""
        started = time.monotonic()
        with ThreadPoolExecutor(count) as threads:
            received = list(threads.map(self._discard if is_bare else self._install, [size] * count))
        assert received == [size] * count, received
        return time.monotonic() - started

    def _install(self, size: int) -> int:
        """As pip downloads: its pieces are of this size too."""
        pool = urllib3.connectionpool.HTTPSConnectionPool(_HOST, self._port, retries=False)
        pool.ConnectionCls = partial(_Connection, self)  # type: ignore[assignment]
        checksum, received = hashlib.sha256(), 0
        response = pool.request("GET", f"/{size}", preload_content=False)
        for chunk in response.stream(262_144):
            checksum.update(chunk)
            received += len(chunk)
        pool.close()
        return received

    def _discard(self, size: int) -> int:
        with self.connect() as connection:
            request = f"GET /{size} HTTP/1.1\r\nHost: {_HOST}:{self._port}\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            buffer = bytearray(262_144)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65_536)
            assert head.startswith(b"HTTP/1.1 200"), head
            received = len(head.partition(b"\r\n\r\n")[2])
            while received < size and (count := connection.recv_into(buffer)):
                received += count
        return received

    def connect(self) -> ssl.SSLSocket:
        return self._context.wrap_socket(self._connected(), server_hostname=_HOST)

    def _connected(self) -> socket.socket:
        if self._path is None:
            return socket.create_connection(("127.0.0.1", self._port))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        connection.sendall(f"CONNECT {_HOST}:{self._port} HTTP/1.1\r\nHost: {_HOST}\r\n\r\n".encode())
        answer = connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        return connection


class _Connection(urllib3.connection.HTTPSConnection):
    """Goes the way that it is given."""

    def __init__(self, way: _Way, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._way = way

    def connect(self) -> None:
        self.sock = self._way.connect()
        self.is_verified = True


@contextmanager
def _process(*arguments: str) -> Iterator[list[str]]:
    """Another part of this file as a process; gives the words of its first line."""
    command = [sys.executable, "-m", "bench.egress", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()
    finally:
        process.terminate()
        process.communicate()


def _serve_registry(directory: str) -> None:
    """Sends as many bytes as the path says."""
    from tests.environments.egress.standins import server_context

    context = server_context(Path(directory))
    content = bytes(_MB)

    def serve(accepted: socket.socket) -> None:
        with context.wrap_socket(accepted, server_side=True) as connection:
            size = int(connection.recv(65_536).split()[1].strip(b"/"))
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            while size > 0:
                connection.sendall(content[:size])
                size -= len(content)

    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


async def _run_proxy(directory: str, port: str) -> None:
    import os

    from journeyman.environments.egress.certificates import BUNDLE
    from journeyman.environments.egress.proxy import EgressProxy
    from journeyman.environments.egress.rules import EgressRules, Registry
    from journeyman.settings import Settings

    async def resolve(_: str, __: int) -> list[str]:
        return ["127.0.0.1"]

    settings = Settings(home=Path(directory), registry_ca_file=Path(directory, f"{_HOST}.pem"))
    registry = Registry(kind="files", host=_HOST, port=int(port))
    rules = EgressRules(registries=(registry,), private_hosts=frozenset({_HOST}))
    async with EgressProxy(settings, resolve_name=resolve) as proxy:
        session = await proxy.open(rules, lambda denial: print(denial, file=sys.stderr))
        print(session.socket, proxy.certificates / BUNDLE, os.getpid(), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["registry"]:
        _serve_registry(sys.argv[2])
    elif sys.argv[1:2] == ["proxy"]:
        asyncio.run(_run_proxy(*sys.argv[2:4]))
    else:
        sys.exit(main())
