"""The gateway's HTTP door: agents that bring their own client call their model here, and nowhere else.

A token is an account's for as long as its turn lasts. Tokens are kept in memory alone, so a restart voids
all of them; the keys of providers are added on this side, and no agent ever sees one.
"""

import asyncio
import contextlib
import json
import secrets
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.access.redaction import Redactor
from journeyman.errors import (
    BudgetExceeded,
    InvalidInput,
    JourneymanError,
    RateLimited,
    Transient,
)
from journeyman.gateway.accounts import Account, CallRecord
from journeyman.gateway.door.assemble import assemble
from journeyman.gateway.door.calls import Answerer, Call, OpenAnswer, Operation
from journeyman.gateway.door.forward import Forwarder
from journeyman.gateway.door.relay import Relay, finish, read_short, whole_response
from journeyman.gateway.door.requests import allowed_request, read_request
from journeyman.gateway.door.scripted import ScriptedAnswers
from journeyman.gateway.door.socket import serve_on_socket
from journeyman.gateway.faults import status_error
from journeyman.gateway.ledger import Ledger
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.providers import parse_model_name
from journeyman.gateway.recording import Recorder
from journeyman.gateway.wires.base import Wire
from journeyman.gateway.wires.formats import error_body
from journeyman.settings import Settings

_LARGEST_REQUEST_BYTES = 32_000_000
_MOST_REQUESTS_READ = 4
"""Of one agent at once: each takes several times its size while it is read."""
_LARGEST_REFUSAL_BYTES = 64_000
_STATUSES: dict[type[JourneymanError], int] = {RateLimited: 429, Transient: 502, BudgetExceeded: 402}
"""Everything else is a 400: agents try most other statuses again, which could not help."""


@dataclass
class _Admission:
    account: Account
    calls: set[asyncio.Task[None]] = field(default_factory=set)
    reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MOST_REQUESTS_READ))
    _fault: JourneymanError | None = None

    @property
    def fault(self) -> JourneymanError | None:
        return self._fault

    @fault.setter
    def fault(self, error: JourneymanError | None) -> None:
        self._fault = error
        if error is not None:
            self.account.on_fault(error)


