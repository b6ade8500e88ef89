"""Check the integrity of a SQLite file before anything is served from it.

`PRAGMA quick_check` reads the whole file, so a start allows it a few seconds; a file too large for that is
checked to its end by `jm doctor`.
"""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from journeyman.errors import StoreDamaged

_STEPS = 1000


def check_database(path: Path, *, seconds: float, was_used: bool) -> bool:
    """Whether all of it could be read in that time. Raises StoreDamaged at the first thing wrong.

    An empty file is as good as none, unless the home was used before: then something emptied it.
    """
    if not path.exists():
        return True
    if path.stat().st_size == 0:
        if was_used and not path.with_name(f"{path.name}-wal").exists():
            raise _damaged(path, "it is empty, although this home was used before")
        return True
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=seconds)) as file:
            return _check(file, path, seconds)
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from None


def _check(file: sqlite3.Connection, path: Path, seconds: float) -> bool:
    # `interrupt` stops the long scan of the pages; the progress handler stops the steps around it.
    interrupting = threading.Timer(seconds, file.interrupt)
    interrupting.start()
    give_up = time.monotonic() + seconds
    file.set_progress_handler(lambda: time.monotonic() > give_up, _STEPS)
    try:
        [(found,)] = file.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY):
            return False
        raise
    finally:
        interrupting.cancel()
    if found != "ok":
        raise _damaged(path, found)
    return True


def _damaged(path: Path, why: str) -> StoreDamaged:
    if path.name == "engine.db":
        way = "or move it away: orders that were running then go on from their last finished step"
    else:
        way = (
            f"or save what can be read with `sqlite3 {path.name} .recover | sqlite3 saved.db`; "
            "moved away, a new one is made without any of the orders"
        )
    return StoreDamaged(
        f"the database {path} cannot be used: {' '.join(why.split())[:300]}",
        hint=f"Check the disk. Put a backup of the file in its place, {way}.",
    )
