"""Lets what connects to a listening socket reach a unix socket of this machine.

Whoever is slow is waited for: a half of a conversation that nobody reads is not gathered here.
"""

import asyncio
import contextlib
import socket
from pathlib import Path

_CHUNK = 65_536


async def relay(listener: socket.socket, path: Path) -> asyncio.Server:
    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(writer.close)
            try:
                answering, asking = await asyncio.open_unix_connection(str(path))
            except OSError:
                return  # the door is shut: the one who knocked hears the connection close
            stack.callback(asking.close)
            await asyncio.gather(_pump(reader, asking), _pump(answering, writer))

    return await asyncio.start_server(carry, sock=listener)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
    except (ConnectionError, OSError):
        target.close()
