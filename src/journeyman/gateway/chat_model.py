"""A model behind OpenAI's chat completions: whatever server speaks them can be used as `openai/…`."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from weakref import finalize

from journeyman.access.redaction import Redactor
from journeyman.gateway.faults import broken_call_error, cut_stream_error, status_error
from journeyman.gateway.http_client import HttpClient, HttpResponse
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.messages import AssistantMessage, Message, ToolOffer
from journeyman.gateway.providers import ModelName
from journeyman.gateway.wires.chat.answers import ChatAnswer
from journeyman.gateway.wires.chat.requests import ConversationWriter
from journeyman.gateway.wires.events import EventSplitter

_LAST_BYTES_SECONDS = 1.0
"""What follows the end of an answer is waited for, because only then the connection can be used again."""


class ChatModel:
    def __init__(
        self,
        name: ModelName,
        url: str,
        headers: Mapping[str, str],
        http: HttpClient,
        limits: CallLimits,
        redactor: Redactor,
    ) -> None:
        self._name = str(name)
        self._model = name.model
        self._url = url
        self._headers = headers
        self._http = http
        self._limits = limits
        self._redactor = redactor
        self._conversations: dict[int, ConversationWriter] = {}

    async def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        body = self._conversation(messages[0]).request(self._model, messages, instructions, tools)
        answer, events = ChatAnswer(), EventSplitter()
        try:
            async with self._http.request("POST", self._url, self._headers, body) as response:
                if response.status != 200:
                    raise await self._refused(response)
                while chunk := await self._read(response):
                    # A chunk without any text is passed on too: it shows that the stream is alive.
                    yield self._take(chunk, events, answer)
                    if answer.is_done:
                        await _read_rest(response)
                        break
        except OSError as error:
            raise broken_call_error(str(error), self._name, self._redactor) from None
        # The connection may end in good order in the middle of an answer. What makes a stream complete is
        # the reason for its end, which the model gives last; without it there is no message.
        message = answer.message()
        if message is None:
            raise cut_stream_error(self._name)
        yield message

    async def _refused(self, response: HttpResponse) -> Exception:
        chunks = []
        while chunk := await self._read(response):
            chunks.append(chunk)
        return status_error(response.status, response.headers, b"".join(chunks), self._name, self._redactor)

    async def _read(self, response: HttpResponse) -> bytes:
        chunk = await response.read()
        if response.size > self._limits.answer_bytes:
            raise self._limits.too_large(self._name)
        return chunk

    def _take(self, chunk: bytes, events: EventSplitter, answer: ChatAnswer) -> str:
        try:
            text = "".join(map(answer.take, events.feed(chunk)))
        except (ValueError, TypeError, AttributeError) as error:
            raise broken_call_error(
                f"a frame of the stream cannot be read: {error}", self._name, self._redactor
            ) from None
        if answer.error is not None:
            raise status_error(answer.error_status, {}, answer.error, self._name, self._redactor)
        return text

    def _conversation(self, first: Message) -> ConversationWriter:
        """What was written of the conversation that begins with this message, and is forgotten with it."""
        known = self._conversations.get(id(first))
        if known is None:
            known = self._conversations[id(first)] = ConversationWriter()
            finalize(first, self._conversations.pop, id(first), None).atexit = False
        return known


async def _read_rest(response: HttpResponse) -> None:
    try:
        async with asyncio.timeout(_LAST_BYTES_SECONDS):
            while await response.read():
                pass
    except OSError:
        return  # the answer is whole; the connection is closed instead of kept
