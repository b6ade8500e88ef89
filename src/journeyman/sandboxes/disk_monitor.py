"""Enforces disk quotas: stops a sandbox that writes too much, and keeps the reserve of the server free.

Counting files is expensive, statvfs is not. So an order's files are counted again only when the disk has
filled by so much that the order may be near its quota, and every 30 seconds regardless, because others may
have freed as much as the order wrote.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from journeyman import telemetry
from journeyman.errors import DiskQuotaExceeded
from journeyman.sandboxes.base import SandboxLimits
from journeyman.sandboxes.quota import DiskUsage, measure, over_quota, processes_below
from journeyman.sandboxes.reserve import DiskReserve

_POLL_SECONDS = 0.5
_COUNT_EVERY_SECONDS = 30.0
_MB = 1024 * 1024


class MonitoredSandbox(Protocol):
    """What the monitor needs to know of a sandbox."""

    @property
    def order_id(self) -> str: ...

    @property
    def limits(self) -> SandboxLimits: ...

    @property
    def directories(self) -> tuple[Path, ...]:
        """Where the order's files lie."""
        ...

    @property
    def is_alive(self) -> bool: ...

    @property
    def pid(self) -> int:
        """The process that started everything in it."""
        ...

    def stop(self, why: DiskQuotaExceeded) -> None:
        """Kill every process in it at once; pending requests fail with `why`."""
        ...


@dataclass(frozen=True)
class _Filled:
    """How full the disks are that hold an order's files."""

    size: int
    files: int


@dataclass
class _Record:
    """The counts of one sandbox's files."""

    first: DiskUsage
    first_filled: _Filled
    last: DiskUsage
    filled: _Filled
    counted_at: float = field(default_factory=time.monotonic)

    @property
    def growth(self) -> int:
        """Bytes written since it was opened; with unreadable directories, at most what the disk grew by."""
        seen = self.last.size - self.first.size
        return max(seen, self.filled.size - self.first_filled.size) if self.last.has_hidden else seen

    def may_exceed(self, limits: SandboxLimits, filled: _Filled) -> bool:
        """Whether half of what was left of the quota may be gone."""
        return (
            filled.size - self.filled.size > (limits.disk_mb * _MB - self.last.size) // 2
            or filled.files - self.filled.files > (limits.files - self.last.files) // 2
        )


class DiskMonitor:
    def __init__(self, reserve: DiskReserve) -> None:
        self._reserve = reserve
        self._records: dict[MonitoredSandbox, _Record] = {}

    async def enforce_quota(self, sandbox: MonitoredSandbox, first: Awaitable[DiskUsage]) -> None:
        """Enforce the quota of a sandbox until it has ended; `first` is its usage when it was opened."""
        try:
            filled = _filled(sandbox.directories)
            self._records[sandbox] = _Record(usage := await first, filled, usage, filled)
            while sandbox.is_alive:
                if (what := usage.exceeds(sandbox.limits)) is not None:
                    _stop(sandbox, what)
                    return
                await asyncio.sleep(_POLL_SECONDS)
                record = self._records[sandbox]
                is_old = time.monotonic() - record.counted_at > _COUNT_EVERY_SECONDS
                if is_old or record.may_exceed(sandbox.limits, _filled(sandbox.directories)):
                    usage = await self._count(sandbox)
        finally:
            self._records.pop(sandbox, None)

    async def keep_reserve(self, sandboxes: Iterable[MonitoredSandbox]) -> None:
        """Keep room on the disk for the server, for as long as this runs.

        When little is left, the sandbox that has written most since it was opened is stopped, if it wrote
        more than the reserve. Only then is the reserve released: a sandbox that goes on writing would use it
        up.
        """
        while True:
            try:
                await self._check_reserve(list(sandboxes))
            except OSError as error:
                telemetry.logger().warning("disk_not_looked_at", error_message=str(error))
            await asyncio.sleep(_POLL_SECONDS)

    async def _check_reserve(self, sandboxes: list[MonitoredSandbox]) -> None:
        disk = self._reserve.look()
        if not disk.is_low:
            await asyncio.to_thread(self._reserve.take)
            return
        await self._stop_largest(sandboxes, disk.reserve)
        self._reserve.release()

    async def _stop_largest(self, sandboxes: list[MonitoredSandbox], reserve: int) -> None:
        known = [sandbox for sandbox in sandboxes if sandbox.is_alive and sandbox in self._records]
        await asyncio.gather(*map(self._count, known))
        grown = {one: self._records[one].growth for one in known if one in self._records}
        largest = max(grown, key=lambda one: grown[one], default=None)
        if largest is not None and grown[largest] > reserve:
            what = f"the disk is full, and this order wrote {grown[largest] // _MB:,} MB of it"
            for one in known:
                if one.order_id == largest.order_id:
                    _stop(one, what)

    async def _count(self, sandbox: MonitoredSandbox) -> DiskUsage:
        filled, processes = _filled(sandbox.directories), processes_below(sandbox.pid)
        usage = await asyncio.to_thread(measure, sandbox.directories, sandbox.limits, processes)
        if (known := self._records.get(sandbox)) is not None:  # else it has ended meanwhile
            self._records[sandbox] = _Record(known.first, known.first_filled, usage, filled)
        return usage


def _stop(sandbox: MonitoredSandbox, what: str) -> None:
    sandbox.stop(over_quota(sandbox.order_id, what))
    telemetry.logger().warning(
        "disk_quota_exceeded", agent_work_order_id=sandbox.order_id, error_message=what
    )


def _filled(directories: Iterable[Path]) -> _Filled:
    size = files = 0
    seen: set[int] = set()
    for directory in directories:
        try:
            device, disk = os.stat(directory).st_dev, os.statvfs(directory)
        except OSError:  # it is not there, or not any more
            continue
        if device not in seen:
            seen.add(device)
            size += (disk.f_blocks - disk.f_bfree) * disk.f_frsize
            files += disk.f_files - disk.f_ffree
    return _Filled(size, files)
