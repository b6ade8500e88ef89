"""Forwards connections of a listening socket to a unix socket of this machine, with back-pressure."""

import asyncio
import contextlib
import socket
from pathlib import Path

_CHUNK = 65_536


async def relay(listener: socket.socket, path: Path) -> asyncio.Server:
    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(writer.close)
            try:
                upstream_reader, upstream_writer = await asyncio.open_unix_connection(str(path))
            except OSError:
                return  # nothing listens there: the client sees its connection close
            stack.callback(upstream_writer.close)
            await asyncio.gather(_pump(reader, upstream_writer), _pump(upstream_reader, writer))

    return await asyncio.start_server(forward, sock=listener)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
    except (ConnectionError, OSError):
        target.close()
