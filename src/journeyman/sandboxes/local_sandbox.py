"""One sandbox on this machine: a bubblewrap jail around a workspace, with a supervisor inside."""

import asyncio
import contextlib
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.errors import DiskQuotaExceeded, SandboxLost
from journeyman.sandboxes import jail, network, program
from journeyman.sandboxes.base import Completed, OnOutput, SandboxLimits, SandboxSpec, SandboxState, WayOut
from journeyman.sandboxes.control_groups import ControlGroup
from journeyman.sandboxes.fd_channel import FdChannel
from journeyman.sandboxes.network import Network
from journeyman.sandboxes.processes import clear_group, end_process, kill_with_child
from journeyman.sandboxes.program import Program
from journeyman.sandboxes.relay import relay
from journeyman.sandboxes.supervisor_connection import SupervisorConnection, SupervisorReply

REPLY_SECONDS = 30.0
"""How late a supervisor may be before it counts as lost."""
_LONGEST_NOTED = 1000
"""Characters of a command that a denial names."""


class LocalSandbox:
    def __init__(
        self,
        spec: SandboxSpec,
        isolation: str,
        connection: SupervisorConnection,
        fd_channel: FdChannel,
        process: subprocess.Popen[bytes],
        group: ControlGroup | None,
        directories: tuple[Path, ...],
        resources: contextlib.ExitStack,
    ) -> None:
        self.spec = spec
        self.directories = directories
        self.stopped_because: DiskQuotaExceeded | None = None
        self._isolation = isolation
        self._connection = connection
        self._fd_channel = fd_channel
        self._process = process
        self._group = group
        self._resources = resources
        """Closed when it has ended."""
        self._network: Network | None = None
        self._doors: dict[Path, asyncio.Server] = {}
        self._way_out: WayOut | None = None
        self._proxy_variables: dict[str, str] = {}
        self._ended = False
        self.stderr = ""
        """What it wrote there, known after it was cleaned up."""

    @property
    def identifier(self) -> str:
        return identifier_of(self.spec)

    @property
    def order_id(self) -> str:
        return self.spec.order_id

    @property
    def limits(self) -> SandboxLimits:
        return self.spec.limits

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._connection.is_open

    def stop(self, why: DiskQuotaExceeded) -> None:
        """Kill every process in it at once; pending requests fail with `why`."""
        self.stopped_because = why
        self._connection.close(why)
        if self._isolation != "none":  # without a jail the supervisor has to find the others before it exits
            kill_with_child(self._process)

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
        arguments = ["bash", "-c", command] if isinstance(command, str) else list(command)
        self._note(command)
        cap = self.spec.limits.output_bytes
        words = [cwd, "0" if stdin is None else "1"]
        fields = [b"%f" % timeout, b"%d" % cap, *map(os.fsencode, words), stdin or b""]
        extra = [word for pair in self._variables(env).items() for word in pair]
        fields += [b"%d" % len(arguments), *map(os.fsencode, [*arguments, *extra])]
        started = time.monotonic()
        reply = await self._call(b"R", fields, room=cap + 4096, on_output=on_output, time=timeout)
        return Completed(
            exit_code=None if reply.timed_out else reply.code,
            output=reply.data.decode(errors="replace"),
            timed_out=reply.timed_out,
            truncated=reply.truncated,
            duration_seconds=time.monotonic() - started,
        )

    async def read_file(self, path: str, *, limit: int = 2_000_000) -> bytes:
        return (await self._call(b"G", [os.fsencode(path), b"%d" % limit], room=limit)).data

    async def write_file(self, path: str, content: bytes) -> None:
        if not self.spec.writable and self._isolation == "none":
            raise PermissionError(f"{self.identifier} may not write {path}")
        await self._call(b"P", [os.fsencode(path), content])

    async def get_current_state(self) -> SandboxState:
        try:
            processes = int((await self._call(b"S", [], room=20)).data)
        except SandboxLost:
            processes = 0
        return SandboxState(self.identifier, self.is_alive, self._isolation, processes)

    async def _call(
        self,
        kind: bytes,
        fields: list[bytes],
        *,
        room: int = 0,
        on_output: OnOutput | None = None,
        time: float = 0,
    ) -> SupervisorReply:
        """Send a request; a supervisor that does not reply in `time` and REPLY_SECONDS more is lost."""
        try:
            async with asyncio.timeout(time + REPLY_SECONDS):
                return await self._connection.call(kind, fields, room=room, on_output=on_output)
        except TimeoutError:
            self._connection.close()
            raise SandboxLost(
                f"sandbox {self.identifier} does not answer",
                hint="The next step opens a new sandbox on the same workspace.",
            ) from None

    @property
    def workspace(self) -> str:
        return str(self.spec.tree) if self._isolation == "none" else jail.WORKSPACE

    @property
    def home(self) -> str:
        if self._isolation == "none":
            return str(self.spec.home or self.spec.tree)
        return jail.SESSIONS if self.spec.home else jail.HOME

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str = ".") -> Program:
        env = self._variables(env)
        self._note(command)
        return await program.start_program(self._connection, self._fd_channel, command, env=env, cwd=cwd)

    def _note(self, command: Sequence[str] | str) -> None:
        if self._way_out is not None:
            text = command if isinstance(command, str) else shlex.join(command)
            self._way_out.command = text[:_LONGEST_NOTED]

    def _variables(self, more: Mapping[str, str] | None) -> dict[str, str]:
        """Given to each command, never to what starts the jail: LD_PRELOAD would be obeyed there by root."""
        own = {name: value for name, value in self.spec.env if name != "PATH"}
        return {**own, **self._proxy_variables, **(more or {})}

    async def attach(self, way_out: WayOut) -> None:
        self._way_out = way_out
        self._proxy_variables = dict(way_out.variables(await self.open_door(way_out.socket)))

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(sock=await self._received_socket(port))

    async def open_door(self, path: Path) -> int:
        if path not in self._doors:
            self._doors[path] = await relay(await self._received_socket(0), path)
        port: int = self._doors[path].sockets[0].getsockname()[1]
        return port

    async def _received_socket(self, port: int) -> socket.socket:
        request, reply = self._connection.send(b"N", [b"%d" % port])
        await reply
        return self._fd_channel.receive(request)

    async def join_network(self) -> None:
        """Connect the jail to the internet; its own network has only a loopback."""
        self._network = await network.connect(self._process.pid)

    async def cleanup(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._network:
            self._network.close()
        for door in self._doors.values():
            door.close()
        if self._way_out:
            await self._way_out.close()
        self._fd_channel.close()
        self._connection.close()  # the supervisor sees that and exits, which ends the jail
        self.stderr = await end_process(self._process)
        if self._group:
            await clear_group(self._group)
        self._resources.close()


def identifier_of(spec: SandboxSpec) -> str:
    if spec.purpose != "work":
        return f"local-{spec.order_id}-{spec.purpose}"
    return f"local-{spec.order_id}" if spec.writable else f"local-{spec.order_id}-read-only"
