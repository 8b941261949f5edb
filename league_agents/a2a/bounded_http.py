"""An HTTP client that stops reading an answer at a limit, follows no redirect and uses no proxy."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

LARGEST_ANSWER = 2 * 1024 * 1024
"""Bytes of one answer."""


class OversizedAnswer(httpx.RequestError):
    """An answer is larger than ``LARGEST_ANSWER``, or packed so that its size cannot be known."""


def bounded_client(*, token: str | None, timeout_s: float) -> httpx.AsyncClient:
    """A client for requests to one server, which gets the token. Nothing is read from the environment."""
    headers = {"accept-encoding": "identity"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return httpx.AsyncClient(
        transport=_Bounded(), timeout=timeout_s, headers=headers, follow_redirects=False, trust_env=False
    )


class _Bounded(httpx.AsyncBaseTransport):
    def __init__(self) -> None:
        self._transport = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        answer.stream = _Counted(answer.stream)
        if answer.headers.get("content-encoding", "identity") != "identity":
            await answer.aclose()
            raise OversizedAnswer("the answer is compressed, which was not asked for")
        return answer

    async def aclose(self) -> None:
        await self._transport.aclose()


class _Counted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for chunk in self._stream:
            count += len(chunk)
            if count > LARGEST_ANSWER:
                raise OversizedAnswer(f"the answer has more than {LARGEST_ANSWER} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
