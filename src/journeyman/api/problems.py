"""Errors become application/problem+json: what happened, what to do, and what kind of fault it is.

The unexpected is caught here and nowhere else in this room: it is logged in full, and the response holds no
internals.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
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
    ApprovalNeeded,
    BudgetExceeded,
    Category,
    Conflict,
    EnvironmentIncomplete,
    InvalidEnvironment,
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
)

_STATUS_OF: tuple[tuple[type[JourneymanError], int], ...] = (
    (NotFound, 404),
    (InvalidInput, 422),
    (Conflict, 409),
    (EnvironmentIncomplete, 409),
    (ApprovalNeeded, 409),
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

PROBLEM_TYPE = "application/problem+json"
_HINTS = {
    404: "GET /openapi.json lists every call.",
    405: "GET /openapi.json lists every call and its method.",
}
_RETRY_AFTER_SECONDS = 10.0
"""The Retry-After of a transient error that does not say when to try again."""


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
    return JSONResponse(body, status, headers, media_type=PROBLEM_TYPE)


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(JourneymanError, _known)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _by_framework)


def status_of(error: JourneymanError) -> int:
    return next((status for kind, status in _STATUS_OF if isinstance(error, kind)), 500)


async def _known(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, JourneymanError)
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).capitalize()
    wait = error.retry_after or (_RETRY_AFTER_SECONDS if isinstance(error, Transient) else None)
    headers = None if wait is None else {"Retry-After": str(max(1, round(wait)))}
    more = {"errors": [asdict(one) for one in error.errors]} if isinstance(error, InvalidEnvironment) else {}
    return problem(
        status_of(error),
        error.message,
        hint=error.hint,
        category=error.category,
        kind=kind,
        headers=headers,
        **more,
    )


async def _not_valid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [{"field": _field(one["loc"]), "message": one["msg"]} for one in error.errors()]
    if any(one["type"] == "json_invalid" for one in error.errors()):
        return _not_json()
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
    if error.status_code == HTTPStatus.BAD_REQUEST:  # its only cause: a body that could not be parsed
        return _not_json()
    detail, headers = error.detail, error.headers
    if error.status_code in _HINTS:
        detail = f"there is no {request.method} {request.url.path}"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # The framework knows only the first of several routes with this path.
        methods = request.app.methods_of(request.url.path)
        headers = {"Allow": ", ".join(methods)} if methods else headers
    return problem(error.status_code, detail, hint=_HINTS.get(error.status_code, ""), headers=headers)


def _not_json() -> JSONResponse:
    return problem(
        422, "the body is not valid JSON", hint="Send one JSON object in UTF-8.", kind="Invalid input"
    )


class Unexpected:
    """Middleware: logs an unexpected error, and answers with a problem unless the response has begun."""

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
                hint="Try again. The server's log has the details.",
                category="internal",
            )
            await answer(scope, receive, send)
