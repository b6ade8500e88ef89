"""What an agent is given, what it says while it works, and what it hands back.

An agent's word is never evidence: the outcome says how its turn ended, not whether the work is right.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from journeyman.agents.limits import OutputLimits
from journeyman.errors import InvalidInput
from journeyman.gateway.accounts import Account
from journeyman.sandboxes.base import Readiness, Sandbox
from journeyman.settings import RoleName
from journeyman.work_orders.order import Usage


@dataclass(frozen=True)
class Role:
    """Instructions and permissions of an agent."""

    name: RoleName
    instructions: str = field(repr=False)
    may_write: bool


@dataclass(frozen=True)
class Said:
    text: str


@dataclass(frozen=True)
class Noticed:
    """A fault between model and agent that was dealt with."""

    text: str
    wait_seconds: float | None = None
    """When a call is tried again: how long that takes from now."""


@dataclass(frozen=True)
class ToolStarted:
    call_id: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolFinished:
    call_id: str
    tool: str
    ok: bool
    output: str
    duration_seconds: float
    exit_code: int | None = None


@dataclass(frozen=True)
class ModelCalled:
    model: str
    usage: Usage
    duration_seconds: float


Happening = Said | Noticed | ToolStarted | ToolFinished | ModelCalled


class OnHappening(Protocol):
    """Whoever is told what happens. What is told together is stored together."""

    def __call__(self, *happenings: Happening) -> Awaitable[None]: ...


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One turn of work for an agent."""

    role: Role
    prompt: str = field(repr=False)
    model: str
    account: Account | None = None
    """Who pays for the model's calls, and what they may spend."""
    session_id: str | None = None
    """The session to go on with, where the backend can."""
    deliverable: type[BaseModel] | None = None
    """What the turn must hand back as a value; None when the files are the result."""
    max_turns: int = 100
    timeout_seconds: float = 3600
    limits: OutputLimits = field(default_factory=OutputLimits)
    """How much it may say."""


StopReason = Literal["finished", "refused", "turn_limit", "time_limit", "no_answer", "repetition"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    stop_reason: StopReason
    text: str
    """The agent's last words."""
    deliverable: BaseModel | None = None
    usage: Usage = field(default_factory=Usage)
    session_id: str | None = None


@dataclass(frozen=True)
class About:
    """What is known of an agent before it works."""

    providers: tuple[str, ...]
    """Whose models it can speak with."""
    version: str = ""
    shown: tuple[Path, ...] = ()
    """What of this machine it has to see in its sandbox."""
    hidden: tuple[str, ...] = ()
    """Names at the top of a repository that it would take for its own configuration, whatever it is told."""
    keeps_sessions: bool = False
    """Whether it needs a home that outlives the sandbox."""


class Agent(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def about(self) -> About: ...

    async def readiness(self) -> Readiness: ...

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        """Carry out one turn in the sandbox. Raises AgentFailed, BudgetExceeded or what the model's provider
        did (Unauthenticated, RateLimited, QuotaExhausted, Transient) once its own patience is at an end."""
        ...


def check_provider(agent: str, model: str, providers: tuple[str, ...]) -> None:
    """Raise when an agent does not speak with this model's provider."""
    if model.partition("/")[0] not in providers:
        raise InvalidInput(
            f"the agent {agent} cannot use the model {model}",
            hint=f"It speaks with models of {', '.join(providers)}. `jm models` lists what there is.",
        )
