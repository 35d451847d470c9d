"""Ends streams whose reader takes nothing, since their data would stay in memory for hours.

While the reader's buffers are full, `send` does not return. After a timeout the application is told
that the reader has left; what it then returns cuts the connection.
"""

import asyncio
from typing import cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send

SENT_WITHIN_S = 30.0
"""For one message. Whoever reads at all takes it at once."""


def ends_slow_readers(app: ASGIApp) -> ASGIApp:
    """Return middleware for a route that streams by HTTP."""

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
