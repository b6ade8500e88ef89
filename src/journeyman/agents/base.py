"""What an agent is given, the events it emits while it works, and what it hands back.

An agent's word is never evidence: the outcome says how its turn ended, not whether the work is right.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel

from journeyman.agents.limits import OutputLimits
from journeyman.errors import InvalidInput
from journeyman.events.types import (
    AgentNotice,
    AgentText,
    ModelCallCompleted,
    ToolCallCompleted,
    ToolCallStarted,
)
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


AgentEvent = AgentText | AgentNotice | ToolCallStarted | ToolCallCompleted | ModelCallCompleted
"""What an agent may emit. Secrets are redacted where events are stored; how long a text may be is
decided by `EventBuffer`, through which every agent emits."""


class EmitEvents(Protocol):
    """Stores events. Those of one call are stored in one transaction."""

    def __call__(self, *events: AgentEvent) -> Awaitable[None]: ...


def model_call_completed(step: str, model: str, usage: Usage, duration_seconds: float) -> ModelCallCompleted:
    return ModelCallCompleted(
        step=step,
        model=model,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cache_read=usage.tokens_cache_read,
        cost_usd=usage.cost_usd,
        duration_seconds=round(duration_seconds, 3),
    )


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One turn of work for an agent."""

    role: Role
    prompt: str = field(repr=False)
    model: str
    account: Account
    """The order, round and step that the model's calls and the agent's events belong to."""
    session_id: str | None = None
    """The session to resume, where the backend can."""
    deliverable: type[BaseModel] | None = None
    """What the turn must hand back as a value; None when the files are the result."""
    max_turns: int = 100
    timeout_seconds: float = 3600
    limits: OutputLimits = field(default_factory=OutputLimits)
    """How much output it may produce."""


StopReason = Literal["finished", "refused", "turn_limit", "time_limit", "no_answer", "repetition"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    stop_reason: StopReason
    text: str
    """The agent's last message."""
    deliverable: BaseModel | None = None
    usage: Usage = field(default_factory=Usage)
    session_id: str | None = None


@dataclass(frozen=True)
class About:
    """What is known of an agent before it works."""

    providers: tuple[str, ...]
    """Providers whose models it can use."""
    version: str = ""
    shown: tuple[Path, ...] = ()
    """Paths of this machine that its sandbox has to show."""
    hidden: tuple[str, ...] = ()
    """Names at the top of a repository that it would load as its own configuration, whatever its options."""
    keeps_sessions: bool = False
    """Whether it needs a home that outlives the sandbox."""


class Agent(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def about(self) -> About: ...

    async def readiness(self) -> Readiness: ...

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        """Carry out one turn in the sandbox. Raises AgentFailed, BudgetExceeded or what the model's provider
        did (Unauthenticated, RateLimited, QuotaExhausted, Transient) once its own retries are used up."""
        ...


def check_provider(agent: str, model: str, providers: tuple[str, ...]) -> None:
    """Raise when an agent cannot use models of this model's provider."""
    if model.partition("/")[0] not in providers:
        raise InvalidInput(
            f"the agent {agent} cannot use the model {model}",
            hint=f"It can use models of {', '.join(providers)}. `jm models` lists what there is.",
        )
