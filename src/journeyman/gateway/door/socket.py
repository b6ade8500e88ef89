"""The door's unix socket, which a sandbox can be given and no other process can reach.

A jail's user is another one than ours, so the socket itself must be open to all; the directory around it
is open to nobody, and a jail sees the socket without it. Each process has a socket of its own.
"""

import asyncio
import contextlib
import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from journeyman.errors import Conflict

_LONGEST_PATH = 100
"""Bytes; the kernel allows 108, and a jail may want a few for itself."""
_GRACEFUL_SECONDS = 1


@asynccontextmanager
async def serve_on_socket(app: ASGIApp, home: Path) -> AsyncIterator[Path]:
    """Serve the application on the running loop; gives the socket's path."""
    path = _socket_path(home)
    with _bound(path) as listener:
        config = uvicorn.Config(
            app,
            loop="none",
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=_GRACEFUL_SECONDS,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.is_up.wait()
            yield path
        finally:
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    """Leaves the signals to the server that people talk to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


def _socket_path(home: Path) -> Path:
    path = home.absolute() / "door" / f"{os.getpid()}.sock"
    if len(os.fsencode(path)) > _LONGEST_PATH:
        name = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"journeyman-{name}" / path.name
    return path


@contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    _make_private(path.parent)
    for left in path.parent.glob("*.sock"):
        if left == path or not _answers(left):
            left.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                path.parent.rmdir()  # unless another process has a socket there


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Conflict(
            f"{directory} must be a directory that only this user can enter",
            hint="Remove it; it is made again.",
        )


def _answers(path: Path) -> bool:
    """Whether a process listens there; one that was killed left its socket behind."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True
