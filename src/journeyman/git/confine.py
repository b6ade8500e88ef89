"""Keep git inside the workspace, and within limits, while it reads or writes files that an agent wrote.

Git looks whether a directory is a link and opens the file after that; an agent that swaps the two in
between would have it read or write anywhere. In a mount namespace that shows nothing else, that leads
nowhere. Where bubblewrap does not work no agent is jailed either, and git runs with its limits alone.
"""

import asyncio
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Confinement:
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Files that git finds empty. One that is gone by then keeps git from starting."""
    hidden_directories: tuple[Path, ...] = ()
    """The same for directories."""
    cpu_seconds: int = 60
    memory_megabytes: int = 1024


SECONDS = 120.0
"""Wall clock of one git that is confined."""
LIMIT_SIGNALS = frozenset({signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT})
"""How a git ends that its input, not the machine, is too much for."""


async def confined(command: Sequence[str], confinement: Confinement) -> list[str]:
    """The command with its limits and, where that works, with bubblewrap around it."""
    if not await _works(command[0]):
        return [*_limits(confinement), *command]
    places = [("--ro-bind", path) for path in confinement.readable]
    places += [("--bind", path) for path in confinement.writable]
    shown = [part for option, path in places for part in (option, str(path), str(path))]
    shown += [part for path in confinement.hidden for part in ("--dev-bind", "/dev/null", str(path))]
    shown += [part for path in confinement.hidden_directories for part in ("--tmpfs", str(path))]
    return [*_limits(confinement), *_bare(command[0]), *shown, "--", *command]


def _limits(confinement: Confinement) -> tuple[str, ...]:
    seconds, kilobytes = confinement.cpu_seconds, confinement.memory_megabytes * 1024
    # Beyond the soft limit of time a signal comes that tells this end from any other.
    limits = f"ulimit -c 0 && ulimit -d {kilobytes} && ulimit -S -t {seconds} && ulimit -H -t {seconds + 5}"
    return ("/bin/sh", "-c", f'{limits} && exec "$@"', "git")


_working: set[str] = set()


async def _works(program: str) -> bool:
    """Only a yes is remembered: one bad moment must not leave git unconfined for good."""
    if (
        program not in _working
        and _bubblewrap()
        and await _succeeds(*_bare(program), "--", program, "--version")
    ):
        _working.add(program)
    return program in _working


async def _succeeds(*command: str) -> bool:
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=quiet, stdout=quiet, stderr=quiet)
    return await process.wait() == 0


@cache
def _bubblewrap() -> str:
    return shutil.which("bwrap") or ""


@cache
def _bare(program: str) -> tuple[str, ...]:
    result = [_bubblewrap(), "--die-with-parent", "--ro-bind", "/usr", "/usr", "--dev", "/dev"]
    for path in map(Path, ("/bin", "/lib", "/lib32", "/lib64")):
        if path.is_symlink():
            result += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            result += ["--ro-bind", str(path), str(path)]
    prefix = Path(program).resolve().parent.parent
    if not prefix.is_relative_to("/usr"):
        result += ["--ro-bind", str(prefix), str(prefix)]
    return tuple(result)
