"""What a sandbox is, whoever provides it.

Files are read and written from inside: a link that an agent planted leads nowhere it could not
already go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

OnOutput = Callable[[bytes], None]


@dataclass(frozen=True)
class Completed:
    """How a command ended. A failing command is an answer, not an error."""

    exit_code: int | None
    """None when it was ended by the time limit."""
    output: str
    """Standard output and error as they came, cut in the middle when long."""
    timed_out: bool = False
    truncated: bool = False
    duration_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


@dataclass(frozen=True)
class Limits:
    memory_mb: int = 4096
    processes: int = 512
    output_bytes: int = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """What to open. The same spec opened twice in one process is the same sandbox."""

    order_id: str
    tree: Path
    """The workspace's files on this machine."""
    git_directories: tuple[Path, ...] = ()
    """Git directories that the workspace's `.git` needs: shown read-only."""
    writable: bool = True
    """False for read-only roles: the workspace cannot be written, whoever tries."""
    network: Literal["none", "open"] = "none"
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class SandboxState:
    identifier: str
    alive: bool
    isolation: str
    """How it is held apart, in words for a person: `bubblewrap`, or `none`."""
    processes: int = 0


@dataclass(frozen=True)
class Readiness:
    """Whether something can be used here and, if not, what it needs."""

    ready: bool
    needs: str = ""


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

    async def cleanup(self, order_id: str) -> None:
        """End all sandboxes of one order."""
        ...

    async def sweep(self, live_orders: set[str]) -> list[str]:
        """End what is left of orders that are not live, and say what was found."""
        ...

    async def close(self) -> None:
        """End every sandbox of this process."""
        ...