class Door:
    """Open it once; then `admit` an account for each turn of an agent, and `dismiss` it afterwards."""

    def __init__(self, settings: Settings, ledger: Ledger, *, limits: CallLimits | None = None) -> None:
        self._settings = settings
        self._ledger = ledger
        self._redactor = Redactor(settings.secrets())
        self._recorder = Recorder(settings, self._redactor)
        self._limits = limits or CallLimits(settings.model_idle_timeout_seconds)
        self._admitted: dict[str, _Admission] = {}
        self._scripted = ScriptedAnswers(settings, self._redactor)
        self._forwarder = Forwarder(settings, self._redactor)
        self._open = AsyncExitStack()
        self._path: Path | None = None

    @property
    def path(self) -> Path:
        """The socket on this machine. Speak HTTP to it, with any host name."""
        assert self._path is not None, "open() comes first"
        return self._path

    async def open(self) -> None:
        self._open.push_async_callback(self._forwarder.close)
        self._path = await self._open.enter_async_context(serve_on_socket(self._app(), self._settings.home))

    async def close(self) -> None:
        for token in list(self._admitted):
            self.dismiss(token)
        await self._open.aclose()

    def admit(self, account: Account, token: str = "") -> str:
        """A token that calls the account's model until it is dismissed. One that was dismissed may be
        admitted again: a program that outlives a turn cannot be given another."""
        token = token or f"jm-{secrets.token_urlsafe(32)}"
        self._admitted[token] = _Admission(account)
        return token

    def dismiss(self, token: str) -> None:
        """Void a token and break off what it still calls. Safe to call twice."""
        admission = self._admitted.pop(token, None)
        if admission is not None:
            self._scripted.forget(admission.account)
            for call in admission.calls:
                call.cancel()

    def fault(self, token: str) -> JourneymanError | None:
        """Why the token's last call was not answered: what an agent that failed should be said to fail of."""
        admission = self._admitted.get(token)
        return admission.fault if admission else None

    def _app(self) -> ASGIApp:
        def route(path: str, wire: Wire, operation: Operation = "answer") -> Route:
            async def endpoint(request: Request) -> Response:
                return await self._asked(request, wire, operation)

            return Route(path, endpoint, methods=["POST"])

        return Starlette(
            routes=[
                route("/v1/chat/completions", "chat"),
                route("/v1/responses", "responses"),
                route("/v1/messages", "messages"),
                route("/v1/messages/count_tokens", "messages", "count"),
                Route("/v1beta/models/{act:path}", self._asked_google, methods=["POST"]),
                Route("/v1/models", self._models, methods=["GET"]),
                Route("/v1beta/models", self._google_models, methods=["GET"]),
            ]
        )

    async def _asked_google(self, request: Request) -> Response:
        act = request.path_params["act"].rpartition(":")[2]
        if act == "countTokens":
            return await self._asked(request, "generate", "count")
        if act not in ("generateContent", "streamGenerateContent"):
            return JSONResponse(error_body("generate", 404, f"there is no {act} here"), 404)
        return await self._asked(request, "generate", "answer", is_stream=act == "streamGenerateContent")

    async def _asked(
        self, request: Request, wire: Wire, operation: Operation, *, is_stream: bool | None = None
    ) -> Response:
        admission = self._admitted.get(_token_of(request))
        if admission is None:
            return _unknown(wire)
        try:
            async with admission.reading:
                body, size = await _body_of(request)
                asked = allowed_request(wire, body, size)
        except InvalidInput as error:
            admission.fault = error
            return _refused(wire, error)
        streamed = asked.body.get("stream") is True if is_stream is None else is_stream
        call = Call(
            account=admission.account,
            wire=wire,
            operation=operation,
            is_stream=streamed and operation == "answer",
            asked=asked,
            headers=dict(request.headers),
            as_events=wire != "generate" or request.query_params.get("alt") == "sse",
        )
        return _Answered(self, admission, call)

    async def _models(self, request: Request) -> Response:
        admission = self._admitted.get(_token_of(request))
        if admission is None:
            return _unknown("messages" if "x-api-key" in request.headers else "chat")
        model = parse_model_name(admission.account.model)
        # OpenAI's and Anthropic's lists have the same shape; each client finds its own fields.
        entry = {"id": model.model, "object": "model", "created": 0, "owned_by": model.provider}
        entry |= {"type": "model", "display_name": model.model, "created_at": "2020-01-01T00:00:00Z"}
        listed = {"data": [entry], "has_more": False, "first_id": model.model, "last_id": model.model}
        return JSONResponse({"object": "list", **listed})

    async def _google_models(self, request: Request) -> Response:
        admission = self._admitted.get(_token_of(request))
        if admission is None:
            return _unknown("generate")
        name = parse_model_name(admission.account.model).model
        methods = ["generateContent", "streamGenerateContent", "countTokens"]
        entry = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
        return JSONResponse({"models": [entry]})

    async def answer(self, admission: _Admission, call: Call, send: Send) -> None:
        """Answer one call to its end. What breaks off is left without one."""
        begun = _Begun(send)
        try:
            if call.operation == "count":
                async with self._answerer(call).answer(call) as opened:
                    await self._refuse(admission, call, opened, begun.send)
            else:
                await self._spend(admission, call, begun.send)
        except JourneymanError as error:
            admission.fault = error
            if not begun.has_begun:
                await _send(_refused(call.wire, error), send)

    async def _spend(self, admission: _Admission, call: Call, send: Send) -> None:
        started = time.perf_counter()
        spending = self._ledger.call(
            call.account,
            characters=call.asked.characters,
            most_input_tokens=call.asked.most_input_tokens,
            most_output_tokens=call.asked.most_output_tokens,
        )
        async with spending as entry, self._answerer(call).answer(call) as opened:
            if opened.status != 200:
                await self._refuse(admission, call, opened, send)
                return
            # From here on the call may have to be paid for. If it breaks off, the ledger closes it with the
            # tokens that were counted until then, or with its estimate.
            entry.has_begun = True
            relay = Relay(call, opened, self._limits, self._redactor, keep=self._recorder.is_on)
            try:
                await relay.run(send)
            finally:
                entry.tokens = relay.state.tokens
            usage = await entry.settle(relay.state.tokens)
            seconds = time.perf_counter() - started
            record = CallRecord(
                model=call.account.model,
                usage=usage,
                duration_seconds=seconds,
                finish=relay.state.finish,
                notice=relay.state.notice,
            )
            await call.account.on_call(record)
            await self._keep(call, relay)
        # Settled before the agent sees the end: its next call must find the sum in the ledger.
        admission.fault = None
        await finish(send)

    async def _keep(self, call: Call, relay: Relay) -> None:
        if relay.kept is not None:
            is_stream = call.is_stream and call.as_events
            answer = assemble(call.wire, bytes(relay.kept), is_stream=is_stream)
            asked = read_request(call.wire, call.body)
            await self._recorder.keep(call.account, asked.messages, call.body, answer)

    async def _refuse(self, admission: _Admission, call: Call, opened: OpenAnswer, send: Send) -> None:
        """Pass on an answer that is none, and remember what it means."""
        content = await read_short(opened, _LARGEST_REFUSAL_BYTES)
        if opened.status != 200:
            model, redactor = call.account.model, self._redactor
            admission.fault = status_error(opened.status, opened.headers, content, model, redactor)
        clean = self._redactor.redact(content.decode("utf-8", "replace")).encode()
        await _send(whole_response(clean, opened), send)

    def _answerer(self, call: Call) -> Answerer:
        if parse_model_name(call.account.model).provider == "scripted":
            return self._scripted
        return self._forwarder


