"""One tree of errors: each has a category, whether a retry can help, and a hint what to do.

The message says what happened, the hint is written for the person who reads it. The API turns them into
problem+json, the command line into an exit code; the engine reads only `category` and `retryable`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

Category = Literal[
    "transient",
    "rate_limited",
    "quota",
    "auth",
    "permission",
    "budget",
    "sandbox",
    "environment",
    "agent",
    "verification",
    "approval",
    "conflict",
    "invalid_input",
    "internal",
]


class JourneymanError(Exception):
    """The root. Raise a subclass; catch this one only at the edge of the product."""

    category: ClassVar[Category] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retry_after = retry_after
        """Seconds to wait that the other side asked for, if it did."""


class InvalidInput(JourneymanError):
    category = "invalid_input"


class InvalidRepository(InvalidInput):
    """The repository's address, or what it holds, cannot be worked on."""


class InvalidWorkflow(InvalidInput):
    """A workflow definition is wrong; the message names file, line and step."""


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong in a text that a person wrote; lines and columns count from 1."""

    line: int
    column: int
    message: str
    hint: str


class InvalidEnvironment(InvalidInput):
    """The definition of an environment is wrong; the message names the first mistake with file and line."""

    def __init__(self, message: str, *, hint: str = "", errors: Sequence[Mistake] = ()) -> None:
        super().__init__(message, hint=hint)
        self.errors = tuple(errors)


class InvalidSetting(InvalidInput):
    """A setting is unknown, or has an invalid value."""


class NotFound(InvalidInput):
    pass


class Conflict(JourneymanError):
    """The state is not what this request, or this step, expected."""

    category = "conflict"


class Superseded(Conflict):
    """Another worker holds the order now; this one must stop working on it."""


class Unauthenticated(JourneymanError):
    category = "auth"


class NotAllowed(JourneymanError):
    category = "permission"


class Transient(JourneymanError):
    """A fault that usually goes away: a timeout, a reset, a 5xx."""

    category = "transient"
    retryable = True


class StoreUnavailable(Transient):
    """The database is unreachable or the disk is full: nothing can be stored until that has passed."""


class StoreDamaged(JourneymanError):
    """The database is damaged; nothing is served from it until somebody has repaired it."""


class RateLimited(JourneymanError):
    category = "rate_limited"
    retryable = True


class QueueFull(RateLimited):
    """So many orders are waiting that a new one is not accepted."""


class QuotaExhausted(JourneymanError):
    category = "quota"


class BudgetExceeded(JourneymanError):
    category = "budget"


class SandboxUnavailable(JourneymanError):
    """A sandbox cannot be opened here; the hint says what is missing."""

    category = "sandbox"


class SandboxLost(JourneymanError):
    """The sandbox has ended unexpectedly; a new one can replace it."""

    category = "sandbox"
    retryable = True


class WorkspaceUnreadable(JourneymanError):
    """What an agent left cannot be read within the limits of time and memory; trying again would not help."""

    category = "sandbox"


class DiskQuotaExceeded(JourneymanError):
    """A sandbox was stopped because its files took too much of the disk; in a new one they still would."""

    category = "sandbox"


class EnvironmentIncomplete(JourneymanError):
    """What a repository needs is not there, and a person was to be asked before the order goes on."""

    category = "environment"


class InvalidEvidence(JourneymanError):
    """Evidence that shows nothing: not whole, not signed by a known key, or about another commit."""

    category = "verification"


class ApprovalNeeded(JourneymanError):
    """A change that a person has to look at before the order goes on."""

    category = "approval"


class AgentFailed(JourneymanError):
    category = "agent"


class ContextOverflow(AgentFailed):
    """The conversation no longer fits into the model; a shorter one would."""


class Internal(JourneymanError):
    """A fault of ours."""
