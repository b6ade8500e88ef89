"""A program that runs in a sandbox on pipes of its own, for as long as somebody speaks with it.

When it ends, what it started is ended too: a grandchild that holds its output open keeps nobody waiting.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable, Mapping, Sequence

from journeyman.sandboxes.fd_channel import FdChannel
from journeyman.sandboxes.supervisor_connection import SupervisorConnection, SupervisorReply

_UNREAD_BYTES = 1_000_000
"""Above this a program has to wait for whoever reads it. Lines are put together, and limited, by readers."""
_PIPE_BYTES = 1_048_576
_COMPLAINT_BYTES = 8_000
_LAST_WORDS_SECONDS = 2.0


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
        self._listening = asyncio.create_task(self._listen(stderr))
        self._ended = asyncio.create_task(self._end(ended))
        self._ended.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )  # seen, if by nobody else

    @property
    def stderr_tail(self) -> str:
        return self._stderr_tail.decode(errors="replace").strip()

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    async def terminate(self) -> None:
        self.stdin.close()
        if self._connection.is_open:
            await self._quell()
        await asyncio.gather(self._ended, return_exceptions=True)

    async def _end(self, ended: asyncio.Future[SupervisorReply]) -> int:
        loop = asyncio.get_running_loop()
        try:
            answer = await ended
            self._stderr_tail += answer.data
            await self._quell()
            return answer.code
        finally:
            self.stdin.close()
            for output in self._outputs:
                loop.call_later(_LAST_WORDS_SECONDS, output.close)
            await self._listening

    async def _quell(self) -> None:
        await self._connection.ask(b"Q", [b"%d" % self._request])

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(_COMPLAINT_BYTES):
            self._stderr_tail = (self._stderr_tail + data)[-_COMPLAINT_BYTES:]


async def start_program(
    connection: SupervisorConnection,
    fd_channel: FdChannel,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
) -> Program:
    """Start a program; one that cannot be started ends with 126 or 127 and a complaint that says why."""
    pipes = [os.pipe() for _ in range(3)]
    # Programs that run on node lose what is still on its way when they exit, so much has to fit.
    with contextlib.suppress(OSError):  # the machine may allow less
        fcntl.fcntl(pipes[1][0], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
    fields = [os.fsencode(cwd), b"%d" % len(command), *map(os.fsencode, command)]
    fields += [os.fsencode(word) for pair in env.items() for word in pair]
    loop = asyncio.get_running_loop()
    stdout, stderr = asyncio.StreamReader(limit=_UNREAD_BYTES), asyncio.StreamReader()
    try:
        transport, protocol = await loop.connect_write_pipe(
            _reading(asyncio.StreamReader()), os.fdopen(pipes[0][1], "wb", 0)
        )
        stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        outputs = [
            (await loop.connect_read_pipe(_reading(reader), os.fdopen(reading, "rb", 0)))[0]
            for reader, (reading, _) in ((stdout, pipes[1]), (stderr, pipes[2]))
        ]
        request, ended = connection.begin(
            b"T", fields, room=4096, ahead=lambda number: fd_channel.lend(number, theirs)
        )
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Program(connection, request, ended, stdin, stdout, stderr, outputs)


def _reading(reader: asyncio.StreamReader) -> Callable[[], asyncio.StreamReaderProtocol]:
    return lambda: asyncio.StreamReaderProtocol(reader)