class _Begun:
    """Knows whether anything was sent: after that, no error can be sent any more."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


class _Answered(Response):
    """Answers for as long as the agent listens."""

    def __init__(self, door: Door, admission: _Admission, call: Call) -> None:
        self._door = door
        self._admission = admission
        self._call = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = asyncio.create_task(self._door.answer(self._admission, self._call, send))
        leaving = asyncio.create_task(_left(receive))
        self._admission.calls.add(answering)
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._admission.calls.discard(answering)
            for task in (answering, leaving):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await leaving
            with contextlib.suppress(asyncio.CancelledError):
                await answering


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(response: Response, send: Send) -> None:
    await send(
        {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
    )
    await send({"type": "http.response.body", "body": response.body, "more_body": False})


def _refused(wire: Wire, error: JourneymanError) -> Response:
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 400)
    message = f"{error.message}. {error.hint}".removesuffix(" ")
    headers = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
    headers |= {} if error.retryable else {"x-should-retry": "false"}
    return JSONResponse(error_body(wire, status, message, code=error.category), status, headers)


def _unknown(wire: Wire) -> Response:
    message = "this token opens nothing: it is unknown, or the turn it was made for is over"
    return JSONResponse(error_body(wire, 401, message), 401)


def _token_of(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token
    for name in ("x-api-key", "x-goog-api-key"):
        if name in request.headers:
            return request.headers[name]
    return request.query_params.get("key", "")


async def _body_of(request: Request) -> tuple[dict[str, Any], int]:
    """What is asked, and in how many bytes."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _LARGEST_REQUEST_BYTES:
            raise InvalidInput(
                f"the request has more than {_LARGEST_REQUEST_BYTES:,} bytes", hint="Send less at once."
            )
    try:
        body = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the request is not valid JSON: {error}", hint="Correct it.") from None
    if not isinstance(body, dict):
        raise InvalidInput("the request must be a JSON object", hint="Correct it.")
    return body, len(content)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
