"""A POST that carries an Idempotency-Key takes effect once, however often it is sent.

Only what took effect is remembered: a request that was refused changed nothing, so its key may be used
again. When the server was stopped in the middle of a request nobody knows whether it took effect; it is
not guessed, and the asker is told to look.
"""

import asyncio
import hashlib
import re
from weakref import WeakValueDictionary

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.access.store import Answer, AnsweredRequests, Earlier
from journeyman.api.problems import problem
from journeyman.database import Database

_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_OWN_RECORD = frozenset({"/api/agent-work-orders", "/submit"})
"""Calls that store the key with what they make: asked again after a crash, they find it."""
_UNKNOWN = 500
"""A fault of ours may have come before or after the effect."""


class Idempotency:
    def __init__(self, app: ASGIApp, *, database: Database) -> None:
        self._app = app
        self._requests = AnsweredRequests(database)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

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
            async with self._turns.setdefault(key, asyncio.Lock()):
                await self._once(key, scope, receive, send)

    async def _once(self, key: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive()  # the guard hands it on in one piece
        asked = b"\n".join((scope["path"].encode(), scope["query_string"], body.get("body", b"")))
        digest = hashlib.sha256(asked).hexdigest()
        earlier = await self._requests.begin(key, digest)
        again = earlier and _repeated(earlier, digest, scope["path"])
        if again:
            await again(scope, receive, send)
            return
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
            await self._requests.answered(key, Answer(status, content_type, body.decode()))
        elif status != _UNKNOWN:
            await self._requests.release(key)


def _repeated(earlier: Earlier, digest: str, path: str) -> Response | None:
    """What to answer when the key was used before; None when the request may be carried out again."""
    if earlier.request_digest != digest:
        return problem(
            409,
            "this Idempotency-Key was used before with another request",
            hint="Use a new key for a new request.",
            category="conflict",
        )
    if earlier.answer is not None:
        return Response(
            earlier.answer.body, earlier.answer.status, {"Content-Type": earlier.answer.content_type}
        )
    if path in _OWN_RECORD:
        return None
    return problem(
        409,
        "an earlier request with this Idempotency-Key has no answer: it is still being carried out, or the "
        "server was stopped in the middle of it",
        hint="Look at the order; if it did not take effect, ask again with a new key.",
        category="conflict",
    )
