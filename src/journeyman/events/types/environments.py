"""Events of an environment: its set-up before any agent works, and what its network refused."""

from typing import Literal

from journeyman.events.types.base import EventModel


class EnvironmentSetupStarted(EventModel):
    """No layer fits the base commit, so one is made. Other orders that need the same one wait for it."""

    type: Literal["environment_setup_started"] = "environment_setup_started"
    layer: str
    source: str
    """Where the environment is written: a path in the repository, `server`, or `detected`."""
    ecosystems: list[str]
    commands: list[str]


class EnvironmentCommandCompleted(EventModel):
    """One install command of the set-up has ended."""

    type: Literal["environment_command_completed"] = "environment_command_completed"
    command: str
    exit_code: int | None
    duration_seconds: float
    output: str
    """Its last lines."""


class EnvironmentReady(EventModel):
    type: Literal["environment_ready"] = "environment_ready"
    layer: str
    reused: bool
    """Made before, by this order or another one."""
    duration_seconds: float
    size_bytes: int
    files: int


class EnvironmentSetupFailed(EventModel):
    """The order goes on without what could not be installed, or waits for a person, by the settings."""

    type: Literal["environment_setup_failed"] = "environment_setup_failed"
    layer: str
    reason: str
    remedy: str
    command: str | None = None


class NetworkDenied(EventModel):
    """A command tried to reach what its phase may not. Emitted once for each host, port and step."""

    type: Literal["network_denied"] = "network_denied"
    host: str
    port: int
    phase: Literal["setup", "agent", "proof"]
    step: str | None
    command: str | None
    reason: str
    may_be_allowed: bool
    """Whether a person can allow it; a private address never is."""


class NetworkAllowed(EventModel):
    """A person allowed a host that had been denied."""

    type: Literal["network_allowed"] = "network_allowed"
    host: str
    scope: Literal["order", "repository"]
