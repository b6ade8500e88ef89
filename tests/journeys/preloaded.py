"""A process that has imported the product once and forks servers, which start in a fifth of the time.

A fork becomes `jm` with arguments, environment, output and a session of its own. It is used by `make test`;
`--full`, the crash matrix, the soak, other users and an installed wheel start the program itself.

    python -m tests.journeys.preloaded SOCKET     until its standard input is closed
"""

import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

_IMPORTED = ("journeyman.app", "journeyman.cli.main", "uvicorn")
_LARGEST_REQUEST = 1_000_000
_FIRST_OWN_FILE = 3


class Preloaded:
    """A server that was forked, with what tests use of a `Popen`."""

    def __init__(self, connection: socket.socket, stdout: IO[str]) -> None:
        self._answers = connection.makefile("r")
        self._connection = connection
        self.stdout = stdout
        self.pid = int(self._answers.readline())
        self._code: int | None = None

    def send_signal(self, how: int) -> None:
        if self._code is None:
            with suppress(ProcessLookupError):  # it has ended, as `Popen` finds out by itself
                os.kill(self.pid, how)

    def wait(self, timeout: float) -> int:
        if self._code is None:
            self._connection.settimeout(timeout)
            self._code = int(self._answers.readline())
            self._answers.close()
            self._connection.close()
        return self._code


def start(arguments: Sequence[str], environment: Mapping[str, str], stderr: IO[bytes]) -> Preloaded:
    reader, writer = os.pipe()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(_parent())
    request = json.dumps([list(arguments), dict(environment)]).encode()
    socket.send_fds(connection, [len(request).to_bytes(4, "big")], [writer, stderr.fileno()])
    connection.sendall(request)
    os.close(writer)
    return Preloaded(connection, os.fdopen(reader, "r"))


@cache
def _parent() -> str:
    """The socket of the process that forks, which ends with this one."""
    address = str(Path(tempfile.mkdtemp(prefix="jm-preloaded-")) / "socket")
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, address],
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    _KEPT.append(process)
    return address


_KEPT: list["subprocess.Popen[str]"] = []
"""Open as long as this process is: the end of its input ends the other."""


@dataclass(frozen=True)
class _Asked:
    arguments: list[str]
    environment: dict[str, str]
    files: list[int]


def _serve(address: str) -> _Asked | None:
    """Fork a server for each connection. Comes back in each of them with what it is to be, else with None."""
    for name in _IMPORTED:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a thread would not be there after a fork"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        print("ready")
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                os.unlink(address)
                os.rmdir(os.path.dirname(address))
                return None
            connection, _ = listener.accept()
            asked = _read(connection)
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                _fork_server(connection)
                return asked
            connection.close()
            for file in asked.files:
                os.close(file)


def _read(connection: socket.socket) -> _Asked:
    size, files, _, _ = socket.recv_fds(connection, 4, 2)
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += connection.recv(_LARGEST_REQUEST)
    arguments, environment = json.loads(request)
    return _Asked(arguments, environment, files)


def _fork_server(connection: socket.socket) -> None:
    """Comes back in the server alone; whoever is left waits for its end and reports it."""
    pid = os.fork()
    if pid == 0:
        return
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(asked: _Asked) -> None:
    os.setsid()
    output, errors = asked.files
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.closerange(_FIRST_OWN_FILE, 256)
    os.environ.clear()
    os.environ.update(asked.environment)
    tempfile.tempdir = None  # it may have been looked up in another environment
    sys.argv = ["jm", *asked.arguments]


if __name__ == "__main__":
    asked = _serve(sys.argv[1])
    if asked is not None:
        _become(asked)
        from journeyman.cli.main import main

        main()
