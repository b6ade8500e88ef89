"""When an agent retries a model call: a pure decision.

Only faults that usually pass are retried, and only after a short wait. A longer wait is left to the engine,
which can give the worker to another order meanwhile.
"""

from journeyman.errors import JourneymanError

MAX_ATTEMPTS = 3
MAX_WAIT_SECONDS = 60.0


def model_retry_delay(
    error: JourneymanError, attempt: int, *, base_seconds: float, jitter: float
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up; `jitter` is between 0 and 1."""
    if not error.retryable or attempt >= MAX_ATTEMPTS:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= MAX_WAIT_SECONDS else None
    return base_seconds * 2.0 ** (attempt - 1) * (1 + jitter / 2)
