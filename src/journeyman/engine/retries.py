"""Whether and when a failed step is tried again: pure, so that the rule can be read and tested."""

import random

from journeyman.errors import Category

_POINTLESS: frozenset[Category] = frozenset(
    {"invalid_input", "auth", "permission", "budget", "quota", "environment", "approval", "conflict"}
)
"""Trying the same again cannot help until a person changes something."""
_RETRIES_OF_PASSING_FAULTS = 2
"""What usually goes away is tried three times in all, whatever the workflow says."""
_LONGEST_WAIT_SECONDS = 60.0
LONGEST_ASKED_SECONDS = 300.0
"""When the other side asks for more, the order pauses until then: a worker has better things to do."""
_FIRST_PAUSE_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 3600.0
_PAUSES = 24
"""About a day; a fault that stays for longer does not go away by itself."""


def wait_before_retry(
    category: Category,
    attempt: int,
    retries: int,
    *,
    passes: bool = False,
    retry_after: float | None = None,
    jitter: float = 0.0,
) -> float | None:
    """Seconds to wait before attempt `attempt + 1`, or None when this failure is final.

    `passes` says that a fault of this kind usually goes away by itself.
    """
    if attempt > (max(retries, _RETRIES_OF_PASSING_FAULTS) if passes else retries) or category in _POINTLESS:
        return None
    if retry_after is not None and retry_after > LONGEST_ASKED_SECONDS:
        return None
    backoff = min(2.0 ** min(attempt - 1, 10), _LONGEST_WAIT_SECONDS)
    return max(backoff * (1 + jitter), retry_after or 0.0)


def pause_before_retry(number: int, retry_after: float | None) -> float | None:
    """Seconds that an order is paused for a fault that stayed; None when only a person lets it go on.

    `number` counts the pauses in a row, this one included: each is twice as long as the one before.
    """
    if number > _PAUSES:
        return None
    pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** (number - 1), _LONGEST_PAUSE_SECONDS)
    return max(pause, retry_after or 0.0)


def some_jitter() -> float:
    return random.uniform(0.0, 0.25)
