"""The scripted model behind the door: a script's replies in whichever wire format an agent speaks.

An agent asks for more than the work: titles, summaries, whether it may go on. Those requests offer no
tools, and get a plain sentence instead of the script's next reply.
"""

import json
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from journeyman.access.redaction import Redactor
from journeyman.errors import Transient
from journeyman.gateway.accounts import Account
from journeyman.gateway.budget import CHARACTERS_PER_TOKEN, characters_in
from journeyman.gateway.door.calls import Call, OpenAnswer
from journeyman.gateway.door.requests import Asked, read_request
from journeyman.gateway.door.tools import in_words_of
from journeyman.gateway.messages import AssistantMessage, Tokens, ToolCall, ToolOffer
from journeyman.gateway.recording import script_named
from journeyman.gateway.scripted import ScriptedModel
from journeyman.gateway.wires.base import AnswerWriter
from journeyman.gateway.wires.formats import FORMATS
from journeyman.settings import Settings

_ASIDE = "As the script says"
_JSON = {"content-type": "application/json"}


class ScriptedAnswers:
    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._broken: Counter[tuple[Account, Asked]] = Counter()
        """Calls that met a fault of the script: the same call made again is its next attempt."""

    @asynccontextmanager
    async def answer(self, call: Call) -> AsyncIterator[OpenAnswer]:
        asked = read_request(call.wire, call.body)
        if call.operation == "count":
            yield OpenAnswer(200, _JSON, _whole(_counted(call)))
            return
        model = call.account.model.partition("/")[2]
        writer = FORMATS[call.wire].writer(model, secrets.token_hex(8), as_events=call.as_events)
        async with aclosing(self._pieces(model, call.account, asked)) as pieces:
            # A fault that comes before the first text is a refusal; after it, a stream that breaks off.
            first = await anext(pieces)
            if call.is_stream:
                headers = {"content-type": writer.content_type}
                yield OpenAnswer(200, headers, _streamed(writer, first, pieces))
            else:
                message = [piece async for piece in pieces][-1] if isinstance(first, str) else first
                assert isinstance(message, AssistantMessage)
                yield OpenAnswer(200, _JSON, _whole(writer.whole(message)))

    def forget(self, account: Account) -> None:
        """Drop what is remembered of an account that makes no more calls."""
        for key in [key for key in self._broken if key[0] == account]:
            del self._broken[key]

    async def _pieces(
        self, model: str, account: Account, asked: Asked
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        if not asked.offers:
            yield AssistantMessage(
                _ASIDE, tokens=Tokens(int(characters_in(asked.messages) / CHARACTERS_PER_TOKEN), 4)
            )
            return
        key = (account, replace(asked, offers=()))
        playing = ScriptedModel(
            account.model,
            script_named(model, self._settings),
            self._redactor,
            role=account.role,
            attempt=self._broken[key] + 1,
        )
        # Counted as broken until it is complete: a call that stalls is cancelled while it waits.
        self._broken[key] += 1
        async with aclosing(playing.stream(asked.messages, "", asked.offers)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    yield piece
                else:
                    del self._broken[key]
                    yield _in_words_of(asked.offers, piece)


def _in_words_of(offers: tuple[ToolOffer, ...], message: AssistantMessage) -> AssistantMessage:
    """The answer with the calls that an agent can run; a result that none of its tools takes is said."""
    calls: list[ToolCall] = []
    text = message.text
    for call in message.calls:
        if call.tool == "deliver" and all(offer.name != "deliver" for offer in offers):
            text += f"\n\n```json\n{json.dumps(json.loads(call.arguments), indent=2)}\n```"
        else:
            unique = replace(call, call_id=f"call_{secrets.token_hex(6)}")
            calls.append(in_words_of(offers, unique))
    finish = "stop" if message.finish == "tool_calls" and not calls else message.finish
    return replace(message, text=text, calls=tuple(calls), finish=finish)


async def _streamed(
    writer: AnswerWriter, first: str | AssistantMessage, pieces: AsyncGenerator[str | AssistantMessage, None]
) -> AsyncGenerator[bytes, None]:
    yield writer.begin()
    said = ""
    piece: str | AssistantMessage | None = first
    while isinstance(piece, str):
        if piece:
            said += piece
            yield writer.text(piece)
        piece = await anext(pieces, None)
    if piece is None:
        raise Transient("the scripted model ended without an answer")
    if rest := piece.text[len(said) :]:
        yield writer.text(rest)
    yield writer.end(piece)


async def _whole(value: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    yield json.dumps(value).encode()


def _counted(call: Call) -> dict[str, Any]:
    tokens = int(len(json.dumps(call.body)) / CHARACTERS_PER_TOKEN)
    return {"totalTokens": tokens} if call.wire == "generate" else {"input_tokens": tokens}
