"""Home directories of programs that keep sessions: they outlive sandboxes, rounds and restarts.

An order has two: read-only roles have one of their own, so that nothing they leave there is ever executed
where files can be written. A finished order can still be given a prompt, so both are kept for a while.
"""

import os
from pathlib import Path

from journeyman.files.trash import TRASH, Trash
from journeyman.sandboxes.identity import jail_uid


class Homes:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self.trash = Trash(self._directory / TRASH)

    def open(self, order_id: str, *, writable: bool) -> Path:
        """The home of an order's writing or read-only roles, owned by the user that its sandboxes run as."""
        directory = self._directories(order_id)[0 if writable else 1]
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (uid := jail_uid(order_id)) is not None:
            os.chown(directory, uid, uid, follow_symlinks=False)
        return directory

    def exists(self, order_id: str) -> bool:
        return any(path.is_dir() for path in self._directories(order_id))

    def remove(self, order_id: str) -> None:
        """Discard both. Safe to repeat."""
        for path in self._directories(order_id):
            self.trash.put(path)

    def _directories(self, order_id: str) -> tuple[Path, Path]:
        return self._directory / order_id, self._directory / f"{order_id}.read-only"
