"""OpenAI's client, without the walk through the whole history that it takes before every call.

The client compares every field of every message with its type, to rename fields that have an alias.
Messages and tools have none, and after fifty turns the walk takes longer than everything else between
two calls together. What travels as `extra_body` is sent as it is.
"""

from functools import cached_property
from typing import Any

import httpx2
from openai import AsyncOpenAI
from openai.resources.chat import AsyncChat, AsyncCompletions


class _Completions(AsyncCompletions):
    async def create(self, **request: Any) -> Any:
        body = dict(request.pop("extra_body", None) or {})
        body["messages"] = request.pop("messages")
        if request.get("tools"):
            body["tools"] = request.pop("tools")
        return await super().create(messages=[], extra_body=body, **request)


class _Chat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:
        return _Completions(self._client)


class _Client(AsyncOpenAI):
    @cached_property
    def chat(self) -> AsyncChat:
        return _Chat(self)


def openai_client(key: str, base_url: str, http: httpx2.AsyncClient) -> AsyncOpenAI:
    return _Client(api_key=key, base_url=base_url, max_retries=0, http_client=http)
