"""What a provider's answer means, by status, headers and body alone."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

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
from journeyman.gateway.faults import status_error

SECRET = "sk-very-secret-key-of-a-test"


def error_for(
    status: int, body: object = None, headers: dict[str, str] | None = None, model: str = "openai/x"
) -> JourneymanError:
    return status_error(status, headers or {}, body, model, Redactor([SECRET]))


def error(message: str = "", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, error("no"), Unauthenticated),
        (400, error("no", code="invalid_api_key"), Unauthenticated),
        (400, error("no", details=[{"reason": "API_KEY_INVALID"}]), Unauthenticated),
        (402, error("pay"), QuotaExhausted),
        (429, error("x", code="insufficient_quota"), QuotaExhausted),
        (429, error("You exceeded your current quota"), QuotaExhausted),
        (400, error("Your credit balance is too low"), QuotaExhausted),
        (403, error("Your credit balance is too low"), QuotaExhausted),
        (403, error("not for you"), NotAllowed),
        (404, error("no such model"), InvalidInput),
        (400, error("x", code="model_not_found"), InvalidInput),
        (400, error("x", code="context_length_exceeded"), ContextOverflow),
        (400, error("This model's maximum context length is 10 tokens"), ContextOverflow),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum"), ContextOverflow),
        (400, error("The input token count (9) exceeds the maximum"), ContextOverflow),
        (413, error("too large"), ContextOverflow),
        (400, error("that makes no sense"), AgentFailed),
        (422, {"detail": [{"msg": "wrong"}]}, AgentFailed),
        (429, error("slow down"), RateLimited),
        (408, error("late"), Transient),
        (500, error("maximum context length"), Transient),
        (503, b"<html>", Transient),
        (529, b"", Transient),
        (307, None, Transient),
    ],
)
def test_an_answer_is_reported_as_the_error_it_is(
    status: int, body: object, expected: type[JourneymanError]
) -> None:
    found = error_for(status, body)
    assert type(found) is expected
    assert found.hint
    assert str(status) in found.message


def test_googles_rate_limits_are_not_taken_for_an_exhausted_account() -> None:
    body = error("Quota exceeded for requests per minute", details=[{"retryDelay": "7.5s"}])
    found = error_for(429, body, model="google/gemini")
    assert type(found) is RateLimited
    assert found.retry_after == 7.5


@pytest.mark.parametrize(
    "body",
    [
        error("the cause"),
        {"message": "the cause"},
        {"error": "the cause"},
        {"error": error("the cause")},
        "the cause",
        json.dumps(error("the cause")),
        json.dumps(error("the cause")).encode(),
    ],
)
def test_the_providers_own_words_are_passed_on(body: object) -> None:
    assert "(400: the cause)" in error_for(400, body).message


def test_a_key_that_is_repeated_is_not_and_long_words_are_cut() -> None:
    found = error_for(400, error(f"bad key {SECRET} {'x' * 10_000}"))
    assert SECRET not in found.message
    assert "bad key [redacted]" in found.message
    assert len(found.message) < 700


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_is_asked_for_is_read(
    status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert error_for(status, error("x"), headers).retry_after == seconds


def test_a_date_to_wait_for_becomes_seconds() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    waiting = error_for(429, error("x"), {"retry-after": date}).retry_after
    assert waiting is not None
    assert 3000 < waiting <= 3600
