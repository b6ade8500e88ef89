"""A provider's failure, told as one of our own errors.

The provider's message is passed on because it is often the only one that helps, but it is cut short
and redacted: some providers repeat the key they refuse.
"""

from typing import Any

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    UserError,
)

from journeyman.access.redaction import Redactor
from journeyman.errors import (
    AgentFailed,
    InvalidInput,
    JourneymanError,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Transient,
    Unauthenticated,
)

PROVIDER_FAULTS = (AgentRunError, UserError, httpx2.HTTPError, httpx2.StreamError, TimeoutError)
"""What a model call may raise, whichever provider answers it."""

_QUOTA_WORDS = ("quota", "credit", "billing")
_LONGEST_MESSAGE = 500


def told(error: Exception, model: str, redactor: Redactor) -> JourneymanError:
    """The error of ours that says what happened to a call of this model."""
    said = redactor.redact(_provider_message(error))[:_LONGEST_MESSAGE]
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    if status == 401:
        return Unauthenticated(
            f"{model}: the provider refused the key ({said})", hint="Check the provider's API key."
        )
    if status == 403:
        return NotAllowed(
            f"{model}: the provider does not allow this ({said})",
            hint="Check what the API key may use, or choose another model.",
        )
    if isinstance(error, ModelQuotaExceededError) or (status == 429 and _says_quota(model, said)):
        return QuotaExhausted(
            f"{model}: the account's quota is used up ({said})",
            hint="Top up the account or raise its limit at the provider, then retry the order.",
        )
    if status == 429:
        return RateLimited(
            f"{model}: the provider asks to slow down ({said})",
            hint="It is tried again by itself; fewer orders at once make it rarer.",
            retry_after=_retry_after(error),
        )
    if isinstance(error, ModelContextWindowExceededError):
        return AgentFailed(
            f"{model}: the conversation no longer fits into the model ({said})",
            hint="Split the task, or choose a model with a larger context.",
        )
    if isinstance(error, ModelNotFoundError):
        return InvalidInput(f"{model}: the provider has no such model ({said})", hint="See `jm models`.")
    if isinstance(error, UserError) or (status is not None and 400 <= status < 500 and status != 408):
        return AgentFailed(
            f"{model}: the provider refused the request ({said})",
            hint="Another model may accept it; the message is the provider's.",
        )
    return Transient(
        f"{model}: the call failed ({said})",
        hint="It is tried again by itself; if it stays, look at the provider's status page.",
        retry_after=_retry_after(error),
    )


def _retry_after(error: Exception) -> float | None:
    return error.retry_after if isinstance(error, ModelAPIError) else None


def _says_quota(model: str, said: str) -> bool:
    # Google words every rate limit as a quota, so there the word tells nothing.
    return not model.startswith("google/") and any(word in said.lower() for word in _QUOTA_WORDS)


def _provider_message(error: Exception) -> str:
    body: Any = error.body if isinstance(error, ModelAPIError) else None
    while isinstance(body, dict):
        inner = body.get("error")
        if not isinstance(inner, dict):
            body = body.get("message") or inner
            break
        body = inner
    prefix = f"{error.status_code}: " if isinstance(error, ModelHTTPError) else ""
    if isinstance(body, str) and body.strip():
        return prefix + body.strip()
    if prefix:
        return prefix + "no message"
    return str(error) or type(error).__name__
