"""The service's own host: each request is passed on to the web role.

If the web role runs in this process its application answers (`web_app.py`); WebSockets, and all
requests if it runs in another process, go over its unix socket.
"""

import asyncio
import logging

from printreach.http1.client import Client, ClientExchange, Connect, ExchangeFailure
from printreach.http1.heads import Framing, Request, Response
from printreach.wire.heads import Headers, encode_fields, strip_hop_by_hop

from .answering import AnswerWriter, BrokenAnswer
from .caller_origin import Origin, origin_fields, without_forwarding_fields
from .connection import FrontConnection
from .refusals import answer as answer_with
from .web_app import WebApp, WebCall
from .web_socket import WebSocketCall

log = logging.getLogger(__name__)


def unix_socket_connect(path: str) -> Connect:
    """Return a function that connects to the web role."""
    loop = asyncio.get_running_loop()
    return lambda protocol: loop.create_unix_connection(protocol, path)


class OwnHostRequests:
    def __init__(self, connect: Connect, app: WebApp | None = None) -> None:
        self._client = Client(connect)
        self._app = app

    async def close(self) -> None:
        await self._client.close()
        if self._app is not None:
            await self._app.close()

    def serve(
        self, caller: FrontConnection, request: Request, body: bytes, fin: bool, origin: Origin
    ) -> "WebExchange | WebCall | WebSocketCall | None":
        if self._app is not None:
            return self._app.serve(caller, request, body, fin, origin)
        exchange = WebExchange(caller, request)
        exchange.start(self._client, body, fin, origin)
        return exchange


class WebExchange:
    """One request to the web role; the handler of its caller's connection."""

    def __init__(self, caller: FrontConnection, request: Request) -> None:
        self.caller = caller
        self._request = request
        self.writer = AnswerWriter(caller, request)
        self.upstream: ClientExchange
        self.is_sent = False
        self.is_over = False

    def start(self, client: Client, body: bytes, fin: bool, origin: Origin) -> None:
        request = self._request
        self.is_sent = fin
        chunked = request.framing is Framing.CHUNKED
        self.upstream = client.request(
            _WebAnswerHandler(self),
            request.method,
            _head_for_web(request, origin, chunked=chunked),
            body=body,
            fin=fin,
            chunked=chunked,
        )

    # --- from the caller --------------------------------------------------------------------------

    def on_body(self, data: bytes, fin: bool) -> None:
        self.is_sent = fin
        if not self.upstream.send(data, fin=fin):
            self.caller.pause()

    def on_raw(self, data: bytes) -> None:
        if not self.upstream.send_raw(data):
            self.caller.pause()

    def on_raw_end(self) -> None:
        self.upstream.end_raw()

    def on_caller_writable(self) -> None:
        self.upstream.resume()

    def on_caller_gone(self) -> None:
        self.is_over = True
        self.upstream.cancel()


class _WebAnswerHandler:
    """The handler of the web role's answer to a WebExchange."""

    def __init__(self, exchange: WebExchange) -> None:
        self._exchange = exchange
        self._caller = exchange.caller
        self._writer = exchange.writer
        self._is_raw = False

    def on_writable(self) -> None:
        self._caller.resume()

    def on_interim(self, response: Response) -> None:
        headers = strip_hop_by_hop(response.headers)
        self._writer.interim(response.status, response.reason, headers)

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        headers = strip_hop_by_hop(response.headers)
        if response.upgrade:
            self._is_raw = True
            self._writer.upgrade(headers, body)
            self._caller.upgraded()
            return
        if not self._exchange.is_sent:
            self._writer.keep_alive = False
        length = response.length if response.framing is Framing.LENGTH else None
        writable = self._writer.start(
            response.status, response.reason, headers, length, body, fin=fin
        )
        self._slow_down(writable, fin)

    def on_body(self, data: bytes, fin: bool) -> None:
        if self._is_raw:
            self._slow_down(self._caller.write(data), fin)
            if fin:
                self._caller.close_raw()
            return
        try:
            self._slow_down(self._writer.body(data, fin=fin), fin)
        except BrokenAnswer:
            self._caller.abort()

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        if self._exchange.is_over:
            return
        log.warning("the web role gave no whole answer (%s): %s", failure.value, text)
        if self._writer.is_started:
            self._caller.abort()
            return
        self._writer.keep_alive = False
        headers: Headers = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"Retry-After", b"5")]
        answer_with(
            self._writer, 503, b"Service Unavailable", headers, b"Starting up. Try again.\n"
        )

    def _slow_down(self, writable: bool, fin: bool) -> None:
        if not writable and not fin:
            self._exchange.upstream.pause()


def _head_for_web(request: Request, origin: Origin, *, chunked: bool) -> bytes:
    """Return the request's head for the web role, with forwarding fields of our own."""
    headers = without_forwarding_fields(request.headers)
    headers.append((b"X-Forwarded-For", origin.address.encode("ascii", "replace")))
    headers.append((b"X-Forwarded-Proto", origin.scheme.encode()))
    headers.append((b"X-Forwarded-Host", request.host))
    headers += origin_fields(origin)
    if chunked:
        headers.append((b"Transfer-Encoding", b"chunked"))
    if request.upgrade is not None:
        headers += [(b"Connection", b"Upgrade"), (b"Upgrade", request.upgrade)]
    line = b"%b %b HTTP/1.1\r\n" % (request.method, request.target)
    return line + encode_fields(headers) + b"\r\n"
