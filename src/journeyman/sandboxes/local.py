"""Sandboxes on this machine: a bubblewrap jail around one workspace, with a supervisor inside.

Everything is started from the event loop's own thread: the jail ends with the thread that started it.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.errors import DiskQuotaExceeded, SandboxLost, SandboxUnavailable, StoreUnavailable
from journeyman.sandboxes import jail, network, program
from journeyman.sandboxes.base import Completed, OnOutput, Readiness, SandboxLimits, SandboxSpec, SandboxState
from journeyman.sandboxes.control_groups import ControlGroup, ControlGroups
from journeyman.sandboxes.disk_monitor import DiskMonitor
from journeyman.sandboxes.fd_channel import FdChannel
from journeyman.sandboxes.launch import INSTALL, MARK, launch, mark_of
from journeyman.sandboxes.network import Network
from journeyman.sandboxes.program import Program
from journeyman.sandboxes.quota import measure
from journeyman.sandboxes.relay import relay
from journeyman.sandboxes.reserve import DiskReserve
from journeyman.sandboxes.scratch import Scratch, Scratches
from journeyman.sandboxes.supervisor_connection import SupervisorConnection, SupervisorReply
from journeyman.settings import Settings

_PATIENCE = 30.0
"""Seconds that a supervisor may be late before it counts as gone."""
_TRIAL = "trial"
"""Stands for an order where it is only tried whether a sandbox can be had."""
_ALLOW = (
    "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1, or on Ubuntu "
    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with --privileged."
)


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
        self._hatch = fd_channel
        self._process = process
        self._group = group
        self._resources = resources
        """What is given back when it has ended."""
        self._network: Network | None = None
        self._doors: dict[Path, asyncio.Server] = {}
        self._ended = False
        self.last_words = ""
        """What it complained of, known after it was cleaned up."""

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
        """End every process in it at once; whoever waits for one is told why."""
        self.stopped_because = why
        self._connection.hang_up(why)
        if self._isolation != "none":  # there the supervisor has to find the others before it goes
            _kill_with_child(self._process)

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
        cap = self.spec.limits.output_bytes
        words = [cwd, "0" if stdin is None else "1"]
        fields = [b"%f" % timeout, b"%d" % cap, *map(os.fsencode, words), stdin or b""]
        extra = [word for pair in (env or {}).items() for word in pair]
        fields += [b"%d" % len(arguments), *map(os.fsencode, [*arguments, *extra])]
        started = time.monotonic()
        answer = await self._ask(b"R", fields, room=cap + 4096, on_output=on_output, time=timeout)
        return Completed(
            exit_code=None if answer.timed_out else answer.code,
            output=answer.data.decode(errors="replace"),
            timed_out=answer.timed_out,
            truncated=answer.truncated,
            duration_seconds=time.monotonic() - started,
        )

    async def read_file(self, path: str, *, limit: int = 2_000_000) -> bytes:
        return (await self._ask(b"G", [os.fsencode(path), b"%d" % limit], room=limit)).data

    async def write_file(self, path: str, content: bytes) -> None:
        if not self.spec.writable and self._isolation == "none":
            raise PermissionError(f"{self.identifier} may not write {path}")
        await self._ask(b"P", [os.fsencode(path), content])

    async def get_current_state(self) -> SandboxState:
        try:
            processes = int((await self._ask(b"S", [], room=20)).data)
        except SandboxLost:
            processes = 0
        return SandboxState(self.identifier, self.is_alive, self._isolation, processes)

    async def _ask(
        self,
        kind: bytes,
        fields: list[bytes],
        *,
        room: int = 0,
        on_output: OnOutput | None = None,
        time: float = 0,
    ) -> SupervisorReply:
        """Ask the supervisor; one that stays silent for longer than `time` and some patience is gone."""
        try:
            async with asyncio.timeout(time + _PATIENCE):
                return await self._connection.ask(kind, fields, room=room, on_output=on_output)
        except TimeoutError:
            self._connection.hang_up()
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
        return await program.start_program(self._connection, self._hatch, command, env=env, cwd=cwd)

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(sock=await self._handed_out(port))

    async def open_door(self, path: Path) -> int:
        if path not in self._doors:
            self._doors[path] = await relay(await self._handed_out(0), path)
        port: int = self._doors[path].sockets[0].getsockname()[1]
        return port

    async def _handed_out(self, port: int) -> socket.socket:
        request, answer = self._connection.begin(b"N", [b"%d" % port])
        await answer
        return self._hatch.take(request)

    async def join_network(self) -> None:
        """Give the jail a way out; it has none of its own."""
        self._network = await network.connect(self._process.pid)

    async def cleanup(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._network:
            self._network.close()
        for door in self._doors.values():
            door.close()
        self._hatch.close()
        self._connection.hang_up()  # the supervisor hears it, goes, and takes the jail along
        self.last_words = await _end(self._process)
        if self._group:
            await _clear(self._group)
        self._resources.close()


class LocalSandboxes:
    """Opens at most one sandbox of each kind for an order: writable, read-only, and one to prove results."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tag = hashlib.sha256(os.fsencode(settings.home.absolute())).hexdigest()[:12]
        self._open: dict[str, LocalSandbox] = {}
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        self._groups: ControlGroups | None = None
        self._scratches = Scratches(settings.home / "scratch")
        self._reserve = DiskReserve(settings.home, settings.disk_reserve_mb)
        self._disk = DiskMonitor(self._reserve)
        self._works = False
        """Whether a jail has been made here; it is not tried twice."""

    @property
    def isolation(self) -> str:
        return self._settings.local_isolation

    @property
    def has_room(self) -> bool:
        """Whether the disk of the home has room for work, beside what is kept for the server itself."""
        return not (self._settings.home.is_dir() and self._reserve.look().is_low)

    async def readiness(self) -> Readiness:
        if needs := self._missing():
            return Readiness(False, needs)
        if not self._works and self.isolation != "none":
            try:
                await self._try_jail()
            except SandboxUnavailable as error:
                return Readiness(False, f"{error.message}. {error.hint}")
            except OSError as error:
                return Readiness(False, f"A sandbox needs to write in {self._settings.home}: {error}.")
            self._works = True
        return Readiness(True)

    def _missing(self) -> str:
        """What would have to be installed or set otherwise, as far as that can be seen without trying."""
        missing = next((path for path in self._settings.sandbox_paths if not path.is_dir()), None)
        if missing:
            return f"JOURNEYMAN_SANDBOX_PATHS names {missing}, which is not a directory."
        if self.isolation == "none":
            return ""
        if shutil.which("bwrap") is None:
            return INSTALL
        if self._settings.sandbox_network == "open" and shutil.which("slirp4netns") is None:
            return network.INSTALL
        return ""

    async def _try_jail(self) -> None:
        """Start a sandbox as an order's would be, on an empty directory, and let it answer."""
        workspace = self._scratches.make(_TRIAL)
        try:
            sandbox = await self._start(
                SandboxSpec(order_id=_TRIAL, tree=workspace.temporary, network=self._settings.sandbox_network)
            )
            try:
                if not (await sandbox.execute_command(["true"], timeout=_PATIENCE)).ok:
                    raise SandboxUnavailable("no command runs in the sandbox", hint=_ALLOW)
            finally:
                await sandbox.cleanup()
        finally:
            self._scratches.discard(workspace)
            await asyncio.to_thread(self._scratches.trash.empty)
            self._control_groups().close()  # whoever only asks leaves nothing behind

    async def setup(self, spec: SandboxSpec) -> LocalSandbox:
        async with self._lock(spec.order_id):
            self._check_disk(spec.order_id)
            known = self._open.get(identifier_of(spec))
            if known and known.is_alive and known.spec == spec:
                return known
            if known:
                await known.cleanup()
            self._open[identifier_of(spec)] = sandbox = await self._start(spec)
            return sandbox

    def _check_disk(self, order_id: str) -> None:
        """Raises where a new sandbox would only meet what ended the last one, or a disk that is full."""
        for sandbox in self._open.values():
            if sandbox.order_id == order_id and sandbox.stopped_because is not None:
                raise sandbox.stopped_because
        if not self.has_room:
            raise StoreUnavailable(
                "there is no room on the disk for a sandbox",
                hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
            )

    async def is_over_quota(self, order_id: str, tree: Path, limits: SandboxLimits) -> bool:
        open_ones = (one for one in self._open.values() if one.order_id == order_id)
        if any(one.stopped_because is not None for one in open_ones):
            return True
        disk = self._reserve.look()
        if not disk.is_low:
            return False
        usage = await asyncio.to_thread(measure, (tree, self._scratches.of(order_id)), limits)
        return usage.size > disk.reserve

    async def monitor_disk(self) -> None:
        """Keep room on the disk for the server and delete what sandboxes left, for as long as this runs."""
        await asyncio.gather(self._disk.keep_reserve(self._open.values()), self._scratches.trash.keep_empty())

    async def cleanup(self, order_id: str, *, only_writable: bool = False) -> None:
        async with self._lock(order_id):
            for name, sandbox in list(self._open.items()):
                if sandbox.spec.order_id == order_id and (sandbox.spec.writable or not only_writable):
                    del self._open[name]
                    await sandbox.cleanup()
            if only_writable:
                return
            # A server that was killed left the groups of its jails; they are empty, and the order's own.
            for _, group in self._control_groups().leftovers(order_id):
                await _clear(group)

    async def sweep(self, live_orders: set[str]) -> list[str]:
        found = {sandbox.spec.order_id for sandbox in self._open.values()} - live_orders
        for order_id in found:
            await self.cleanup(order_id)
        report = [f"sandboxes of {order_id}" for order_id in sorted(found)]
        report += [f"scratch directories of {order_id}" for order_id in self._scratches.sweep()]
        for order_id, group in self._control_groups().leftovers():
            if order_id not in live_orders:
                await _clear(group)
                report.append(f"control group of {order_id}")
        return report + await asyncio.to_thread(_kill_marked, self._tag, live_orders)

    async def close(self) -> None:
        orders = {sandbox.spec.order_id for sandbox in self._open.values()}
        await asyncio.gather(*map(self.cleanup, orders))
        if self._groups:
            self._groups.close()
            self._groups = None

    def _lock(self, order_id: str) -> asyncio.Lock:
        return self._locks.setdefault(order_id, asyncio.Lock())

    def _control_groups(self) -> ControlGroups:
        self._groups = self._groups or ControlGroups(self._tag)
        return self._groups

    async def _start(self, spec: SandboxSpec) -> LocalSandbox:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        our_hatch, their_hatch = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        group = self._control_groups().make(spec.order_id, spec.limits)
        resources = contextlib.ExitStack()
        scratch = self._make_scratch(spec, resources)
        try:
            mark = mark_of(self._tag, spec)
            process = launch(
                self._settings, spec, scratch, theirs, their_hatch, mark=mark, has_group=group is not None
            )
        except SandboxUnavailable:
            ours.close()
            our_hatch.close()
            if group:
                group.remove()
            resources.close()
            raise
        finally:
            theirs.close()
            their_hatch.close()
        # Counted while the jail starts, before anything in it can write.
        directories = self._directories(spec)
        first = asyncio.create_task(asyncio.to_thread(measure, directories, spec.limits))
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: SupervisorConnection(identifier_of(spec)), sock=ours
        )
        sandbox = LocalSandbox(
            spec, self.isolation, connection, FdChannel(our_hatch), process, group, directories, resources
        )
        resources.callback(asyncio.create_task(self._disk.watch(sandbox, first)).cancel)
        try:
            async with asyncio.timeout(_PATIENCE):
                if group:
                    await asyncio.to_thread(group.enter, process.pid)
                await connection.ready
            if spec.network == "open" and self.isolation != "none":
                await sandbox.join_network()
        except (asyncio.CancelledError, SandboxUnavailable):
            await sandbox.cleanup()
            raise
        except (SandboxLost, TimeoutError):
            await sandbox.cleanup()
            complaint = sandbox.last_words
            raise SandboxUnavailable(
                f"the sandbox did not start: {complaint or 'it does not answer'}",
                hint=self._missing() or (_ALLOW if complaint.startswith("bwrap:") else "Run `jm doctor`."),
            ) from None
        return sandbox

    def _make_scratch(self, spec: SandboxSpec, resources: contextlib.ExitStack) -> Scratch | None:
        if self.isolation == "none":
            return None
        scratch = self._scratches.make(spec.order_id)
        resources.callback(self._scratches.discard, scratch)
        return scratch

    def _directories(self, spec: SandboxSpec) -> tuple[Path, ...]:
        """Where the order's files lie."""
        others = (self._scratches.of(spec.order_id), spec.home)
        return (spec.tree, *(path for path in others if path is not None))


