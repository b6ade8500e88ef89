"""`jm` as people run it: a process of its own, with nothing of the test run's environment."""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JM = Path(sys.prefix) / "bin" / "jm"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Terminal:
    home: Path
    url: str = ""

    def environment(self, **more: str) -> dict[str, str]:
        address = {"JOURNEYMAN_URL": self.url} if self.url else {}
        return {
            "PATH": os.defpath,
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.home),
            "JOURNEYMAN_HOME": str(self.home),
            **address,
            **more,
        }

    async def start(self, *arguments: str, **options: Any) -> asyncio.subprocess.Process:
        streams = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
        environment = self.environment(**options.pop("environment", {}))
        return await asyncio.create_subprocess_exec(
            JM, *arguments, env=environment, preexec_fn=_heed_interrupts, **{**streams, **options}
        )

    async def run(self, *arguments: str, **options: Any) -> Ended:
        process = await self.start(*arguments, **options)
        return await ended(process)


def _heed_interrupts() -> None:
    """As in a terminal. A shell starts its background jobs, perhaps this test run, with them ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def ended(process: asyncio.subprocess.Process, given: bytes | None = None) -> Ended:
    out, err = await process.communicate(given)
    assert process.returncode is not None
    return Ended(process.returncode, (out or b"").decode(), (err or b"").decode())


async def read_until(stream: asyncio.StreamReader | None, text: str) -> str:
    """What a stream says up to and with the line that holds the text."""
    assert stream is not None
    said = ""
    async for line in stream:
        said += line.decode()
        if text in said:
            return said
    raise AssertionError(f"it ended without saying {text!r}: {said}")
