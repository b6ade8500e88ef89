"""The host's end of the connection to a supervisor; the protocol is described in supervisor.py.

What comes out of a jail is not trusted: a frame or a reply that is longer than allowed closes the connection.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from journeyman.errors import JourneymanError, SandboxLost
from journeyman.sandboxes.base import OnOutput

_MAX_FRAME_BYTES = 65_536


@dataclass(frozen=True)
class SupervisorReply:
    data: bytes
    code: int
    timed_out: bool
    truncated: bool


@dataclass
class _Pending:
    future: asyncio.Future[SupervisorReply]
    room: int
    on_output: OnOutput | None
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def take(self, data: bytes) -> None:
        self.data += data
        if self.on_output:
            self.on_output(data)


class SupervisorConnection(asyncio.Protocol):
    def __init__(self, name: str) -> None:
        self._name = name
        self._transport: asyncio.Transport | None = None
        self._pending: dict[int, _Pending] = {}
        self._incoming = bytearray()
        self._last_request = 0
        self._closed_because: JourneymanError | None = None
        """The error for pending and later requests, where it is not the usual one."""
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the supervisor says that it is ready; fails when it is gone before."""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def call(
        self, kind: bytes, fields: Sequence[bytes], *, room: int = 0, on_output: OnOutput | None = None
    ) -> SupervisorReply:
        """Send a request and wait for its reply of at most `room` bytes of output."""
        request, reply = self.send(kind, fields, room=room, on_output=on_output)
        try:
            return await reply
        except asyncio.CancelledError:
            self.kill(request)
            raise

    def kill(self, request: int) -> None:
        """Kill what a request started, without waiting until it is gone."""
        if self.is_open:
            self._write_frame(b"K", request, ())

    def send(
        self,
        kind: bytes,
        fields: Sequence[bytes],
        *,
        room: int = 0,
        on_output: OnOutput | None = None,
        before: Callable[[int], None] | None = None,
    ) -> tuple[int, asyncio.Future[SupervisorReply]]:
        """Send a request; returns its number and its reply to come. `before` is given the number first."""
        if self._transport is None or self._transport.is_closing():
            raise self._lost()
        self._last_request = request = self._last_request + 1
        if before:
            before(request)
        pending = _Pending(asyncio.get_running_loop().create_future(), room, on_output)
        self._pending[request] = pending
        pending.future.add_done_callback(lambda _: self._pending.pop(request, None))
        self._write_frame(kind, request, fields)
        return request, pending.future

    def close(self, why: JourneymanError | None = None) -> None:
        """Close the connection; pending and later requests fail with `why`."""
        self._closed_because = self._closed_because or why
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        while len(self._incoming) >= 9:
            length = int.from_bytes(self._incoming[5:9], "big")
            if length > _MAX_FRAME_BYTES:
                return self.close()
            if len(self._incoming) < 9 + length:
                return None
            kind, request = bytes(self._incoming[:1]), int.from_bytes(self._incoming[1:5], "big")
            body = bytes(self._incoming[9 : 9 + length])
            del self._incoming[: 9 + length]
            try:
                self._handle_frame(kind, self._pending.get(request), body)
            except ValueError:
                return self.close()
        return None

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(self._lost())
        for pending in list(self._pending.values()):
            if not pending.future.done():
                pending.future.set_exception(self._lost())

    def _write_frame(self, kind: bytes, request: int, fields: Sequence[bytes]) -> None:
        assert self._transport is not None
        body = b"".join(len(part).to_bytes(4, "big") + part for part in fields)
        self._transport.write(kind + request.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body)

    def _handle_frame(self, kind: bytes, pending: _Pending | None, body: bytes) -> None:
        if kind == b"H" and not self.ready.done():
            self.ready.set_result(None)
        if pending is None or pending.future.done():
            return  # the caller was cancelled
        if kind == b"O":
            pending.room -= len(body)
            if pending.room < 0:
                raise ValueError("a reply is longer than was asked for")
            pending.take(body)
        elif kind == b"C":
            pending.truncated = True
            pending.take(b"\n[... %d bytes of output were left out here ...]\n" % int(body))
        elif kind == b"E":
            code, timed_out = map(int, body.split())
            data = bytes(pending.data)
            pending.future.set_result(SupervisorReply(data, code, bool(timed_out), pending.truncated))
        elif kind == b"X":
            number = int(body)
            if number == errno.EROFS:
                pending.future.set_exception(PermissionError(number, os.strerror(number)))
            else:
                pending.future.set_exception(OSError(number, os.strerror(number)))

    def _lost(self) -> JourneymanError:
        return self._closed_because or SandboxLost(
            f"sandbox {self._name} is gone",
            hint="Its first process ended. The next step opens a new sandbox on the same workspace.",
        )
