"""Sandboxes on this machine: opens at most one of each kind for an order, and cleans up after them.

Everything is started from the event loop's own thread: bubblewrap ends the jail together with the thread that
started it (`--die-with-parent`).
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import socket
import weakref
from pathlib import Path

from journeyman.errors import SandboxLost, SandboxUnavailable, StoreUnavailable
from journeyman.sandboxes import layer_mounts, network
from journeyman.sandboxes.base import Readiness, SandboxLimits, SandboxSpec
from journeyman.sandboxes.control_groups import ControlGroups
from journeyman.sandboxes.disk_monitor import DiskMonitor
from journeyman.sandboxes.fd_channel import FdChannel
from journeyman.sandboxes.launch import INSTALL, can_mount_overlays, launch, mark_of
from journeyman.sandboxes.local_sandbox import REPLY_SECONDS, LocalSandbox, identifier_of
from journeyman.sandboxes.processes import clear_group, kill_marked
from journeyman.sandboxes.quota import measure
from journeyman.sandboxes.reserve import DiskReserve
from journeyman.sandboxes.scratch import Scratch, Scratches
from journeyman.sandboxes.supervisor_connection import SupervisorConnection
from journeyman.settings import Settings

_TRIAL = "trial"
"""Stands for an order's id where a sandbox is opened only to see whether that works."""
_NO_OVERLAYS = (
    "Installed environments are read-only in sandboxes, because overlayfs cannot be mounted: "
    "put JOURNEYMAN_HOME on a disk of its own (ext4, xfs), and use Linux 5.11 or newer."
)
_ALLOW = (
    "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1, or on Ubuntu "
    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with --privileged."
)


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
        self._has_overlays: bool | None = None
        """Whether layers can be mounted so that sandboxes can write to them; None: not tried yet."""

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
        return Readiness(True, "" if self._has_overlays is not False else _NO_OVERLAYS)

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
            self._has_overlays = await can_mount_overlays(workspace)
            sandbox = await self._start(
                SandboxSpec(order_id=_TRIAL, tree=workspace.temporary, network=self._settings.sandbox_network)
            )
            try:
                if not (await sandbox.execute_command(["true"], timeout=REPLY_SECONDS)).ok:
                    raise SandboxUnavailable("no command runs in the sandbox", hint=_ALLOW)
            finally:
                await sandbox.cleanup()
        finally:
            self._scratches.discard(workspace)
            await asyncio.to_thread(self._scratches.trash.empty)
            self._control_groups().close()  # a check leaves nothing behind

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
        """Raise where a new sandbox would fail for the same reason as the last one, or the disk is full."""
        for sandbox in self._open.values():
            if sandbox.order_id == order_id and sandbox.stopped_because and sandbox.spec.purpose != "setup":
                raise sandbox.stopped_because
        if not self.has_room:
            raise StoreUnavailable(
                "there is no room on the disk for a sandbox",
                hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
            )

    async def is_over_quota(self, order_id: str, tree: Path, limits: SandboxLimits) -> bool:
        open_ones = (one for one in self._open.values() if one.order_id == order_id)
        if any(one.stopped_because is not None for one in open_ones if one.spec.purpose != "setup"):
            return True
        disk = self._reserve.look()
        if not disk.is_low:
            return False
        usage = await asyncio.to_thread(measure, (tree, self._scratches.of(order_id)), limits)
        return usage.size > disk.reserve

    async def monitor_disk(self) -> None:
        """Enforce disk quotas and the reserve, and delete what sandboxes left, for as long as this runs."""
        await asyncio.gather(self._disk.keep_reserve(self._open.values()), self._scratches.trash.keep_empty())

    async def cleanup(self, order_id: str, *, only_writable: bool = False) -> None:
        async with self._lock(order_id):
            for name, sandbox in list(self._open.items()):
                if sandbox.spec.order_id == order_id and (sandbox.spec.writable or not only_writable):
                    del self._open[name]
                    await sandbox.cleanup()
            if only_writable:
                return
            # Left by a server that was killed; no process of a running sandbox of the order is in them.
            for _, group in self._control_groups().leftovers(order_id):
                await clear_group(group)

    async def sweep(self, live_orders: set[str]) -> list[str]:
        found = {sandbox.spec.order_id for sandbox in self._open.values()} - live_orders
        for order_id in found:
            await self.cleanup(order_id)
        report = [f"sandboxes of {order_id}" for order_id in sorted(found)]
        report += [f"scratch directories of {order_id}" for order_id in self._scratches.sweep()]
        for order_id, group in self._control_groups().leftovers():
            if order_id not in live_orders:
                await clear_group(group)
                report.append(f"control group of {order_id}")
        return report + await asyncio.to_thread(kill_marked, self._tag, live_orders)

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
        our_channel, their_channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        group = self._control_groups().make(spec.order_id, spec.limits)
        resources = contextlib.ExitStack()
        scratch = self._make_scratch(spec, resources)
        try:
            mark = mark_of(self._tag, spec)
            if scratch:
                resources.enter_context(layer_mounts.in_use(spec))
            has_overlays = await self._can_mount_overlays(scratch) if scratch and spec.layers else False
            process = launch(
                self._settings,
                spec,
                scratch,
                theirs,
                their_channel,
                mark=mark,
                has_group=group is not None,
                has_overlays=has_overlays,
            )
        except BaseException:
            ours.close()
            our_channel.close()
            if group:
                group.remove()
            resources.close()
            raise
        finally:
            theirs.close()
            their_channel.close()
        # The files are counted while the jail starts, before anything in it can write.
        directories = self._directories(spec)
        first = asyncio.create_task(asyncio.to_thread(measure, directories, spec.limits))
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: SupervisorConnection(identifier_of(spec)), sock=ours
        )
        sandbox = LocalSandbox(
            spec, self.isolation, connection, FdChannel(our_channel), process, group, directories, resources
        )
        resources.callback(asyncio.create_task(self._disk.enforce_quota(sandbox, first)).cancel)
        try:
            async with asyncio.timeout(REPLY_SECONDS):
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
            stderr = sandbox.stderr
            raise SandboxUnavailable(
                f"the sandbox did not start: {stderr or 'it does not answer'}",
                hint=self._missing() or (_ALLOW if stderr.startswith("bwrap:") else "Run `jm doctor`."),
            ) from None
        return sandbox

    async def _can_mount_overlays(self, scratch: Scratch) -> bool:
        if self._has_overlays is None:
            self._has_overlays = await can_mount_overlays(scratch)
        return self._has_overlays

    def _make_scratch(self, spec: SandboxSpec, resources: contextlib.ExitStack) -> Scratch | None:
        if self.isolation == "none":
            return None
        scratch = self._scratches.make(spec.order_id)
        resources.callback(self._scratches.discard, scratch)
        return scratch

    def _directories(self, spec: SandboxSpec) -> tuple[Path, ...]:
        """Where the order's files lie."""
        others = (self._scratches.of(spec.order_id), spec.home, spec.user_home)
        return (spec.tree, *(path for path in others if path is not None))
