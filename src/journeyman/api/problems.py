"""Errors become application/problem+json: what happened, what to do, and what kind of fault it is.

The unexpected is caught here and nowhere else in this room: it is logged in full and told without
internals.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman import telemetry
from journeyman.errors import (
    AgentFailed,
    BudgetExceeded,
    Category,
    Conflict,
    InvalidInput,
    JourneymanError,
    NotAllowed,
    NotFound,
    QuotaExhausted,
    RateLimited,
    SandboxLost,
    SandboxUnavailable,
    Transient,
    Unauthenticated,
    VerificationFailed,
)

_STATUS_OF: tuple[tuple[type[JourneymanError], int], ...] = (
    (NotFound, 404),
    (InvalidInput, 422),
    (Conflict, 409),
    (VerificationFailed, 409),
    (Unauthenticated, 401),
    (BudgetExceeded, 402),
    (QuotaExhausted, 402),
    (NotAllowed, 403),
    (RateLimited, 429),
    (Transient, 503),
    (SandboxUnavailable, 503),
    (SandboxLost, 503),
    (AgentFailed, 503),
)
"""The first class that fits decides; what fits none is a fault of ours."""

_HINTS = {
    404: "GET /openapi.json lists every call.",
    405: "GET /openapi.json lists every call and its method.",
}


def problem(
    status: int,
    detail: str,
    *,
    hint: str = "",
    category: Category = "invalid_input",
    kind: str = "",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    title = kind or HTTPStatus(status).phrase
    body = {
        "type": "urn:journeyman:problem:" + title.lower().replace(" ", "-"),
        "title": title,
        "status": status,
        "detail": detail,
        "hint": hint,
        "category": category,
        **more,
    }
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    app.add_exception_handler(JourneymanError, _known)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _by_framework)


def status_of(error: JourneymanError) -> int:
    return next((status for kind, status in _STATUS_OF if isinstance(error, kind)), 500)


async def _known(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, JourneymanError)
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).capitalize()
    wait = None if error.retry_after is None else {"Retry-After": str(max(1, round(error.retry_after)))}
    return problem(
        status_of(error), error.message, hint=error.hint, category=error.category, kind=kind, headers=wait
    )


async def _not_valid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [{"field": _field(one["loc"]), "message": one["msg"]} for one in error.errors()]
    if any(one["type"] == "json_invalid" for one in error.errors()):
        return problem(422, "the body is not valid JSON", hint="Send one JSON object.", kind="Invalid input")
    return problem(
        422,
        "; ".join(f"{one['field']}: {one['message']}" for one in found),
        hint="Correct the fields named here; GET /openapi.json describes them.",
        kind="Invalid input",
        errors=found,
    )


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location[1:])) or str(location[0])


async def _by_framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code in _HINTS:
        detail = f"there is no {request.method} {request.url.path}"
    return problem(error.status_code, detail, hint=_HINTS.get(error.status_code, ""), headers=error.headers)


class Unexpected:
    """Around every handler: whatever nobody foresaw is logged, and answered where that is still possible."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watch(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception:
            telemetry.logger().exception("unexpected_error", path=scope.get("path"))
            if begun or scope["type"] != "http":
                raise
            answer = problem(
                500,
                "something went wrong inside the server",
                hint="Try again; the server's log tells more.",
                category="internal",
            )
            await answer(scope, receive, send)
