"""The product's own directory, with permissions for its user only.

It contains the files of every repository, every conversation and the keys in the settings. A home that was
made with other modes, by hand or by an earlier version, is corrected where that is possible.
"""

import os
import shlex
import stat
from pathlib import Path

from journeyman.errors import Conflict

EVIDENCE_KEY = "evidence_key.pem"
DATABASES = ("journeyman.db", "engine.db")
_PRIVATE_FILES = (
    *(f"{name}{part}" for name in DATABASES for part in ("", "-wal", "-shm")),
    "journeyman.toml",
    EVIDENCE_KEY,
    "server.log",
)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def prepare_home(home: Path, *, has_databases: bool) -> None:
    """Make the home, or set its modes. Raises Conflict where this user may not use it or set them."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.listdir(home)
        for path in exposed_paths(home):
            path.chmod(0o700 if path == home else 0o600)
        for name in DATABASES if has_databases else ():  # SQLite would make them readable for all
            os.close(os.open(home / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _unusable(home, error) from None


def exposed_paths(home: Path) -> list[Path]:
    """The home, and files in it, that others than their owner have permissions for."""
    paths = (home, *(home / name for name in _PRIVATE_FILES))
    return [path for path in paths if path.exists() and path.stat().st_mode & _OTHERS]


def _unusable(home: Path, error: OSError) -> Conflict:
    path, user = shlex.quote(str(home)), os.geteuid()
    return Conflict(
        f"the home {home} cannot be used by user {user}: {error.strerror}: {error.filename or home}",
        hint=f"Run `sudo chown -R {user} {path} && chmod 700 {path}`, or choose another JOURNEYMAN_HOME.",
    )
