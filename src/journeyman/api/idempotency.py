"""Idempotency keys: a POST that carries one takes effect once, however often it is sent.

Everything about them is decided here, for every call in the same way. Only what took effect is remembered:
a request that was refused changed nothing, so its key may be used again. When the server was stopped in the
middle of a request it is unknown whether it took effect. A request that creates an order finds it by the id
that was reserved with the key; any other is not carried out a second time, and the client is advised to look.
"""

import asyncio
import hashlib
import re
from dataclasses import dataclass
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.access.store import AnsweredRequests, Earlier, StoredResponse
from journeyman.api.problems import problem
from journeyman.database import Database
from journeyman.work_orders.order import new_order_id

_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_CREATES_ORDER = re.compile(
    r"/api/agent-work-orders|/submit|/api/repositories/rp-[0-9a-z]{8}/environment/check"
)
"""Calls that create an order with the reserved id: sent again after a crash, they find it."""
_UNKNOWN = 500
"""An unexpected error may have come before or after the effect."""
_LOCAL_ACTOR = "local"
"""Who asks while there is no sign-in."""
_RESERVED_ID = "reserved_id"


@dataclass(frozen=True)
class RequestKey:
    """An idempotency key and whose it is: keys of different actors never meet."""

    actor: str
    key: str

    @property
    def stored(self) -> str:
        # The local actor's is the bare key, as in rows of earlier versions; a bare key holds no blank.
        if self.actor == _LOCAL_ACTOR:
            return self.key
        return f"{self.actor} {hashlib.sha256(self.key.encode()).hexdigest()}"


async def _reserved_id(request: Request) -> str | None:
    reserved: str | None = getattr(request.state, _RESERVED_ID, None)
    return reserved


ReservedId = Annotated[str | None, Depends(_reserved_id)]
"""The id for what a request with a key creates, the same whenever it is sent; None without a key."""


class Idempotency:
    def __init__(self, app: ASGIApp, *, database: Database) -> None:
        self._app = app
        self._requests = AnsweredRequests(database)
        self._locks: WeakValueDictionary[RequestKey, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get("idempotency-key") if scope["type"] == "http" else None
        if key is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
        elif not _KEY.fullmatch(key):
            refusal = problem(
                422,
                "the Idempotency-Key cannot be used",
                hint="Send 1 to 255 visible ASCII characters, such as a UUID.",
            )
            await refusal(scope, receive, send)
        else:
            request_key = RequestKey(_LOCAL_ACTOR, key)
            async with self._locks.setdefault(request_key, asyncio.Lock()):
                await self._once(request_key.stored, scope, receive, send)

    async def _once(self, key: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive()  # the guard hands it on in one piece
        digest = _digest(scope, body)
        reserved_id = new_order_id()
        earlier = await self._requests.begin(key, digest, reserved_id)
        if earlier is not None:
            repeated = _response_to_repeat(earlier, digest, scope["path"])
            if repeated is not None:
                await repeated(scope, receive, send)
                return
            reserved_id = earlier.reserved_id or reserved_id
        scope.setdefault("state", {})[_RESERVED_ID] = reserved_id
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        async def replay() -> Message:
            nonlocal body
            given, body = body, {"type": "http.disconnect"}
            return dict(given)

        await self._app(scope, replay, keep)
        await self._remember(key, messages)
        for message in messages:
            await send(message)

    async def _remember(self, key: str, messages: list[Message]) -> None:
        status: int = messages[0]["status"]
        if 200 <= status < 300:
            body = b"".join(message.get("body", b"") for message in messages)
            content_type = Headers(raw=messages[0]["headers"]).get("content-type", "application/json")
            await self._requests.finish(key, StoredResponse(status, content_type, body.decode()))
        elif status != _UNKNOWN:
            await self._requests.release(key)


def _digest(scope: Scope, body: Message) -> str:
    asked = b"\n".join((scope["path"].encode(), scope["query_string"], body.get("body", b"")))
    return hashlib.sha256(asked).hexdigest()


def _response_to_repeat(earlier: Earlier, digest: str, path: str) -> Response | None:
    """The response when the key was used before; None when the request may be carried out again."""
    if earlier.request_digest != digest:
        return problem(
            409,
            "this Idempotency-Key was used before with another request",
            hint="Use a new key for a new request.",
            category="conflict",
        )
    stored = earlier.response
    if stored is not None:
        return Response(stored.body, stored.status, {"Content-Type": stored.content_type})
    if _CREATES_ORDER.fullmatch(path) and earlier.reserved_id is not None:
        return None
    return problem(
        409,
        "an earlier request with this Idempotency-Key has no answer: it is still being carried out, or the "
        "server was stopped in the middle of it",
        hint="Look at the order; if it did not take effect, ask again with a new key.",
        category="conflict",
    )
