"""Server-sent events: the frames in which every format but Google's lists streams its answers."""

import json
from collections.abc import Iterator
from typing import Any


class EventSplitter:
    """Cuts the bytes of a stream, wherever its chunks end, into the data of its events."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self.rest_bytes = 0
        """Size of the line that has no end yet."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        lines, found, rest = chunk.rpartition(b"\n")
        if not found:  # joined when it has an end: a line without one would be copied again and again
            self._rest.append(chunk)
            self.rest_bytes += len(chunk)
            return
        whole = b"".join((*self._rest, lines))
        self._rest, self.rest_bytes = [rest], len(rest)
        for line in whole.split(b"\n"):
            if line.startswith(b"data:"):
                yield line[5:].strip()

    def end(self) -> Iterator[bytes]:
        """The data of a last line that the stream did not end."""
        rest = b"".join(self._rest)
        self._rest, self.rest_bytes = [], 0
        if rest.startswith(b"data:"):
            yield rest[5:].strip()


def write_event(data: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()
