"""Homes of programs that keep sessions, one for each order: they outlive sandboxes, rounds and restarts.

A finished order can still be asked for more, so its home stays for a while after its end.
"""

import asyncio
import os
import shutil
from pathlib import Path

from journeyman.sandboxes.identity import jail_uid


class Homes:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()

    def open(self, order_id: str) -> Path:
        """The order's home, owned by the user that its sandboxes run as."""
        place = self._directory / order_id
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (uid := jail_uid(order_id)) is not None:
            os.chown(place, uid, uid, follow_symlinks=False)
        return place

    def exists(self, order_id: str) -> bool:
        return (self._directory / order_id).is_dir()

    async def remove(self, order_id: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._directory / order_id, ignore_errors=True)
