"""HEAD, answered as GET would be: for every page and API at once, without their doing."""

import asyncio
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPDisconnectEvent, HTTPRequestEvent, HTTPResponseBodyEvent

_NO_BODY: Final = HTTPRequestEvent(type="http.request", body=b"", more_body=False)
_GONE: Final = HTTPDisconnectEvent(type="http.disconnect")
_END: Final = HTTPResponseBodyEvent(type="http.response.body", body=b"", more_body=False)


class AnswersHead:
    """An ASGI application around another one, which never hears of HEAD.

    The answer is over with its head. What would go on, as event streams and pictures do, is told
    that its reader has left.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            exchange, asked = _Head(send), scope.copy()
            asked["method"] = "GET"
            await self._app(asked, exchange.receive, exchange.send)
        else:
            await self._app(scope, receive, send)


class _Head:
    """One request of that kind, as the application behind sees it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_asked = False
        self._is_over = asyncio.Event()

    async def receive(self) -> HTTPReceiveMessage:
        """An empty body; and after the head was sent, that nobody is there."""
        if not self._is_asked:
            self._is_asked = True
            return _NO_BODY
        await self._is_over.wait()
        return _GONE

    async def send(self, message: Message) -> None:
        """Pass on the head, which is all there is."""
        if message["type"] != "http.response.start":
            return
        await self._send(message)
        await self._send(_END)
        self._is_over.set()