def identifier_of(spec: SandboxSpec) -> str:
    if spec.purpose == "proof":
        return f"local-{spec.order_id}-proof"
    return f"local-{spec.order_id}" if spec.writable else f"local-{spec.order_id}-read-only"


async def _exited(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    descriptor = os.pidfd_open(process.pid)
    loop.add_reader(descriptor, done.set)
    try:
        await done.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _end(process: subprocess.Popen[bytes]) -> str:
    """Wait for a supervisor and its jail to go, with force when they do not; their complaint, if any."""
    try:
        async with asyncio.timeout(5):
            await _exited(process)
    except TimeoutError:
        _kill_with_child(process)
        await _exited(process)
    process.wait()
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)
    with process.stderr as stderr:
        return (stderr.read() or b"").decode(errors="replace").strip()


def _kill_with_child(process: subprocess.Popen[bytes]) -> None:
    """The child first: it is the jail's first process, and takes all others along."""
    if process.poll() is not None:
        return  # its number may be somebody else's by now
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it is ending
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    process.kill()


async def _clear(group: ControlGroup) -> None:
    """Remove a group, ending what is in it; the kernel may take a moment to let go of the last process."""
    for _ in range(200):
        group.kill()
        if group.remove():
            return
        await asyncio.sleep(0.01)
    raise SandboxUnavailable(
        f"control group {group.directories[0]} cannot be removed",
        hint="A process in it does not end: see its cgroup.procs.",
    )


def _kill_marked(tag: str, live_orders: set[str]) -> list[str]:
    """End processes that a sandbox of this home started for an order that is not live."""
    killed = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or _order_of(entry, tag) in live_orders | {None}:
            continue
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(int(entry.name))
            try:
                order_id = _order_of(entry, tag)  # again: the number may mean another process by now
                if order_id is not None and order_id not in live_orders:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    killed.append(f"process {entry.name} of {order_id}")
            finally:
                os.close(descriptor)
    return killed


def _order_of(process: Path, tag: str) -> str | None:
    try:
        environment = b"\0" + (process / "environ").read_bytes()
    except OSError:
        return None
    _, mark, rest = environment.partition(f"\0{MARK}={tag}:".encode())
    return rest.partition(b":")[0].decode(errors="replace") if mark else None
