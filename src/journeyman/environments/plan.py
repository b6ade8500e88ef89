"""An environment as a value: what to install, to start, to set and to check, and where that is said.

Made from a definition that people wrote, from files of other products, or by detection; what reads it does
not need to know which.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CheckKind = Literal["build", "test", "lint", "types"]
CheckOutcome = Literal["passed", "failed", "environment", "timed_out", "flaky", "unavailable"]
"""`environment`: it could not be run, or not to its end, for want of something. `unavailable`: there was
nothing to run. `flaky`: what failed passed
when it was run again."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question that the project's own tools answer with their exit code."""

    name: str
    """As people say it: `pytest`, `npm test`, `api: go test` for one of several packages."""
    kind: CheckKind
    command: str
    """For `bash -c`, in the environment's variables and PATH; it never needs a network."""
    workdir: str = "."
    tool: str
    """What must be there to run it, in words for a person."""
    why: str
    """Where it is said, or what it was detected from."""
    probe: str
    """A shell command that succeeds where the check can be run; run in `workdir`."""
    otherwise: "Check | None" = None
    """Another way to ask the same question, for where this one cannot be run."""
    covers: tuple[str, ...] = ()
    """Directories whose changes this check is about, in a repository of several packages; empty: all."""


@dataclass(frozen=True, kw_only=True)
class InstallCommand:
    command: str
    """For `bash -c`. Run on top of an older layer it gives the same result as on an empty one."""
    why: str
    workdir: str = "."
    is_optional: bool = False
    """When it fails, the set-up goes on and the environment says so."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A program that runs in the sandbox beside checks and agents, and ends with it."""

    command: str
    ready: str | None = None
    """A shell command that succeeds as soon as the service answers; None: when `command` has ended."""
    timeout: float = 120.0


@dataclass(frozen=True, kw_only=True)
class ToolNeed:
    """A tool in a version that the project asks for."""

    tool: str
    """As it is called: `python3`, `node`, `cargo`, `go`, `java`, `ruby`, `php`, `dotnet`, `cmake`."""
    version: str
    """As the project writes it: `3.12`, `>=20`, `1.22`; empty when any will do."""
    said_in: str


AgentNetwork = Literal["none"] | tuple[str, ...]
"""Hosts that the agent phase may reach; `none` is the default."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    source: str = "detected"
    """Where it is written: a path in the repository, `server`, or `detected`."""
    ecosystems: tuple[str, ...] = ()
    """What was found, for people: `Python (uv)`, `Node (pnpm)`."""
    tools: tuple[ToolNeed, ...] = ()
    install: tuple[InstallCommand, ...] = ()
    start: tuple[Service, ...] = ()
    checks: tuple[Check, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of every command, in all phases."""
    path: tuple[str, ...] = ()
    """Directories at the front of PATH, as seen from inside: `/workspace/.venv/bin`."""
    secrets: tuple[str, ...] = ()
    """Names of secrets that the set-up phase gets as variables."""
    secrets_in_agent_phase: bool = False
    workdir: str = "."
    setup_hosts: tuple[str, ...] = ()
    """Hosts that the set-up phase may reach beside the package registries."""
    agent_network: AgentNetwork = "none"
    directories: tuple[str, ...] = ()
    """Directories of the workspace that belong to the layer even where git does not ignore them: `.venv`."""
    key_files: tuple[str, ...] = ()
    """Paths whose content decides what is installed."""
    image: str | None = None
    notes: tuple[str, ...] = ()
    """What people should know, in sentences: a version that is not there, a file that was not understood."""

    @property
    def needs_setup(self) -> bool:
        return bool(self.install)
