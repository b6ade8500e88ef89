"""OpenAI's chat completions, spoken directly: whatever serves them can be used as `openai/…`.

A conversation is sent again with every call and only grows, so what was written of it once is kept: after
fifty turns writing it anew would take longer than everything else between two calls.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from weakref import finalize

from journeyman.access.redaction import Redactor
from journeyman.gateway.chat_frames import ChatAnswer, Frames
from journeyman.gateway.faults import told_break, told_cut, told_status
from journeyman.gateway.line import Connection, Line
from journeyman.gateway.messages import AssistantMessage, Message, ToolOffer, ToolResults, UserMessage
from journeyman.gateway.patience import Patience

_LAST_BYTES_SECONDS = 1.0
"""What follows the end of an answer is waited for, because only then the connection can be used again."""


class ChatModel:
    def __init__(self, name: str, model: str, line: Line, patience: Patience, redactor: Redactor) -> None:
        self._name = name
        self._model = model
        self._line = line
        self._patience = patience
        self._redactor = redactor
        self._written: dict[int, _Conversation] = {}

    async def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        body = self._conversation(messages[0]).request(self._model, messages, instructions, tools)
        answer, frames = ChatAnswer(), Frames()
        try:
            async with self._line.post(body) as connection:
                if connection.status != 200:
                    said = []
                    while chunk := await self._read(connection):
                        said.append(chunk)
                    raise told_status(
                        connection.status, connection.headers, b"".join(said), self._name, self._redactor
                    )
                while chunk := await self._read(connection):
                    # A chunk without any text is passed on too: it is a sign of life.
                    yield self._take(chunk, frames, answer)
                    if answer.is_done:
                        await _read_on(connection)
                        break
        except OSError as error:
            raise told_break(str(error) or type(error).__name__, self._name, self._redactor) from None
        message = answer.message()
        if message is None:
            raise told_cut(self._name)
        yield message

    async def _read(self, connection: Connection) -> bytes:
        chunk = await connection.read()
        if connection.size > self._patience.answer_bytes:
            raise self._patience.too_large(self._name)
        return chunk

    def _take(self, chunk: bytes, frames: Frames, answer: ChatAnswer) -> str:
        try:
            text = "".join(map(answer.take, frames.of(chunk)))
        except (ValueError, TypeError, AttributeError) as error:
            raise told_break(
                f"a frame of the stream cannot be read: {error}", self._name, self._redactor
            ) from None
        if answer.error is not None:
            raise told_status(answer.error_status, {}, answer.error, self._name, self._redactor)
        return text

    def _conversation(self, first: Message) -> "_Conversation":
        """What was written of the conversation that begins with this message, and is forgotten with it."""
        known = self._written.get(id(first))
        if known is None:
            known = self._written[id(first)] = _Conversation()
            finalize(first, self._written.pop, id(first), None).atexit = False
        return known


class _Conversation:
    """A conversation as JSON, each part of it written once."""

    def __init__(self) -> None:
        self._offered: tuple[str, Sequence[ToolOffer]] | None = None
        self._opening = b""
        self._after_first: list[Message] = []
        self._json = bytearray()

    def request(
        self, model: str, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> bytes:
        if self._offered is None or self._offered[0] != instructions or self._offered[1] is not tools:
            self._opening = _opening(model, instructions, tools)
            self._offered = (instructions, tools)
        return b"".join((self._opening, self._of(messages), b"]}"))

    def _of(self, messages: Sequence[Message]) -> bytearray:
        later = messages[1:]
        known = self._after_first
        if not self._json or len(later) < len(known) or any(map(_differ, known, later)):
            known.clear()
            self._json = bytearray(_written(messages[0]))
        for message in later[len(known) :]:
            self._json += b"," + _written(message)
            known.append(message)
        return self._json


def _opening(model: str, instructions: str, tools: Sequence[ToolOffer]) -> bytes:
    """A request up to where its messages go on."""
    head: dict[str, object] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    if tools:
        head["tools"] = [_tool(tool) for tool in tools]
    system = [{"role": "system", "content": instructions}] if instructions else []
    written = _dump({**head, "messages": system}).removesuffix(b"]}")
    return written + b"," if system else written


def _differ(one: Message, other: Message) -> bool:
    return one is not other


def _written(message: Message) -> bytes:
    """One of our messages as those of the wire, which has one for every result of a tool."""
    match message:
        case UserMessage(text):
            return _dump({"role": "user", "content": text})
        case ToolResults(results):
            return b",".join(
                _dump({"role": "tool", "tool_call_id": result.call_id, "content": result.output})
                for result in results
            )
        case AssistantMessage(text, calls):
            said: dict[str, object] = {"role": "assistant", "content": text or None}
            if calls:
                said["tool_calls"] = [
                    {
                        "id": call.call_id,
                        "type": "function",
                        "function": {"name": call.tool, "arguments": call.arguments},
                    }
                    for call in calls
                ]
            return _dump(said)


def _tool(tool: ToolOffer) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


async def _read_on(connection: Connection) -> None:
    try:
        async with asyncio.timeout(_LAST_BYTES_SECONDS):
            while await connection.read():
                pass
    except OSError:
        return  # the answer is whole; the connection is closed instead of kept
