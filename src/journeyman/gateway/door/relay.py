"""Relays one answer to the agent, chunk by chunk, and reads from it what it cost and how it ended.

Nothing is held back but the very end: a call is settled in the ledger before its answer is over for the
agent, so that the agent's next call is admitted against the right sum. A broken answer is never ended in
good order, or the agent would take half of it for the whole.
"""

import asyncio

from starlette.responses import Response
from starlette.types import Send

from journeyman.access.redaction import Redactor
from journeyman.gateway.door.calls import Call, OpenAnswer
from journeyman.gateway.faults import broken_call_error, cut_stream_error
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.wires.answers import AnswerReader
from journeyman.gateway.wires.base import AnswerState


class Relay:
    """An answer on its way. `state` is right at any moment, also when the answer breaks off."""

    def __init__(
        self, call: Call, answer: OpenAnswer, limits: CallLimits, redactor: Redactor, *, keep: bool
    ) -> None:
        self._call = call
        self._answer = answer
        self._limits = limits
        self._redactor = redactor
        self.kept = bytearray() if keep else None
        """Everything that passed, for a recording."""
        self._reader = AnswerReader(call.wire, is_stream=call.is_stream and call.as_events)

    @property
    def state(self) -> AnswerState:
        return self._reader.state

    async def run(self, send: Send) -> None:
        """Send everything but the end. Raises Transient when the answer broke off or does not stop."""
        headers = [(name.encode(), value.encode()) for name, value in self._answer.headers.items()]
        # A provider that repeats its key would do so in one piece; every byte is a character here.
        size, pieces = 0, self._redactor.in_pieces()
        try:
            async with asyncio.timeout(self._limits.call_seconds):
                while (chunk := await self._next()) is not None:
                    if not chunk:
                        continue
                    size += len(chunk)
                    if size > self._limits.answer_bytes:
                        raise self._limits.too_large(self._call.account.model)
                    if size == len(chunk):
                        await send({"type": "http.response.start", "status": 200, "headers": headers})
                    await self._forward(pieces.feed(chunk.decode("latin-1")), send)
                await self._forward(pieces.end(), send)
        except TimeoutError:
            raise self._limits.too_long(self._call.account.model) from None
        # The stream has ended, but only its last frames say whether the answer is complete. If it is not, no
        # `finish` follows: the agent's connection closes without an end, and its client knows that it broke.
        state = self._reader.end()
        if state.error:
            raise broken_call_error(state.error, self._call.account.model, self._redactor)
        if not state.is_complete:
            raise cut_stream_error(self._call.account.model)

    async def _forward(self, text: str, send: Send) -> None:
        if not text:
            return
        chunk = text.encode("latin-1")
        self._reader.feed(chunk)
        if self.kept is not None:
            self.kept += chunk
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _next(self) -> bytes | None:
        if not self._call.is_stream:
            return await anext(self._answer.body, None)
        try:
            async with asyncio.timeout(self._limits.idle_seconds):
                return await anext(self._answer.body, None)
        except TimeoutError:
            raise self._limits.too_silent(self._call.account.model) from None


async def finish(send: Send) -> None:
    """Tell the agent's client that the answer is over. Only a complete answer gets here."""
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def read_short(answer: OpenAnswer, limit: int) -> bytes:
    """The body of an answer that is short, or its beginning."""
    content = bytearray()
    async for chunk in answer.body:
        content += chunk
        if len(content) >= limit:
            break
    return bytes(content[:limit])


def whole_response(content: bytes, answer: OpenAnswer) -> Response:
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return Response(content, answer.status, headers)
