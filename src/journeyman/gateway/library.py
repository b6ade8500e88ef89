"""Anthropic's and Google's formats, spoken by pydantic-ai.

Importing it takes a second and 40 MB, so it is imported when such a model is first used. The retries of
the providers' libraries are switched off: ours are visible to the person who waits.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UserError,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from journeyman.access.redaction import Redactor
from journeyman.errors import JourneymanError
from journeyman.gateway.faults import broken_call_error, cut_stream_error, refusal_error, status_error
from journeyman.gateway.limits import CallLimits
from journeyman.gateway.messages import (
    AssistantMessage,
    Finish,
    Message,
    Tokens,
    ToolCall,
    ToolOffer,
    ToolResults,
    UserMessage,
    absurd,
    is_count,
)

_FAULTS = (AgentRunError, UserError, httpx2.HTTPError, httpx2.StreamError, TimeoutError)
_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_ANTHROPIC_OUTPUT_TOKENS = 16_000
"""Anthropic wants a limit on every call; the library's own default cuts long files in two."""


def bounded_client(limits: CallLimits) -> httpx2.AsyncClient:
    """The HTTP client of the libraries, whose answers end at the limit of bytes."""

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, response.request.url.host, limits)

    return httpx2.AsyncClient(
        # The gateway itself watches for silence.
        timeout=httpx2.Timeout(None, connect=15),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
        event_hooks={"response": [bound]},
    )


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, host: str, limits: CallLimits) -> None:
        self._stream = stream
        self._host = host
        self._limits = limits

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limits.answer_bytes:
                raise self._limits.too_large(self._host)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def anthropic_model(model: str, *, base_url: str, key: str, http: httpx2.AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0, http_client=http)
    # The history is sent again with every call: without the cache it is paid for in full every time.
    cached = AnthropicModelSettings(
        max_tokens=_ANTHROPIC_OUTPUT_TOKENS, anthropic_cache_messages=True, anthropic_cache_instructions=True
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client), settings=cached)


def google_model(model: str, *, base_url: str, key: str, http: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=base_url, http_client=http))


class LibraryModel:
    def __init__(self, name: str, model: Model[Any], redactor: Redactor) -> None:
        self._name = name
        self._model = model
        self._redactor = redactor

    async def stream(
        self, messages: Sequence[Message], instructions: str, tools: Sequence[ToolOffer]
    ) -> AsyncGenerator[str | AssistantMessage, None]:
        parameters = ModelRequestParameters(
            function_tools=[
                ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=tool.schema,
                    strict=False,
                )
                for tool in tools
            ],
            instruction_parts=[InstructionPart(instructions)] if instructions else None,
        )
        history = [_written(message) for message in messages]
        try:
            async with model_request_stream(
                self._model, history, model_request_parameters=parameters
            ) as stream:
                async for event in stream:
                    yield _text_in(event)
                response = stream.get()
        except _FAULTS as error:
            raise _error_of(error, self._name, self._redactor) from None
        message = _read(response)
        if message is None:
            raise cut_stream_error(self._name)
        yield message


def _error_of(error: Exception, name: str, redactor: Redactor) -> JourneymanError:
    if isinstance(error, ModelHTTPError):
        headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
        return status_error(error.status_code, headers, error.body, name, redactor)
    said = str(error) or type(error).__name__
    if isinstance(error, UserError):
        return refusal_error(said, name, redactor)
    retry_after = error.retry_after if isinstance(error, ModelAPIError) else None
    return broken_call_error(said, name, redactor, retry_after=retry_after)


def _text_in(event: ModelResponseStreamEvent) -> str:
    """What the model says in this event: not its thoughts, and not the arguments of tools."""
    if event.event_kind == "part_start" and event.part.part_kind == "text":
        return event.part.content
    if event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
        return event.delta.content_delta
    return ""


def _read(response: ModelResponse) -> AssistantMessage | None:
    """The library's answer as ours; None when it was cut off before it said why it ended."""
    # A reason that the library has no word for is still a reason.
    reason = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    if reason in (None, "error"):
        return None
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, _arguments(part))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    tokens, notice = _tokens(response.usage)
    return AssistantMessage(
        "".join(part.content for part in response.parts if isinstance(part, TextPart)),
        calls,
        _FINISHES.get(reason, "tool_calls" if calls else "stop"),
        tokens,
        carried=response,
        notice=notice,
    )


def _tokens(used: RequestUsage) -> tuple[Tokens, str]:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    counts = {name: getattr(used, name) for name in names}
    for name, count in counts.items():
        if not is_count(count):
            return Tokens(), absurd(name, count)
    return Tokens(*counts.values()), ""


def _arguments(part: ToolCallPart) -> str:
    return part.args if isinstance(part.args, str) and part.args else json.dumps(part.args or {})


def _written(message: Message) -> ModelMessage:
    match message:
        case UserMessage(text):
            return ModelRequest([UserPromptPart(text)])
        case ToolResults(results):
            return ModelRequest([ToolReturnPart(each.tool, each.output, each.call_id) for each in results])
        case AssistantMessage():
            return _answered(message)


def _answered(message: AssistantMessage) -> ModelResponse:
    """An answer on its way back, with what its provider signed where it stood."""
    if not isinstance(message.carried, ModelResponse):
        said = [TextPart(message.text)] if message.text else []
        return ModelResponse(
            [*said, *(ToolCallPart(call.tool, call.arguments, call.call_id) for call in message.calls)]
        )
    ours = {call.call_id: call.arguments for call in message.calls}
    parts = [_mended(part, ours) for part in message.carried.parts]
    if message.text and not any(isinstance(part, TextPart) for part in parts):
        parts.append(TextPart(message.text))
    return replace(message.carried, parts=parts)


def _mended(part: ModelResponsePart, ours: dict[str, str]) -> ModelResponsePart:
    """A call whose arguments were broken goes back with those that were put in their place."""
    if not isinstance(part, ToolCallPart) or _arguments(part) == ours[part.tool_call_id]:
        return part
    return replace(part, args=ours[part.tool_call_id])
