"""How often a model call is tried, decided without waiting.

Only faults that usually go away are tried again, and only when the wait is short: a longer one is
the engine's to take, which can give the worker to another order meanwhile.
"""

from journeyman.errors import JourneymanError

ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 60.0


def wait_before_retry(
    error: JourneymanError, attempt: int, *, base_seconds: float, chance: float
) -> float | None:
    """Seconds to wait after this attempt failed, or None to give up; `chance` is between 0 and 1."""
    if not error.retryable or attempt >= ATTEMPTS:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT_SECONDS else None
    return base_seconds * 2.0 ** (attempt - 1) * (1 + chance / 2)
