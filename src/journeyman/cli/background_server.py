"""Start a server in the background when none answers.

It outlives the command that started it: an order continues when its terminal is closed. Its output is
in the home, and its process id is printed, so that it can be stopped.
"""

import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from journeyman.cli.client import Client
from journeyman.cli.terminal import note
from journeyman.errors import Transient
from journeyman.settings import Settings

_START_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.1
_GRACE_SECONDS = 10.0
"""A server that exits at once may have found another one starting: that one gets this long."""


def ensure_server(settings: Settings) -> None:
    client = Client(settings)
    if client.answers():
        return
    if settings.url and urlsplit(settings.url).netloc != f"{settings.host}:{settings.port}":
        raise Transient(
            f"no server answers at {settings.url}",
            hint="It is named by JOURNEYMAN_URL: start it there, or unset that to have one started here.",
        )
    if settings.port == 0:
        raise Transient(
            "a server cannot be started in the background on a port that is not known beforehand",
            hint="Set JOURNEYMAN_PORT to a number other than 0.",
        )
    settings.home.mkdir(parents=True, exist_ok=True)
    log = settings.home / "server.log"
    note("No server answers; starting one in the background.")
    with log.open("ab") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "journeyman.cli.main", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    _wait_until_ready(client, server, log)
    note(f"It goes on running as process {server.pid} (stop it with `kill {server.pid}`); its log is {log}.")


def _wait_until_ready(client: Client, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    ended = False
    while not client.answers():
        if not ended and server.poll() is not None:
            ended = True
            deadline = time.monotonic() + _GRACE_SECONDS
        if time.monotonic() > deadline:
            last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
            raise Transient(
                "the server did not start" + "".join(f"\n  {line}" for line in last),
                hint=f"Read {log}, or run `jm doctor`.",
            )
        time.sleep(_LOOK_EVERY_SECONDS)
