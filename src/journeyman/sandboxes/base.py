"""What a sandbox is, for every implementation.

Files are read and written from inside the sandbox: a symbolic link of an agent gives access to nothing that
the agent could not reach itself.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

OnOutput = Callable[[bytes], None]


@dataclass(frozen=True)
class Completed:
    """How a command ended. A failing command is a result, not an error."""

    exit_code: int | None
    """None when it was killed at its timeout."""
    output: str
    """Standard output and error as they came, cut in the middle when long."""
    timed_out: bool = False
    truncated: bool = False
    duration_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


@dataclass(frozen=True)
class SandboxLimits:
    memory_mb: int = 4096
    processes: int = 512
    output_bytes: int = 1_000_000
    disk_mb: int = 10_240
    """Of the order as a whole: its workspace, its homes and what its sandboxes have in `/tmp`."""
    files: int = 1_000_000


@dataclass(frozen=True)
class LayerMount:
    """A directory of an environment's layer, shown inside. What is written to it is the sandbox's own."""

    source: Path
    target: str
    """Absolute, as seen from inside: `/workspace/.venv`, or the home."""


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """What to open. The same spec opened twice in one process is the same sandbox."""

    order_id: str
    tree: Path
    """The workspace's files on this machine."""
    git_directories: tuple[Path, ...] = ()
    """Git directories that the workspace's `.git` needs: shown read-only."""
    purpose: Literal["work", "proof", "baseline", "setup"] = "work"
    """`proof`: checks run in a sandbox of their own, which no agent has used. `baseline`: the same for the
    base commit, beside the agent's work. `setup`: installs a layer."""
    writable: bool = True
    """False for read-only roles: the workspace is mounted read-only."""
    network: Literal["none", "open"] = "none"
    shown: tuple[Path, ...] = ()
    """More directories of this machine to show read-only: an installed agent."""
    hidden: tuple[str, ...] = ()
    """Names at the top of the workspace that nothing in the sandbox sees, as far as they are there now."""
    home: Path | None = None
    """Where on this machine a program that keeps sessions has its home; it outlives the sandbox."""
    layers: tuple[LayerMount, ...] = ()
    """What the environment's set-up installed: read-only to others, copied when this sandbox writes to it."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables of every command, beside the few that all sandboxes have."""
    path: tuple[str, ...] = ()
    """Directories at the front of PATH, as seen from inside."""
    user_home: Path | None = None
    """A directory of this machine that becomes the home of all commands and is kept; None: an empty one."""
    limits: SandboxLimits = field(default_factory=SandboxLimits)


@dataclass(frozen=True)
class SandboxState:
    identifier: str
    alive: bool
    isolation: str
    """How it is isolated: `bubblewrap`, or `none`."""
    processes: int = 0


@dataclass(frozen=True)
class Readiness:
    """Whether something can be used here and, if not, what it needs."""

    ready: bool
    needs: str = ""


class Running(Protocol):
    """A program in a sandbox that is communicated with while it runs."""

    @property
    def stdin(self) -> asyncio.StreamWriter: ...

    @property
    def stdout(self) -> asyncio.StreamReader: ...

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to standard error."""
        ...

    async def wait(self) -> int:
        """Its exit code, once it has ended. Raises SandboxLost if the sandbox is gone."""
        ...

    async def terminate(self) -> None:
        """End it and everything it started. Safe to call twice, and when it has ended by itself."""
        ...


class WayOut(Protocol):
    """A proxy for one sandbox."""

    command: str | None
    """What was started inside last, for what the proxy reports."""

    @property
    def socket(self) -> Path:
        """The unix socket of this machine on which it answers."""
        ...

    def variables(self, port: int) -> Mapping[str, str]:
        """For commands inside, where the socket answers on this port."""
        ...

    async def close(self) -> None: ...


class Sandbox(Protocol):
    """An isolated machine holding one working copy; commands start in the workspace."""

    @property
    def identifier(self) -> str: ...

    async def execute_command(
        self,
        command: Sequence[str] | str,
        *,
        timeout: float,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        on_output: OnOutput | None = None,
    ) -> Completed:
        """Run one command; a string is run by `bash -c`. Raises SandboxLost if the sandbox is gone."""
        ...

    async def read_file(self, path: str, *, limit: int = 2_000_000) -> bytes:
        """A file's first bytes. Raises FileNotFoundError, IsADirectoryError or PermissionError."""
        ...

    async def write_file(self, path: str, content: bytes) -> None:
        """Write a file and the directories above it. Raises PermissionError in a read-only workspace."""
        ...

    @property
    def workspace(self) -> str:
        """The workspace's path, as seen from inside."""
        ...

    @property
    def home(self) -> str:
        """The home of programs that keep sessions, as seen from inside."""
        ...

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str = ".") -> Running:
        """Start a program to communicate with. Where that fails, the reason is its stderr."""
        ...

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to what listens on this port inside. Raises ConnectionRefusedError if nothing does."""
        ...

    async def open_door(self, path: Path) -> int:
        """The port inside on which the unix socket at `path` of this machine answers, network or not."""
        ...

    async def attach(self, way_out: WayOut) -> None:
        """Let the sandbox out by this proxy, whose variables all later commands get; it is closed with it."""
        ...

    async def get_current_state(self) -> SandboxState: ...

    async def cleanup(self) -> None:
        """End every process in it. Safe to call twice; the workspace's files stay."""
        ...


class SandboxProvider(Protocol):
    """Where sandboxes of one or more types come from."""

    async def readiness(self) -> Readiness: ...

    @property
    def isolation(self) -> str: ...

    async def setup(self, spec: SandboxSpec) -> Sandbox:
        """Open a sandbox, or give back the one that is open for this order and kind of role."""
        ...

    async def is_over_quota(self, order_id: str, tree: Path, limits: SandboxLimits) -> bool:
        """Whether a sandbox of the order was stopped for its files, or these are why the disk is full."""
        ...

    async def cleanup(self, order_id: str, *, only_writable: bool = False) -> None:
        """End all sandboxes of one order, or only the writable one."""
        ...

    async def sweep(self, live_orders: set[str]) -> list[str]:
        """End what is left of orders that are not live; returns what was found."""
        ...

    async def close(self) -> None:
        """End every sandbox of this process."""
        ...
