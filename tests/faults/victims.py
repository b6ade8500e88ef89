"""Whom a fault can hit, found in the process table. A new kind of process is one more line in VICTIMS."""

import os
import signal
from collections.abc import Callable

import psutil

from tests.faults.stage import Stage

Victim = str


def _server(stage: Stage) -> list[int]:
    return [stage.product.pid]


def _worker(stage: Stage) -> list[int]:
    return [stage.worker.pid]


def _jails(stage: Stage) -> list[int]:
    """The first process of every jail: ending it ends all that is in there."""
    return [pid for pid in _children(stage.worker.pid) if "JM_SANDBOX" in _environment(pid)]


def _gits(stage: Stage) -> list[int]:
    """The git that the server itself runs, with what it runs in turn."""
    own = [pid for pid in _children(stage.worker.pid) if any(word.endswith("/git") for word in _line(pid))]
    return [*own, *(pid for one in own for pid in _below(one))]


def _agents(stage: Stage) -> list[int]:
    """What runs inside the jails, without the supervisor that started it."""
    inside = [pid for jail in _jails(stage) for pid in _below(jail)]
    return [pid for pid in inside if not any("/proc/self/fd/" in word for word in _line(pid))]


def _children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children()]


def _below(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _line(pid: int) -> list[str]:
    try:
        return psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return []


def _environment(pid: int) -> dict[str, str]:
    try:
        return psutil.Process(pid).environ()
    except psutil.NoSuchProcess:
        return {}


VICTIMS: dict[Victim, Callable[[Stage], list[int]]] = {
    "server": _server,
    "worker": _worker,
    "jail": _jails,
    "agent": _agents,
    "git": _gits,
}


def strike(stage: Stage, victim: Victim) -> int:
    """End a victim without warning, and start it again where somebody would; says how many there were."""
    pids = VICTIMS[victim](stage)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if victim in ("server", "worker"):
        process = stage.product if victim == "server" else stage.worker
        process.kill()
        process.start()
    return len(pids)
