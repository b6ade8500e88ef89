"""Run one git process and collect its output.

asyncio's own subprocesses cost twice as much: they set up pipes, streams and tasks that are not needed here.
Standard input is a memory file, so nothing has to be written while git runs.
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
"""Time between SIGTERM, at which git removes its lock files, and SIGKILL."""
_CHUNK = 1 << 16
_ERROR_BYTES = 64_000


@dataclass(frozen=True)
class ProcessResult:
    exit_code: int
    output: bytes
    error: bytes
    """The end of standard error, where git names the cause of a failure."""
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
    """Run a command to its end. Cancellation, and output beyond the limit, kill its process group."""
    running = _Process(_start(command, cwd, env, stdin), limit, is_followed=each is not None)
    try:
        while await running.more_output():
            if each is not None:
                for piece in running.take_output():
                    each(piece)
        if not running.truncated:
            await running.wait_exit()
    finally:
        running.close_pipes()
        if running.process.poll() is None:
            await running.end()
    exit_code = 0 if running.truncated else running.process.returncode
    return ProcessResult(
        exit_code, b"".join(running.take_output())[:limit], bytes(running.error), running.truncated
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


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], limit: int, *, is_followed: bool) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.error = bytearray()
        self.truncated = False
        self._output: list[bytes] = []
        self._room = limit
        self._is_followed = is_followed
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._pipes: set[IO[bytes]] = set()
        self._read_from(process.stdout, self._take)
        self._read_from(process.stderr, self._take_error)

    async def more_output(self) -> bool:
        """Wait for the end of the output or, when it is followed, for the next piece. False at the end."""
        if not self._pipes or self.truncated:
            return False
        await self._changed.wait()
        self._changed.clear()
        return True

    def take_output(self) -> list[bytes]:
        """Standard output since the last call."""
        taken, self._output = self._output, []
        return taken

    def close_pipes(self) -> None:
        for pipe in list(self._pipes):
            self._close(pipe)

    async def wait_exit(self) -> None:
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
        """End the process group: SIGTERM first, so that git removes its lock files, then SIGKILL."""
        try:
            self._signal(signal.SIGTERM)
            async with asyncio.timeout(_GRACE_SECONDS):
                await self.wait_exit()
        except TimeoutError:
            pass
        finally:
            self._signal(signal.SIGKILL)
        await self.wait_exit()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _read_from(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
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
            self._changed.set()

    def _close(self, pipe: IO[bytes]) -> None:
        self._pipes.remove(pipe)
        self._loop.remove_reader(pipe.fileno())
        pipe.close()

    def _take(self, data: bytes) -> None:
        self._output.append(data)
        self._room -= 0 if self._is_followed else len(data)
        self.truncated = self._room < 0
        if self._is_followed or self.truncated:
            self._changed.set()

    def _take_error(self, data: bytes) -> None:
        self.error += data
        del self.error[:-_ERROR_BYTES]
