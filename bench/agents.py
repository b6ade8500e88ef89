"""What the jail costs an agent that is a program of its own: start to first model request, and memory.

The other side is the same program with the same arguments, without a jail, a supervisor or limits. Both take
turns on the same scripted model behind the same door.
"""

import asyncio
import os
import signal
import socket
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import yaml

from bench.measuring import Row, Table, asked_to_be_quick
from journeyman.agents.base import Agent, AgentEvent, Assignment
from journeyman.agents.claude_code import ClaudeCode
from journeyman.agents.codex import Codex
from journeyman.agents.gemini import Gemini
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.opencode import OpenCode
from journeyman.agents.roles import ROLES
from journeyman.events.types import ModelCallCompleted
from journeyman.gateway.accounts import Account
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Sandbox, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.sandboxes.relay import relay
from journeyman.settings import Settings, load_settings
from tests.agents.installed import INSTALLED
from tests.gateway.ledgers import open_door
from tests.sandboxes.specs import give_away
from tests.standins.plain_sandbox import PlainSandbox

_TIMES = 1.2
_JAIL_MB = 30.0
"""The jail's own two processes."""
_ORDER = "wo-benchmark"


@dataclass(frozen=True)
class Figures:
    first_request_ms: float
    processor_ms: float
    memory_mb: float
    jail_ms: float = 0.0


class BareProgram:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout
        self.stderr_tail = ""

    async def wait(self) -> int:
        return await self._process.wait()

    async def terminate(self) -> None:
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()


class Bare(PlainSandbox):
    """A directory of this machine, where programs are started as a shell would."""

    def __init__(self, tree: Path, home: Path) -> None:
        super().__init__(tree)
        self._home = home
        self.doors: list[asyncio.Server] = []

    @property
    def home(self) -> str:
        return str(self._home)

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str = ".") -> BareProgram:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.tree / cwd,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "TERM": "dumb", **env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=1 << 24,
        )
        return BareProgram(process)

    async def open_door(self, path: Path) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        self.doors.append(await relay(listener, path))
        port: int = listener.getsockname()[1]
        return port


def main() -> int:
    repetitions = 2 if asked_to_be_quick(__doc__ or "") else 5
    return asyncio.run(_measure(repetitions))


async def _measure(repetitions: int) -> int:
    table = Table("Agents in the jail, against the bare program")
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "scripts").mkdir()
        replies = [{"tools": [{"name": "shell", "arguments": {"command": "true"}}]}, {"say": "Done."}]
        (place / "scripts" / "once.yaml").write_text(yaml.safe_dump({"turns": [{"replies": replies}]}))
        settings = load_settings(
            {
                "JOURNEYMAN_HOME": str(place / "home"),
                "JOURNEYMAN_SCRIPTS": str(place / "scripts"),
                "JOURNEYMAN_AGENTS_DIRECTORY": str(INSTALLED),
            }
        )
        settings.home.mkdir()
        async with open_door(settings) as door:
            packages = NpmPackages(settings)
            for make in (ClaudeCode, OpenCode, Codex, Gemini):
                await _compare(table, place, settings, door, packages, make, repetitions)
    return table.finish()


async def _compare(
    table: Table,
    place: Path,
    settings: Settings,
    door: Door,
    packages: NpmPackages,
    make: type[ClaudeCode] | type[OpenCode] | type[Codex] | type[Gemini],
    repetitions: int,
) -> None:
    jailed: list[Figures] = []
    bare: list[Figures] = []
    for number in range(repetitions + 1):
        agent = make(door, packages)
        tree = place / f"{agent.name}-{number}"
        for name in ("jailed", "bare", "jailed-home", "bare-home"):
            (tree / name).mkdir(parents=True)
        for kind in ("bare", "jailed") if number % 2 else ("jailed", "bare"):
            if kind == "bare":
                bare.append(await _bare_turn(agent, tree))
            else:
                jailed.append(await _jailed_turn(make(door, packages), settings, tree))
    # The first of each warms the machine's cache of the program's files.
    ours, other = _best(jailed[1:]), _best(bare[1:])
    took, bar = ours.jail_ms + ours.first_request_ms, _TIMES * other.first_request_ms + ours.jail_ms
    table.add(Row(f"{agent.name}: start to first request", took, other.first_request_ms, "bare", bar=bar))
    bar = _TIMES * other.processor_ms + ours.jail_ms
    table.add(Row(f"{agent.name}: processor", ours.processor_ms, other.processor_ms, "bare", bar=bar))
    bar = _TIMES * other.memory_mb + _JAIL_MB
    table.add(Row(f"{agent.name}: memory", ours.memory_mb, other.memory_mb, "bare", unit="MB", bar=bar))


def _best(turns: list[Figures]) -> Figures:
    """Of times the shortest: whatever else runs on the machine only ever adds to them."""
    return Figures(
        min(turn.first_request_ms for turn in turns),
        min(turn.processor_ms for turn in turns),
        statistics.median(turn.memory_mb for turn in turns),
        min(turn.jail_ms for turn in turns),
    )


async def _bare_turn(agent: Agent, tree: Path) -> Figures:
    sandbox = Bare(tree / "bare", tree / "bare-home")
    try:
        return await _turn(agent, sandbox)
    finally:
        for opened in sandbox.doors:
            opened.close()
        for process in psutil.Process().children(recursive=True):
            process.kill()


async def _jailed_turn(agent: Agent, settings: Settings, tree: Path) -> Figures:
    for name in ("jailed", "jailed-home"):
        give_away(tree / name, _ORDER)
    sandboxes = LocalSandboxes(settings)
    started = time.perf_counter()
    sandbox = await sandboxes.setup(
        SandboxSpec(order_id=_ORDER, tree=tree / "jailed", shown=agent.about.shown, home=tree / "jailed-home")
    )
    start = (time.perf_counter() - started) * 1000
    try:
        return replace(await _turn(agent, sandbox), jail_ms=start)
    finally:
        await sandboxes.close()


async def _turn(agent: Agent, sandbox: Sandbox) -> Figures:
    """What it took to the first model request."""
    began = time.perf_counter()
    seen: list[Figures] = []

    async def emit(*events: AgentEvent) -> None:
        called = [each for each in events if isinstance(each, ModelCallCompleted)]
        if called and not seen:
            milliseconds = (time.perf_counter() - began - called[0].duration_seconds) * 1000
            seen.append(Figures(milliseconds, *_used()))

    model = "scripted/once"
    account = Account(order_id=_ORDER, round=1, step="s", role="build", agent=agent.name, model=model)
    assignment = Assignment(role=ROLES["build"], prompt="Do it.", model=model, account=account)
    await agent.work(assignment, sandbox, emit)
    return seen[0]


def _used() -> tuple[float, float]:
    """Milliseconds of processor and megabytes of everything that was started."""
    seconds, memory = 0.0, 0
    for process in psutil.Process().children(recursive=True):
        try:
            seconds += sum(process.cpu_times()[:4])
            memory += process.memory_full_info().pss
        except psutil.Error:
            continue
    return seconds * 1000, memory / 1_000_000


if __name__ == "__main__":
    raise SystemExit(main())
