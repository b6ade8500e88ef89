"""Bodies of HTTP answers that end at a limit, whichever library reads them."""

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

from journeyman.gateway.patience import Patience


def bounding(patience: Patience) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A hook for a client's responses: reading on beyond the limit raises."""

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream, response.request.url.host, patience)

    return bound


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, host: str, patience: Patience) -> None:
        self._stream = stream
        self._host = host
        self._patience = patience

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._patience.answer_bytes:
                raise self._patience.too_large(self._host)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
