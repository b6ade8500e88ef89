"""One error tree: every error knows its category, whether trying again can help, and what to do.

The message says what happened, the hint is written for the person who reads it. Doors turn these
into problem+json or an exit code; the engine reads `category` and `retryable` and nothing else.
"""

from typing import ClassVar, Literal

Category = Literal[
    "transient",
    "rate_limited",
    "quota",
    "auth",
    "permission",
    "budget",
    "sandbox",
    "agent",
    "verification",
    "conflict",
    "invalid_input",
    "internal",
]


class JourneymanError(Exception):
    """The root. Raise a subclass; catch this one only where an answer is owed to somebody."""

    category: ClassVar[Category] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retry_after = retry_after
        """Seconds the other side asked us to wait, when it did."""


class InvalidInput(JourneymanError):
    category = "invalid_input"


class InvalidRepository(InvalidInput):
    """The repository's address, or what it holds, cannot be worked on."""


class InvalidWorkflow(InvalidInput):
    """A workflow definition is wrong; the message names file, line and step."""


class InvalidSetting(InvalidInput):
    """A setting has a value that cannot be used, or nobody knows it."""


class NotFound(InvalidInput):
    pass


class Conflict(JourneymanError):
    """The world is not as this request, or this step, expected it to be."""

    category = "conflict"


class Superseded(Conflict):
    """Somebody else has the order now; whoever still works on it must stop."""


class Unauthenticated(JourneymanError):
    category = "auth"


class NotAllowed(JourneymanError):
    category = "permission"


class Transient(JourneymanError):
    """A fault that usually goes away: a timeout, a reset, a 5xx."""

    category = "transient"
    retryable = True


class StoreUnavailable(Transient):
    """The database is away or the disk is full: nothing can be written down until that has passed."""


class StoreDamaged(JourneymanError):
    """The database is not what it should be; nothing is served from it until somebody has mended it."""


class RateLimited(JourneymanError):
    category = "rate_limited"
    retryable = True


class QueueFull(RateLimited):
    """So many orders wait already that a new one is not taken in."""


class QuotaExhausted(JourneymanError):
    category = "quota"


class BudgetExceeded(JourneymanError):
    category = "budget"


class SandboxUnavailable(JourneymanError):
    """A sandbox cannot be had here; the hint says how to get one."""

    category = "sandbox"


class SandboxLost(JourneymanError):
    """The sandbox was there and is gone; a new one can take its place."""

    category = "sandbox"
    retryable = True


class WorkspaceUnreadable(JourneymanError):
    """What an agent left cannot be read within the limits of time and memory; trying again would not help."""

    category = "sandbox"


class DiskQuotaExceeded(JourneymanError):
    """A sandbox was stopped because its files took too much of the disk; in a new one they still would."""

    category = "sandbox"


class AgentFailed(JourneymanError):
    category = "agent"


class ContextOverflow(AgentFailed):
    """The conversation no longer fits into the model; a shorter one would."""


class VerificationFailed(JourneymanError):
    category = "verification"


class Internal(JourneymanError):
    """A fault of ours."""
