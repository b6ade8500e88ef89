"""Homes of programs that keep sessions, one for each order: they outlive sandboxes, rounds and restarts.

A finished order can still be asked for more, so its home stays for a while after the last use.
"""

import asyncio
import os
import shutil
import time
from pathlib import Path

from journeyman.sandboxes.identity import jail_uid

KEPT_SECONDS = 30 * 24 * 3600.0


class Homes:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()

    def open(self, order_id: str) -> Path:
        """The order's home, owned by the user that its sandboxes run as."""
        place = self._directory / order_id
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (uid := jail_uid(order_id)) is not None:
            os.chown(place, uid, uid, follow_symlinks=False)
        os.utime(place)
        return place

    async def remove(self, order_id: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._directory / order_id, ignore_errors=True)

    async def sweep(self, live_orders: set[str]) -> list[str]:
        """Remove the homes that nobody has used for long, and say whose they were."""
        if not self._directory.is_dir():
            return []
        oldest = time.time() - KEPT_SECONDS
        found = [path for path in self._directory.iterdir() if path.stat().st_mtime < oldest]
        dead = sorted(path.name for path in found if path.name not in live_orders)
        for order_id in dead:
            await self.remove(order_id)
        return dead
