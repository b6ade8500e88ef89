"""A provider's failure as one of our own errors.

The provider's message is passed on because it is often the only one that helps, but it is cut short
and redacted: some providers repeat the key they refuse. Nothing here knows a library: the client of a
provider hands in the status, the headers and the body that came back.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from journeyman.access.redaction import Redactor
from journeyman.errors import (
    AgentFailed,
    ContextOverflow,
    InvalidInput,
    JourneymanError,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Transient,
    Unauthenticated,
)

_BAD_KEY = ("invalid_api_key", "api_key_invalid")
_QUOTA = ("insufficient_quota", "billing_hard_limit", "spend_limit", "usage_limit", "credit balance")
_QUOTA_AFTER_429 = ("quota", "credit", "billing")
_OVERFLOW = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context size",
    "context limit",
    "reduce the length of the messages",
    "prompt is too long",
    "input is too long",
    "input token count",
    "number of tokens allowed",
)
"""How providers word that a conversation is too long; few of them have a code for it."""
_LONGEST_MESSAGE = 500


def status_error(
    status: int, headers: Mapping[str, str], body: object, model: str, redactor: Redactor
) -> JourneymanError:
    """The error of ours that says what an HTTP answer other than success means for a call of this model.

    The body may be bytes, text, or what was read from its JSON.
    """
    body = _read(body)
    said = _cut(f"{status}: {_message_in(body) or 'no message'}", redactor)
    words = " ".join(_strings_in(body)).lower()
    if status == 401 or _any_of(_BAD_KEY, words):
        return Unauthenticated(
            f"{model}: the provider refused the key ({said})", hint="Check the provider's API key."
        )
    if status == 402 or _says_quota(status, words, model):
        return QuotaExhausted(
            f"{model}: the account's quota is used up ({said})",
            hint="Top up the account or raise its limit at the provider, then retry the order.",
            retry_after=_reset(headers, body) or _retry_after(headers, body),
        )
    if status == 403:
        return NotAllowed(
            f"{model}: the provider does not allow this ({said})",
            hint="Check what the API key may use, or choose another model.",
        )
    if status == 429:
        return RateLimited(
            f"{model}: the provider asks to slow down ({said})",
            hint="Tried again after a while; fewer orders at once make it rarer.",
            retry_after=_retry_after(headers, body),
        )
    if status == 413 or (status in (400, 422) and _any_of(_OVERFLOW, words)):
        return ContextOverflow(
            f"{model}: the conversation no longer fits into the model ({said})",
            hint="Split the task, or choose a model with a larger context.",
        )
    if status == 404 or "model_not_found" in words:
        return InvalidInput(f"{model}: the provider has no such model ({said})", hint="See `jm models`.")
    if 400 <= status < 500 and status != 408:
        return refusal_error(said, model, redactor)
    return broken_call_error(said, model, redactor, retry_after=_retry_after(headers, body))


def refusal_error(said: str, model: str, redactor: Redactor) -> AgentFailed:
    """A request that the provider, or the library that speaks to it, will never accept as it is."""
    return AgentFailed(
        f"{model}: the provider refused the request ({_cut(said, redactor)})",
        hint="Another model may accept it; the message is the provider's.",
    )


def broken_call_error(
    said: str, model: str, redactor: Redactor, *, retry_after: float | None = None
) -> Transient:
    """A call that broke on the way."""
    return Transient(
        f"{model}: the call failed ({_cut(said, redactor)})",
        hint="Tried again after a while; if it stays, look at the provider's status page.",
        retry_after=retry_after,
    )


def cut_stream_error(model: str) -> Transient:
    """A stream that stopped without saying why it ended: half an answer, which is none."""
    return Transient(
        f"{model}: the stream ended before the answer was complete", hint="Tried again after a while."
    )


def _cut(said: str, redactor: Redactor) -> str:
    return redactor.redact(said)[:_LONGEST_MESSAGE]


def _read(body: object) -> object:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except ValueError:
        return body


def _message_in(body: object) -> str:
    """The innermost message: some servers wrap a provider's error into one of their own."""
    while isinstance(body, dict):
        inner = body.get("error")
        body = inner if isinstance(inner, dict) else body.get("message") or inner
    return body.strip() if isinstance(body, str) else ""


def _strings_in(body: Any) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict | list):
        for inner in body.values() if isinstance(body, dict) else body:
            yield from _strings_in(inner)


def _any_of(phrases: tuple[str, ...], words: str) -> bool:
    return any(phrase in words for phrase in phrases)


def _says_quota(status: int, words: str, model: str) -> bool:
    # Google words every rate limit as a quota, so there the word says nothing.
    if model.startswith("google/") or not 400 <= status < 500:
        return False
    return _any_of(_QUOTA, words) or (status == 429 and _any_of(_QUOTA_AFTER_429, words))


def _retry_after(headers: Mapping[str, str], body: object) -> float | None:
    """Seconds to wait, in whichever way the provider says it; None when it does not."""
    lower = {name.lower(): value for name, value in headers.items()}
    milliseconds = _seconds(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = lower.get("retry-after")
    seconds = _seconds(asked)
    if seconds is None and asked:
        seconds = _until(asked)
    return seconds if seconds is not None else _seconds(_retry_delay(body))


def _reset(headers: Mapping[str, str], body: Any) -> float | None:
    """Seconds until a quota is filled up again, for providers that say when."""
    error = body.get("error") if isinstance(body, dict) else None
    seconds = error.get("resets_in_seconds") if isinstance(error, dict) else None
    if isinstance(seconds, int | float):
        return float(seconds) if seconds > 0 else None
    lower = {name.lower(): value for name, value in headers.items()}
    moment = _seconds(lower.get("anthropic-ratelimit-unified-reset"))
    left = moment - datetime.now(UTC).timestamp() if moment else 0.0
    return left if left > 0 else None


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float((text or "").removesuffix("s"))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _retry_delay(body: Any) -> str | None:
    """Google says it in the body: `{"error": {"details": [{"retryDelay": "7s"}]}}`."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return str(detail["retryDelay"])
    return None
