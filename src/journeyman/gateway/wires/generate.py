"""Google's generateContent, which Gemini CLI speaks.

Its stream is one of events, or one long list where a client does not ask for events. The fields that are
written were found by running the client: they are the least that it accepts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from journeyman.gateway.messages import AssistantMessage, Finish, Message, Tokens, ToolOffer, UserMessage
from journeyman.gateway.wires.base import AnswerState, Piece, WireFormat
from journeyman.gateway.wires.events import write_event
from journeyman.gateway.wires.rules import (
    ADDRESS,
    MANY,
    PRICE,
    STATE,
    Inline,
    Rule,
    document,
    fields,
    image,
    limit,
    list_of,
    never,
    only,
    passes,
    refused,
    text_or,
    whole,
)
from journeyman.gateway.wires.values import (
    arguments_of,
    count_in,
    dict_at,
    dicts_in,
    text_in,
    tool_offers,
    tool_result,
    with_error,
)


def _parts(value: Any, where: str, inline: Inline) -> Any:
    return list_of(_PART)(value, where, inline)


def _inline_data(value: Any, where: str, inline: Inline) -> Any:
    kind = str(value.get("mimeType", "")) if isinstance(value, Mapping) else ""
    if kind.startswith(("audio/", "video/")):
        raise refused(where, PRICE)
    data = image if kind.startswith("image/") else document
    return fields(mimeType=passes, data=data, displayName=passes)(value, where, inline)


_PART = fields(
    text=passes,
    thought=passes,
    thoughtSignature=passes,
    functionCall=passes,
    functionResponse=fields(
        id=passes,
        name=passes,
        response=passes,
        parts=_parts,
        willContinue=passes,
        scheduling=passes,
    ),
    inlineData=_inline_data,
    mediaResolution=passes,
    fileData=never(ADDRESS),
)
_CONTENT = fields(role=passes, parts=_parts)


def _declarations(value: Any, where: str, inline: Inline) -> Any:
    declared = value.get("functionDeclarations") if isinstance(value, Mapping) else None
    return {"functionDeclarations": declared} if declared else None


REQUEST_RULES: dict[str, Rule] = {
    "contents": list_of(_CONTENT),
    "systemInstruction": text_or(_CONTENT),
    "tools": list_of(_declarations),
    "toolConfig": passes,
    "safetySettings": passes,
    "labels": passes,
    "cachedContent": never(STATE),
    "generationConfig": fields(
        temperature=passes,
        topP=passes,
        topK=passes,
        candidateCount=only(1, reason=MANY),
        maxOutputTokens=limit,
        stopSequences=passes,
        responseMimeType=passes,
        responseSchema=passes,
        responseJsonSchema=passes,
        responseModalities=only(["TEXT"], reason=PRICE),
        thinkingConfig=fields(includeThoughts=passes, thinkingBudget=whole, thinkingLevel=passes),
        seed=passes,
        presencePenalty=passes,
        frequencyPenalty=passes,
        responseLogprobs=passes,
        logprobs=passes,
        mediaResolution=passes,
    ),
}


def output_limit(request: dict[str, Any]) -> int | None:
    chosen = request.get("generationConfig", {})
    most, thoughts = chosen.get("maxOutputTokens"), chosen.get("thinkingConfig", {}).get("thinkingBudget")
    return None if most is None else max(most, thoughts or 0)


def read_messages(body: dict[str, Any]) -> Iterable[Message]:
    for content in dicts_in(body.get("contents")):
        parts = list(dicts_in(content.get("parts")))
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content.get("role") == "model":
            yield AssistantMessage(text_in(parts))
        elif results:
            for result in dicts_in(results):
                yield tool_result(result.get("id"), text_in(result.get("response")))
        else:
            yield UserMessage(text_in(parts))


def read_tools(body: dict[str, Any]) -> Iterable[ToolOffer]:
    for tool in dicts_in(body.get("tools")):
        for declared in dicts_in(tool.get("functionDeclarations")):
            schema = "parametersJsonSchema" if "parametersJsonSchema" in declared else "parameters"
            yield from tool_offers(declared, schema)


def read_frame(state: AnswerState, frame: dict[str, Any]) -> AnswerState:
    usage = frame.get("usageMetadata")
    if isinstance(usage, dict):
        state = replace(state, tokens=_tokens(usage))
    candidates = frame.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    reason = first.get("finishReason") if isinstance(first, dict) else None
    if dict_at(frame, "promptFeedback").get("blockReason"):
        state = replace(state, finish="refusal", is_complete=True)
    if reason:
        words: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length"}
        state = replace(state, finish=words.get(str(reason), "refusal"), is_complete=True)
    return with_error(state, frame)


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    read = [count_in(usage.get(name, 0)) for name in ("promptTokenCount", "toolUsePromptTokenCount")]
    written = [count_in(usage.get(name, 0)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    cached = count_in(usage.get("cachedContentTokenCount", 0))
    if None in (*read, *written, cached) or "promptTokenCount" not in usage:
        return None
    return Tokens(sum(filter(None, read)), sum(filter(None, written)), cached or 0)


def pieces(frame: dict[str, Any]) -> Iterator[Piece]:
    for candidate in frame.get("candidates") or ():
        for part in (candidate.get("content") or {}).get("parts") or ():
            call = part.get("functionCall")
            if call:
                # A call comes whole, and there may be several of the same tool.
                yield Piece(json.dumps(call.get("args") or {}), object(), call.get("name") or "")
            elif part.get("text") and not part.get("thought"):
                yield Piece(part["text"])


class GenerateWriter:
    def __init__(self, model: str, answer_id: str, *, as_events: bool) -> None:
        self.content_type = "text/event-stream" if as_events else "application/json"
        self._model = model
        self._id = answer_id
        self._as_events = as_events
        self._is_first = True

    def begin(self) -> bytes:
        return b"" if self._as_events else b"["

    def text(self, piece: str) -> bytes:
        return self._chunk(self._answer([{"text": piece}]))

    def end(self, message: AssistantMessage) -> bytes:
        ending = self._chunk(self._ending(message, _calls(message)))
        return ending if self._as_events else ending + b"]"

    def whole(self, message: AssistantMessage) -> dict[str, Any]:
        said: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
        return self._ending(message, said + _calls(message))

    def _ending(self, message: AssistantMessage, parts: list[dict[str, Any]]) -> dict[str, Any]:
        answer = self._answer(parts)
        reasons: dict[Finish, str] = {"length": "MAX_TOKENS", "refusal": "SAFETY"}
        answer["candidates"][0]["finishReason"] = reasons.get(message.finish, "STOP")
        tokens = message.tokens
        answer["usageMetadata"] = {
            "promptTokenCount": tokens.input,
            "cachedContentTokenCount": tokens.cache_read,
            "candidatesTokenCount": tokens.output,
            "totalTokenCount": tokens.input + tokens.output,
        }
        return answer

    def _answer(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": parts or [{"text": ""}]}, "index": 0}
        return {"candidates": [candidate], "modelVersion": self._model, "responseId": self._id}

    def _chunk(self, answer: dict[str, Any]) -> bytes:
        if self._as_events:
            return write_event(answer)
        comma, self._is_first = (b"" if self._is_first else b","), False
        return comma + json.dumps(answer).encode()


def _calls(message: AssistantMessage) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": call.call_id, "name": call.tool, "args": arguments_of(call)}}
        for call in message.calls
    ]


_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}


def _error_body(status: int, message: str, code: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}}


FORMAT = WireFormat(
    title="Google's generateContent",
    request_rules=REQUEST_RULES,
    output_limit=output_limit,
    read_messages=read_messages,
    read_tools=read_tools,
    read_frame=read_frame,
    pieces=pieces,
    writer=GenerateWriter,
    error_body=_error_body,
)
