"""A sandbox without walls, for tests of what happens around one: real processes in a directory.

Tests of isolation use the jail; this one starts in no time and runs wherever the tests do.
"""

import asyncio
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.errors import SandboxLost, SandboxUnavailable
from journeyman.sandboxes.base import Completed, OnOutput, Running, SandboxState, WayOut


class PlainSandbox:
    def __init__(self, tree: Path, *, writable: bool = True) -> None:
        self.tree = tree
        self.writable = writable
        self.lost = False
        self.running: set[int] = set()
        self.started: asyncio.Queue[int] = asyncio.Queue()
        """Process ids in the order in which they began, for tests that wait for one."""

    @property
    def identifier(self) -> str:
        return f"plain:{self.tree.name}"

    async def execute_command(
        self,
        command: Sequence[str] | str,
        *,
        timeout: float,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        on_output: OnOutput | None = None,
    ) -> Completed:
        if self.lost:
            raise SandboxLost("the sandbox is gone", hint="A new one takes its place.")
        started = time.perf_counter()
        arguments = ["bash", "-c", command] if isinstance(command, str) else list(command)
        process = await asyncio.create_subprocess_exec(
            *arguments,
            cwd=self.tree / cwd,
            env={**os.environ, **(env or {})},
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        self.running.add(process.pid)
        self.started.put_nowait(process.pid)
        output, timed_out = b"", False
        try:
            async with asyncio.timeout(timeout):
                output, _ = await process.communicate(stdin)
        except TimeoutError:
            timed_out = True
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
            self.running.discard(process.pid)
        if on_output is not None:
            on_output(output)
        return Completed(
            exit_code=None if timed_out else process.returncode,
            output=output.decode("utf-8", "replace"),
            timed_out=timed_out,
            duration_seconds=time.perf_counter() - started,
        )

    async def read_file(self, path: str, *, limit: int = 2_000_000) -> bytes:
        with (self.tree / path).open("rb") as file:
            return file.read(limit)

    async def write_file(self, path: str, content: bytes) -> None:
        if not self.writable:
            raise PermissionError(13, "the workspace is read-only", path)
        target = self.tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    @property
    def workspace(self) -> str:
        return str(self.tree)

    @property
    def home(self) -> str:
        return str(self.tree)

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str = ".") -> Running:
        raise SandboxUnavailable("programs are started in the jail", hint="Use LocalSandboxes.")

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", port)

    async def open_door(self, path: Path) -> int:
        raise SandboxUnavailable("doors are opened in the jail", hint="Use LocalSandboxes.")

    async def attach(self, way_out: WayOut) -> None:
        raise NotImplementedError

    async def get_current_state(self) -> SandboxState:
        return SandboxState(self.identifier, not self.lost, "none", len(self.running))

    async def cleanup(self) -> None:
        self.lost = True
