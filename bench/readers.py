"""Readers of the event stream, many at once, each of which keeps count of what it sees.

They speak HTTP over plain sockets: a client library would need more of the processor than the server does,
and the readers would then measure themselves.
"""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Seen:
    """What one reader saw of one order."""

    events: int = 0
    faults: int = 0
    """Numbers that did not follow the one before: a gap, a repetition, or the wrong order."""
    last_type: str = ""


async def read_to_the_end(url: str, order_id: str) -> Seen:
    """Follow an order until its stream ends."""
    seen, address = Seen(), urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 22)
    path = f"/api/agent-work-orders/{order_id}/events?until=finished"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
    try:
        while line := await reader.readline():
            # The lines between these are lengths of chunks, data and the header.
            if line.startswith(b"id: "):
                seen.faults += int(line[4:]) != seen.events + 1
                seen.events += 1
            elif line.startswith(b"event: "):
                seen.last_type = line[7:].decode().strip()
    finally:
        writer.close()
    return seen
