"""Middleware for GET and HEAD, before the framework parses the request.

It bounds the length of addresses and cookies, drops the body of a GET, and answers HEAD as GET.
"""

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from litestar import Response
from litestar.connection import ASGIConnection, Request
from litestar.enums import HttpMethod, ScopeType
from litestar.exceptions import ClientException, MethodNotAllowedException
from litestar.handlers import BaseRouteHandler
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPDisconnectEvent, HTTPRequestEvent, HTTPResponseBodyEvent

_NO_BODY: Final = HTTPRequestEvent(type="http.request", body=b"", more_body=False)
_GONE: Final = HTTPDisconnectEvent(type="http.disconnect")
_END: Final = HTTPResponseBodyEvent(type="http.response.body", body=b"", more_body=False)

LONGEST_PATH: Final = 4 * 1024
"""In bytes, percent-encoded or not."""
LONGEST_QUERY: Final = 4 * 1024
LONGEST_QUERIES: Final[Mapping[str, int]] = MappingProxyType({"/appportal/v1": 16 * 1024})
"""Exceptions by path: the portal's query contains two whole addresses."""
MAX_COOKIE_BYTES: Final = 16 * 1024
"""Browsers keep 4 KiB per cookie, and ours are small."""

READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
"""The methods of a page whose HEAD is answered without a GET; the server drops the body."""
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

USED_UP: Final[Mapping[str, bool]] = MappingProxyType({"used_up": True})
"""The options of a route whose GET uses something up, such as a secret that is shown once."""
_IS_HEAD: Final = "is_head"


class AddressTooLong(ClientException):
    """The path or the query is longer than any of ours."""

    status_code = 414


class CookiesTooLong(ClientException):
    """The request has more cookies than we ever set."""

    status_code = 431


class BoundedSafeMethods:
    """ASGI middleware that refuses what would take the application long to parse.

    answer: turns a failure into a response.
    """

    def __init__(
        self, app: ASGIApp, answer: Callable[[Request[Any, Any, Any], Exception], Response[Any]]
    ) -> None:
        self._app = app
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = _fault_of(scope)
        if fault is None:
            if scope["type"] == ScopeType.HTTP and scope["method"] in _READS:
                receive = _EmptyBody(receive)
            await self._app(scope, receive, send)
        elif scope["type"] == ScopeType.HTTP:
            scope["query_string"] = b""
            request = Request[Any, Any, Any](scope, receive, send)
            answer = self._answer(request, fault)
            await answer.to_asgi_response(app=None, request=request)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": fault.detail})


class _EmptyBody:
    """The receive channel of a GET: the application sees an empty body, and any real one is
    dropped.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_asked = False

    async def __call__(self) -> HTTPReceiveMessage:
        if not self._is_asked:
            self._is_asked = True
            return _NO_BODY
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return message  # type: ignore[return-value]  # the one other of HTTP


def _fault_of(scope: Scope) -> ClientException | None:
    path = scope["path"]
    most = LONGEST_QUERIES.get(path.rstrip("/"), LONGEST_QUERY)
    raw_path, _, _ = scope["raw_path"].partition(b"?")  # some servers include the query
    if len(raw_path) > LONGEST_PATH:
        return AddressTooLong(f"The path is longer than {LONGEST_PATH} bytes")
    if len(scope["query_string"]) > most:
        return AddressTooLong(f"The query is longer than {most} bytes")
    cookies = sum(len(value) for name, value in scope["headers"] if name == b"cookie")
    if cookies > MAX_COOKIE_BYTES:
        return CookiesTooLong(
            f"The cookies are larger than {MAX_COOKIE_BYTES} bytes: delete those of this site"
        )
    return None


class HeadAsGet:
    """ASGI middleware that presents HEAD to the application as GET.

    The exchange ends with the response's head. An endless answer, such as an event stream, is told
    that its reader has left.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            exchange, as_get = _HeadExchange(send), scope.copy()
            as_get["method"] = "GET"
            as_get["state"] = {**scope.get("state", {}), _IS_HEAD: True}
            await self._app(as_get, exchange.receive, exchange.send)
        else:
            await self._app(scope, receive, send)


def is_head(scope: Scope) -> bool:
    """Return whether a request that the application sees as a GET is a HEAD."""
    return bool(scope.get("state", {}).get(_IS_HEAD))


async def refuse_head_that_uses_up(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """Raise MethodNotAllowedException for a HEAD where a GET would change something.

    A coroutine function, since Litestar calls other guards in a thread.
    """
    if is_head(connection.scope) and handler.opt.get("used_up"):
        raise MethodNotAllowedException(headers={"Allow": "GET"})


class _HeadExchange:
    """One HEAD request as the application sees it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_asked = False
        self._is_over = asyncio.Event()

    async def receive(self) -> HTTPReceiveMessage:
        """Return an empty body; after the head was sent, a disconnect."""
        if not self._is_asked:
            self._is_asked = True
            return _NO_BODY
        await self._is_over.wait()
        return _GONE

    async def send(self, message: Message) -> None:
        """Pass on the head only."""
        if message["type"] != "http.response.start":
            return
        await self._send(message)
        await self._send(_END)
        self._is_over.set()
