"""Confine the platform's own git, and limit it, while it reads or writes files that an agent wrote.

Git first checks whether a directory is a symbolic link and opens a file in it later. An agent that swaps the
directory for a link in between (a TOCTOU race) would make git read or write anywhere on the host. In a mount
namespace that contains only the workspace and the mirror, such a link leads nowhere. Where bubblewrap does
not work, agents are not jailed either, and git runs with the limits alone.
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
    """Files that git sees as /dev/null: pipes would block it, rule files may be too long. If one of them is
    gone by then, git does not start."""
    hidden_directories: tuple[Path, ...] = ()
    """Directories that git sees empty: repositories of an agent, whose configuration git would obey."""
    cpu_seconds: int = 60
    memory_megabytes: int = 1024


SECONDS = 120.0
"""Timeout of one confined git process."""
LIMIT_SIGNALS = frozenset({signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT})
"""Signals that mean that the input exceeded a limit; others mean a fault of the machine."""


async def confined(command: Sequence[str], confinement: Confinement) -> list[str]:
    """The command with its limits and, where that works, with bubblewrap around it."""
    if not await _works(command[0]):
        return [*_limits(confinement), *command]
    mounts = [("--ro-bind", path) for path in confinement.readable]
    mounts += [("--bind", path) for path in confinement.writable]
    shown = [part for option, path in mounts for part in (option, str(path), str(path))]
    shown += [part for path in confinement.hidden for part in ("--dev-bind", "/dev/null", str(path))]
    shown += [part for path in confinement.hidden_directories for part in ("--tmpfs", str(path))]
    return [*_limits(confinement), *_minimal_root(command[0]), *shown, "--", *command]


def _limits(confinement: Confinement) -> tuple[str, ...]:
    seconds, kilobytes = confinement.cpu_seconds, confinement.memory_megabytes * 1024
    # At the soft limit of CPU time the kernel sends SIGXCPU, by which this end is recognised; at the hard
    # limit SIGKILL. -d limits the heap; -c 0 keeps core dumps of hostile input off the disk.
    limits = f"ulimit -c 0 && ulimit -d {kilobytes} && ulimit -S -t {seconds} && ulimit -H -t {seconds + 5}"
    return ("/bin/sh", "-c", f'{limits} && exec "$@"', "git")


_working: set[str] = set()


async def _works(program: str) -> bool:
    """Only success is cached: a single failure must not leave git unconfined for good."""
    if (
        program not in _working
        and _bubblewrap()
        and await _succeeds(*_minimal_root(program), "--", program, "--version")
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
def _minimal_root(program: str) -> tuple[str, ...]:
    """A root directory with git and its libraries; git ends together with the server."""
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
