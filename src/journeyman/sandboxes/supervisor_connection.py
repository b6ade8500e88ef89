"""The host's end of the conversation with a supervisor.

What comes out of a jail is not trusted: a frame or an answer that is longer than was asked for ends the
conversation. The frames are described in supervisor.py.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from journeyman.errors import JourneymanError, SandboxLost
from journeyman.sandboxes.base import OnOutput

_LONGEST_FRAME = 65_536


@dataclass(frozen=True)
class SupervisorReply:
    data: bytes
    code: int
    timed_out: bool
    truncated: bool


@dataclass
class _Waiting:
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
        self._waiting: dict[int, _Waiting] = {}
        self._incoming = bytearray()
        self._last_request = 0
        self._why: JourneymanError | None = None
        """Why it was hung up, where whoever asks is to know."""
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the supervisor has spoken for the first time, or is gone."""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(
        self, kind: bytes, fields: Sequence[bytes], *, room: int = 0, on_output: OnOutput | None = None
    ) -> SupervisorReply:
        """Send one request and wait for its answer of at most `room` bytes."""
        request, answer = self.begin(kind, fields, room=room, on_output=on_output)
        try:
            return await answer
        except asyncio.CancelledError:
            self.kill(request)
            raise

    def kill(self, request: int) -> None:
        """End what a request started, without waiting for it to be gone."""
        if self.is_open:
            self._send(b"K", request, ())

    def begin(
        self,
        kind: bytes,
        fields: Sequence[bytes],
        *,
        room: int = 0,
        on_output: OnOutput | None = None,
        ahead: Callable[[int], None] | None = None,
    ) -> tuple[int, asyncio.Future[SupervisorReply]]:
        """Send one request, after `ahead` was told its number; the number and the answer to come."""
        if self._transport is None or self._transport.is_closing():
            raise self._lost()
        self._last_request = request = self._last_request + 1
        if ahead:
            ahead(request)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), room, on_output)
        self._waiting[request] = waiting
        waiting.future.add_done_callback(lambda _: self._waiting.pop(request, None))
        self._send(kind, request, fields)
        return request, waiting.future

    def hang_up(self, why: JourneymanError | None = None) -> None:
        """End the conversation; whoever waits for an answer, or asks from now on, is told why."""
        self._why = self._why or why
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        while len(self._incoming) >= 9:
            length = int.from_bytes(self._incoming[5:9], "big")
            if length > _LONGEST_FRAME:
                return self.hang_up()
            if len(self._incoming) < 9 + length:
                return None
            kind, request = bytes(self._incoming[:1]), int.from_bytes(self._incoming[1:5], "big")
            body = bytes(self._incoming[9 : 9 + length])
            del self._incoming[: 9 + length]
            try:
                self._hear(kind, self._waiting.get(request), body)
            except ValueError:
                return self.hang_up()
        return None

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(self._lost())
        for waiting in list(self._waiting.values()):
            if not waiting.future.done():
                waiting.future.set_exception(self._lost())

    def _send(self, kind: bytes, request: int, fields: Sequence[bytes]) -> None:
        assert self._transport is not None
        body = b"".join(len(part).to_bytes(4, "big") + part for part in fields)
        self._transport.write(kind + request.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body)

    def _hear(self, kind: bytes, waiting: _Waiting | None, body: bytes) -> None:
        if kind == b"H" and not self.ready.done():
            self.ready.set_result(None)
        if waiting is None or waiting.future.done():
            return  # the one who asked has gone
        if kind == b"O":
            waiting.room -= len(body)
            if waiting.room < 0:
                raise ValueError("an answer is longer than was asked for")
            waiting.take(body)
        elif kind == b"C":
            waiting.truncated = True
            waiting.take(b"\n[... %d bytes of output were left out here ...]\n" % int(body))
        elif kind == b"E":
            code, timed_out = map(int, body.split())
            data = bytes(waiting.data)
            waiting.future.set_result(SupervisorReply(data, code, bool(timed_out), waiting.truncated))
        elif kind == b"X":
            number = int(body)
            if number == errno.EROFS:
                waiting.future.set_exception(PermissionError(number, os.strerror(number)))
            else:
                waiting.future.set_exception(OSError(number, os.strerror(number)))

    def _lost(self) -> JourneymanError:
        return self._why or SandboxLost(
            f"sandbox {self._name} is gone",
            hint="Its first process ended. The next step opens a new sandbox on the same workspace.",
        )
