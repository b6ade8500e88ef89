"""Middleware that checks the Host, the Origin and the size of every request.

There is no sign-in yet, so the attack to prevent is another site's page in the user's browser: DNS rebinding
is stopped by the Host check, cross-site requests by the Origin check.
"""

import asyncio
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.api.problems import problem
from journeyman.settings import Settings

MAX_BODY_BYTES = 1_048_576
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response, unless its handler sets them."""


class Guard:
    def __init__(self, app: ASGIApp, *, settings: Settings, isolation: str) -> None:
        self._app = app
        self._host = settings.host.lower()
        self._turn = asyncio.Lock()
        self._headers = dict(_HEADERS)
        if isolation == "none":
            self._headers["X-Journeyman-Isolation"] = "none"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None and scope["type"] == "http" and scope["method"] not in _READING:
            whole = await _read_whole(scope, receive)
            if whole is None:
                refusal = problem(
                    413,
                    f"the body has more than {MAX_BODY_BYTES:,} bytes",
                    hint="Put long material into a file of the repository and refer to it.",
                )
            else:
                receive = _replay(whole, receive)
                await self._take_turns()
        await (refusal or self._app)(scope, receive, self._with_headers(send))

    async def _take_turns(self) -> None:
        """Start one changing request per turn of the event loop, so that a burst of them does not delay those
        that only read."""
        async with self._turn:
            await asyncio.sleep(0)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return problem(
                403,
                f"this server does not answer to the name {host!r}",
                hint="Use its loopback address, for example http://127.0.0.1 with the server's port.",
                category="permission",
            )
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in _READING
        if changes and origin is not None and origin.lower() not in _origins_of(host):
            return problem(
                403,
                "a page of another site may not do this",
                hint="Call the API from a program, or from a page that this server served.",
                category="permission",
            )
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in ("localhost", self._host):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        return sending


def _origins_of(host: str) -> tuple[str, str]:
    return f"http://{host.lower()}", f"https://{host.lower()}"


async def _read_whole(scope: Scope, receive: Receive) -> Message | None:
    """The body as one message, or None as soon as it is known to be too long."""
    announced = Headers(scope=scope).get("content-length", "0")
    if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(body), "more_body": False}


def _replay(first: Message, receive: Receive) -> Receive:
    left = [first]

    async def replaying() -> Message:
        return left.pop() if left else await receive()

    return replaying
