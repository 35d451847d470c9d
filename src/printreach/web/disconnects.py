"""Requests whose caller disconnects, and streams whose reader takes nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from types import MappingProxyType
from typing import Final, TypeVar, cast

from litestar.background_tasks import BackgroundTask
from litestar.enums import ScopeType
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send

from printreach.web.problems import AnyRequest

SENT_WITHIN_S = 30.0
"""For one message. A reader that reads at all takes it at once."""
_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

T = TypeVar("T")


def ends_slow_readers(app: ASGIApp) -> ASGIApp:
    """Return middleware for a route that streams by HTTP: a stream that nobody reads is ended.

    Its data would stay in memory for hours. While the reader's buffers are full, `send` does not
    return. After a timeout the application is told that the reader has left, and its return cuts
    the connection.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        reader = _Reader(receive, send)
        await app(scope, reader.receive, reader.send)

    return answer


class _Reader:
    """The reader as the application sees it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_stuck = asyncio.Event()

    async def send(self, message: Message) -> None:
        loop = asyncio.get_running_loop()
        timer = loop.call_later(SENT_WITHIN_S, self._is_stuck.set)
        try:
            await self._send(message)
        finally:
            timer.cancel()

    async def receive(self) -> HTTPReceiveMessage:
        hearing = asyncio.ensure_future(self._receive())
        waiting = asyncio.create_task(self._is_stuck.wait())
        try:
            await asyncio.wait([hearing, waiting], return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done():
                return {"type": "http.disconnect"}
            return cast("HTTPReceiveMessage", hearing.result())
        finally:
            hearing.cancel()
            waiting.cancel()


def closing(source: AsyncIterator[T]) -> BackgroundTask:
    """Return a response's background task that closes the source, however the reader left.

    If a reader leaves while a piece is being sent, the sending is cancelled, and the source stays
    suspended until it is garbage-collected, which may take minutes. Until then it counts as an open
    stream and keeps asking printers and the store.
    """
    return BackgroundTask(_close, source)


async def _close(source: AsyncIterator[T]) -> None:
    if isinstance(source, AsyncGenerator):
        await source.aclose()


def sse_response(
    events: AsyncIterator[ServerSentEventMessage], headers: Mapping[str, str] = _NO_HEADERS
) -> ServerSentEvent:
    """Return the response that sends these events; proxies are told not to hold them back."""
    headers = {**headers, "X-Accel-Buffering": "no"}
    return ServerSentEvent(events, headers=headers, background=closing(events))


class CallerDisconnected(Exception):
    """The caller no longer waits for the answer."""


async def while_connected(request: AnyRequest, work: Coroutine[None, None, T]) -> T:
    """Do the work, or cancel it as soon as the caller disconnects. Raises CallerDisconnected.

    The request's body must have been read before.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_until_left(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CallerDisconnected
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_left(request: AnyRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # the end of the body, which was already read
