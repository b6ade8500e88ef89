"""Carries one answer from whoever gives it to the agent, piece by piece, and knows afterwards what it was.

Nothing is held back but the very end: an answer is counted before it is over for the agent, so that the
sum stands when its next call comes. Half an answer is never ended in good order, or the agent would take
it for a whole one.
"""

import asyncio

from starlette.responses import Response
from starlette.types import Send

from journeyman.access.redaction import Redactor
from journeyman.gateway.door.calls import Call, Opened
from journeyman.gateway.door.readers import Reader, Seen
from journeyman.gateway.faults import told_break, told_cut
from journeyman.gateway.patience import Patience


class Carried:
    """An answer on its way. `seen` is right at any moment, also when the way ends early."""

    def __init__(
        self, call: Call, opened: Opened, patience: Patience, redactor: Redactor, *, keep: bool
    ) -> None:
        self._call = call
        self._opened = opened
        self._patience = patience
        self._redactor = redactor
        self.kept = bytearray() if keep else None
        """Everything that passed, for whoever asked for it."""
        self._reader = Reader(call.wire, is_stream=call.is_stream and call.as_events)

    @property
    def seen(self) -> Seen:
        return self._reader.seen

    async def carry(self, send: Send) -> None:
        """Send everything but the end. Raises Transient when the answer broke off or does not stop."""
        headers = [(name.encode(), value.encode()) for name, value in self._opened.headers.items()]
        # A provider that repeats its key would do so in one piece; every byte is a character here.
        size, pieces = 0, self._redactor.in_pieces()
        try:
            async with asyncio.timeout(self._patience.call_seconds):
                while (chunk := await self._next()) is not None:
                    if not chunk:
                        continue
                    size += len(chunk)
                    if size > self._patience.answer_bytes:
                        raise self._patience.too_large(self._call.account.model)
                    if size == len(chunk):
                        await send({"type": "http.response.start", "status": 200, "headers": headers})
                    await self._pass_on(pieces.feed(chunk.decode("latin-1")), send)
                await self._pass_on(pieces.end(), send)
        except TimeoutError:
            raise self._patience.too_long(self._call.account.model) from None
        seen = self._reader.end()
        if seen.fault:
            raise told_break(seen.fault, self._call.account.model, self._redactor)
        if not seen.is_whole:
            raise told_cut(self._call.account.model)

    async def _pass_on(self, text: str, send: Send) -> None:
        if not text:
            return
        chunk = text.encode("latin-1")
        self._reader.feed(chunk)
        if self.kept is not None:
            self.kept += chunk
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _next(self) -> bytes | None:
        if not self._call.is_stream:
            return await anext(self._opened.body, None)
        try:
            async with asyncio.timeout(self._patience.idle_seconds):
                return await anext(self._opened.body, None)
        except TimeoutError:
            raise self._patience.too_silent(self._call.account.model) from None


async def finish(send: Send) -> None:
    """Let the agent have the end."""
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def collected(opened: Opened, limit: int) -> bytes:
    """The body of an answer that is short, or its beginning."""
    gathered = bytearray()
    async for chunk in opened.body:
        gathered += chunk
        if len(gathered) >= limit:
            break
    return bytes(gathered[:limit])


def told(content: bytes, status: int, opened: Opened) -> Response:
    headers = {name: value for name, value in opened.headers.items() if name != "content-length"}
    return Response(content, status, headers)
