"""One git process: what it is told, what it says, and its end.

Asyncio's own way costs twice as much per process: pipes, streams and tasks that a git which is told all it
needs at its start has no use for. Input is a file in memory, so nobody has to feed it.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from journeyman.git.locks import held_descriptors

_GRACE_SECONDS = 2.0
"""Time between asking git to stop, so that it can remove its lock files, and stopping it."""
_CHUNK = 1 << 16
_ERROR_BYTES = 64_000


@dataclass(frozen=True)
class ProcessResult:
    exit_code: int
    output: bytes
    error: bytes
    """The last of it: the cause of a failure is said at the end, after any amount of chatter."""
    truncated: bool


async def run_process(
    command: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    stdin: bytes,
    limit: int,
    each: Callable[[bytes], None] | None,
) -> ProcessResult:
    """Run a command to its end. Whoever stops waiting, and output beyond the limit, end its whole group."""
    child = _Child(_start(command, cwd, env, stdin), limit, is_followed=each is not None)
    try:
        while await child.says_more():
            if each is not None:
                for piece in child.taken_output():
                    each(piece)
        if not child.truncated:
            await child.exited()
    finally:
        child.stop_listening()
        if child.process.poll() is None:
            await child.end()
    exit_code = 0 if child.truncated else child.process.returncode
    return ProcessResult(
        exit_code, b"".join(child.taken_output())[:limit], bytes(child.error), child.truncated
    )


def _start(
    command: Sequence[str], cwd: Path | str, env: Mapping[str, str], stdin: bytes
) -> subprocess.Popen[bytes]:
    source = os.memfd_create("stdin") if stdin else subprocess.DEVNULL
    try:
        if stdin:
            with open(source, "wb", closefd=False) as file:
                file.write(stdin)
            os.lseek(source, 0, os.SEEK_SET)
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
            umask=0o022,  # the user of a jail has to be able to read what git writes
            pass_fds=held_descriptors(),
        )
    finally:
        if stdin:
            os.close(source)


class _Child:
    def __init__(self, process: subprocess.Popen[bytes], limit: int, *, is_followed: bool) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.error = bytearray()
        self.truncated = False
        self._output: list[bytes] = []
        self._room = limit
        self._is_followed = is_followed
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._pipes: set[IO[bytes]] = set()
        self._listen(process.stdout, self._take)
        self._listen(process.stderr, self._take_error)

    async def says_more(self) -> bool:
        """Wait for the end of what it says or, when it is followed, for the next piece. False at the end."""
        if not self._pipes or self.truncated:
            return False
        await self._news.wait()
        self._news.clear()
        return True

    def taken_output(self) -> list[bytes]:
        """What came on standard output since the last time."""
        taken, self._output = self._output, []
        return taken

    def stop_listening(self) -> None:
        for pipe in list(self._pipes):
            self._close(pipe)

    async def exited(self) -> None:
        if self.process.poll() is not None:
            return
        ended = asyncio.Event()
        descriptor = os.pidfd_open(self.process.pid)
        self._loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
        self.process.wait()

    async def end(self) -> None:
        """End the whole group: git first, so that it can tidy up, then whatever it started and left."""
        try:
            self._signal(signal.SIGTERM)
            async with asyncio.timeout(_GRACE_SECONDS):
                await self.exited()
        except TimeoutError:
            pass
        finally:
            self._signal(signal.SIGKILL)
        await self.exited()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _listen(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        self._pipes.add(pipe)
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_reader(pipe.fileno(), self._read, pipe, take)

    def _read(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        data = os.read(pipe.fileno(), _CHUNK)
        if data:
            take(data)
            return
        self._close(pipe)
        if not self._pipes:
            self._news.set()

    def _close(self, pipe: IO[bytes]) -> None:
        self._pipes.remove(pipe)
        self._loop.remove_reader(pipe.fileno())
        pipe.close()

    def _take(self, data: bytes) -> None:
        self._output.append(data)
        self._room -= 0 if self._is_followed else len(data)
        self.truncated = self._room < 0
        if self._is_followed or self.truncated:
            self._news.set()

    def _take_error(self, data: bytes) -> None:
        self.error += data
        del self.error[:-_ERROR_BYTES]
