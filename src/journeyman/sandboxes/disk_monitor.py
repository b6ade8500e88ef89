"""Watches what the sandboxes of this process write, and stops one that writes too much.

Counting files is dear, asking how full a disk is costs nothing. So an order's files are counted again only
when the disk has filled by enough for the order to be near its quota, and now and then whatever the disk
says: somebody else may have freed what the order took.
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

_LOOK_SECONDS = 0.5
_COUNT_EVERY_SECONDS = 30.0
_MB = 1024 * 1024


class Watched(Protocol):
    """A sandbox, as far as its disk is concerned."""

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
        """End every process in it at once; whoever waits for one is told why."""
        ...


@dataclass(frozen=True)
class _Filled:
    """How much is on the disks that an order's files lie on."""

    size: int
    files: int


@dataclass
class _Record:
    """What is known of one sandbox's files."""

    first: DiskUsage
    first_filled: _Filled
    last: DiskUsage
    filled: _Filled
    counted_at: float = field(default_factory=time.monotonic)

    @property
    def growth(self) -> int:
        """Bytes written since it was opened; with hidden files among them it may be all that the disk got."""
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
        self._records: dict[Watched, _Record] = {}

    async def watch(self, sandbox: Watched, first: Awaitable[DiskUsage]) -> None:
        """Hold a sandbox to its quota, until it has ended; `first` is what there was when it was opened."""
        try:
            filled = _filled(sandbox.directories)
            self._records[sandbox] = _Record(usage := await first, filled, usage, filled)
            while sandbox.is_alive:
                if (what := usage.exceeds(sandbox.limits)) is not None:
                    _stop(sandbox, what)
                    return
                await asyncio.sleep(_LOOK_SECONDS)
                record = self._records[sandbox]
                is_old = time.monotonic() - record.counted_at > _COUNT_EVERY_SECONDS
                if is_old or record.may_exceed(sandbox.limits, _filled(sandbox.directories)):
                    usage = await self._count(sandbox)
        finally:
            self._records.pop(sandbox, None)

    async def keep_reserve(self, sandboxes: Iterable[Watched]) -> None:
        """Keep room on the disk for the server, for as long as this runs.

        When little is left, the sandbox that has written most since it was opened is stopped, if it is the
        cause. Only then is the reserve given back: it would not last beside one that goes on writing.
        """
        while True:
            try:
                await self._look_after_reserve(list(sandboxes))
            except OSError as error:
                telemetry.logger().warning("disk_not_looked_at", error_message=str(error))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look_after_reserve(self, sandboxes: list[Watched]) -> None:
        disk = self._reserve.look()
        if not disk.is_low:
            await asyncio.to_thread(self._reserve.take)
            return
        await self._relieve(sandboxes, disk.reserve)
        self._reserve.release()

    async def _relieve(self, sandboxes: list[Watched], reserve: int) -> None:
        known = [sandbox for sandbox in sandboxes if sandbox.is_alive and sandbox in self._records]
        await asyncio.gather(*map(self._count, known))
        grown = {one: self._records[one].growth for one in known if one in self._records}
        largest = max(grown, key=lambda one: grown[one], default=None)
        if largest is not None and grown[largest] > reserve:
            what = f"the disk is full, and this order wrote {grown[largest] // _MB:,} MB of it"
            for one in known:
                if one.order_id == largest.order_id:
                    _stop(one, what)

    async def _count(self, sandbox: Watched) -> DiskUsage:
        filled, processes = _filled(sandbox.directories), processes_below(sandbox.pid)
        usage = await asyncio.to_thread(measure, sandbox.directories, sandbox.limits, processes)
        if (known := self._records.get(sandbox)) is not None:  # else it has ended meanwhile
            self._records[sandbox] = _Record(known.first, known.first_filled, usage, filled)
        return usage


def _stop(sandbox: Watched, what: str) -> None:
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
