"""A long-running program in a sandbox, on pipes of its own.

When it ends, everything it started is killed: a grandchild that holds its output open blocks no reader.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable, Mapping, Sequence

from journeyman.sandboxes.fd_channel import FdChannel
from journeyman.sandboxes.supervisor_connection import SupervisorConnection, SupervisorReply

_UNREAD_BYTES = 1_000_000
"""Above this the program has to wait for its reader. Lines are assembled, and limited, by readers."""
_PIPE_BYTES = 1_048_576
_STDERR_BYTES = 8_000
_DRAIN_SECONDS = 2.0


class Program:
    def __init__(
        self,
        connection: SupervisorConnection,
        request: int,
        ended: asyncio.Future[SupervisorReply],
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
        outputs: Sequence[asyncio.BaseTransport],
    ) -> None:
        self._connection = connection
        self._request = request
        self.stdin = stdin
        self.stdout = stdout
        self._outputs = outputs
        self._stderr_tail = b""
        self._reading_stderr = asyncio.create_task(self._read_stderr(stderr))
        self._ended = asyncio.create_task(self._end(ended))
        self._ended.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )  # retrieved, so that asyncio does not log it where no caller waits

    @property
    def stderr_tail(self) -> str:
        return self._stderr_tail.decode(errors="replace").strip()

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    async def terminate(self) -> None:
        self.stdin.close()
        if self._connection.is_open:
            await self._kill_all()
        await asyncio.gather(self._ended, return_exceptions=True)

    async def _end(self, ended: asyncio.Future[SupervisorReply]) -> int:
        loop = asyncio.get_running_loop()
        try:
            reply = await ended
            self._stderr_tail += reply.data
            await self._kill_all()
            return reply.code
        finally:
            self.stdin.close()
            for output in self._outputs:
                loop.call_later(_DRAIN_SECONDS, output.close)
            await self._reading_stderr

    async def _kill_all(self) -> None:
        await self._connection.call(b"Q", [b"%d" % self._request])

    async def _read_stderr(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(_STDERR_BYTES):
            self._stderr_tail = (self._stderr_tail + data)[-_STDERR_BYTES:]


async def start_program(
    connection: SupervisorConnection,
    fd_channel: FdChannel,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
) -> Program:
    """Start a program; one that cannot be started ends with 126 or 127 and the reason as its stderr."""
    pipes = [os.pipe() for _ in range(3)]
    # Node drops unwritten output when it exits, so the pipe has to be large.
    with contextlib.suppress(OSError):  # the machine may allow less
        fcntl.fcntl(pipes[1][0], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
    fields = [os.fsencode(cwd), b"%d" % len(command), *map(os.fsencode, command)]
    fields += [os.fsencode(word) for pair in env.items() for word in pair]
    loop = asyncio.get_running_loop()
    stdout, stderr = asyncio.StreamReader(limit=_UNREAD_BYTES), asyncio.StreamReader()
    try:
        transport, protocol = await loop.connect_write_pipe(
            _protocol_for(asyncio.StreamReader()), os.fdopen(pipes[0][1], "wb", 0)
        )
        stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        outputs = [
            (await loop.connect_read_pipe(_protocol_for(reader), os.fdopen(reading, "rb", 0)))[0]
            for reader, (reading, _) in ((stdout, pipes[1]), (stderr, pipes[2]))
        ]
        request, ended = connection.send(
            b"T", fields, room=4096, before=lambda number: fd_channel.send(number, theirs)
        )
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Program(connection, request, ended, stdin, stdout, stderr, outputs)


def _protocol_for(reader: asyncio.StreamReader) -> Callable[[], asyncio.StreamReaderProtocol]:
    return lambda: asyncio.StreamReaderProtocol(reader)
