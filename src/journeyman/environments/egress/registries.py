"""Which hosts are package registries on this machine, asked of the tools themselves.

No host is written here: each tool knows its own default and what the machine's owner configured. A tool that
is not installed contributes nothing.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import structlog

from journeyman.environments.egress.indexes import RegistryHosts, merge_hosts
from journeyman.environments.egress.tools import ECOSYSTEMS, QUESTIONS

_VALID_SECONDS = 600.0
"""After that a tool is asked again: its owner may have changed its configuration."""
_log = structlog.get_logger()


@dataclass(frozen=True)
class _Known:
    program: tuple[str, int, int]
    """Where it lies, when it was changed and its size."""
    asked_at: float
    hosts: RegistryHosts


class Registries:
    """Remembers what tools answered. One for a process is enough."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def find(self, tools: Collection[str] | None = None) -> RegistryHosts:
        """What these tools, by the names people call them, reach for packages; None means all tools."""
        named = QUESTIONS if tools is None else [p for tool in tools for p in ECOSYSTEMS.get(tool, (tool,))]
        programs = sorted({program for program in named if program in QUESTIONS})
        return merge_hosts(await asyncio.gather(*(self._ask(program) for program in programs)))

    async def _ask(self, program: str) -> RegistryHosts:
        identity = _identity(program)
        if identity is None:
            return RegistryHosts()
        async with self._locks[program]:
            known = self._known.get(program)
            is_fresh = known and time.monotonic() - known.asked_at < _VALID_SECONDS
            if known is None or not is_fresh or known.program != identity:
                with tempfile.TemporaryDirectory(prefix="journeyman-ask-") as directory:
                    hosts = await _asked(program, Path(directory))
                known = self._known[program] = _Known(identity, time.monotonic(), hosts)
        return known.hosts


def _identity(program: str) -> tuple[str, int, int] | None:
    found = shutil.which(program)
    if found is None:
        return None
    status = os.stat(found)
    return os.path.realpath(found), status.st_mtime_ns, status.st_size


async def _asked(program: str, directory: Path) -> RegistryHosts:
    try:
        hosts = await QUESTIONS[program](directory)
    except (OSError, ValueError) as error:  # it is gone, or prints what nobody can read
        _log.warning("registries_unknown", tool=program, error=str(error))
        return RegistryHosts()
    _log.info("registries_found", tool=program, hosts=hosts.hosts)
    return hosts
