"""Homes of programs that keep sessions: they outlive sandboxes, rounds and restarts.

An order has two: roles that may not write have one of their own, so that nothing they leave there ever
runs where files can be written. A finished order can still be asked for more, so both stay for a while.
"""

import asyncio
import os
import shutil
from pathlib import Path

from journeyman.sandboxes.identity import jail_uid


class Homes:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()

    def open(self, order_id: str, *, writable: bool) -> Path:
        """The home of an order's writing or read-only roles, owned by the user that its sandboxes run as."""
        place = self._places(order_id)[0 if writable else 1]
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (uid := jail_uid(order_id)) is not None:
            os.chown(place, uid, uid, follow_symlinks=False)
        return place

    def exists(self, order_id: str) -> bool:
        return any(place.is_dir() for place in self._places(order_id))

    async def remove(self, order_id: str) -> None:
        for place in self._places(order_id):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    def _places(self, order_id: str) -> tuple[Path, Path]:
        return self._directory / order_id, self._directory / f"{order_id}.read-only"
