"""HTTP to a server that listens inside a sandbox, over connections that the sandbox opens."""

import asyncio
from collections.abc import Iterable
from typing import Any

import httpcore2

from journeyman.sandboxes.base import Sandbox

_CHUNK = 65_536


def connection_pool_into(sandbox: Sandbox) -> httpcore2.AsyncConnectionPool:
    """Connections to `http://127.0.0.1:PORT` of the sandbox."""
    return httpcore2.AsyncConnectionPool(network_backend=_Backend(sandbox))


class _Backend(httpcore2.AsyncNetworkBackend):
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            return _Stream(*await self._sandbox.connect(port))
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from None


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return await self._reader.read(min(max_bytes, _CHUNK))
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from None

    async def aclose(self) -> None:
        self._writer.close()

    def get_extra_info(self, info: str) -> Any:
        return self._reader.at_eof() if info == "is_readable" else None
