"""The web role in a process without a relay: granian serves it, behind a proxy."""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, cast

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.net import SocketHolder  # type: ignore[attr-defined]  # private, see _WebServer
from granian.server.embed import Server

from printreach.http1.heads import MAX_HEAD_BYTES
from printreach.http1.request_ids import REQUEST_ID, SPAN
from printreach.http1.tracing import Span, Tracing
from printreach.relay.asgi import Application, Message, Receive, Scope, Send, set_origin, tell_route
from printreach.relay.caller_origin import ProxyWarnings, origin_of
from printreach.relay.front import BACKLOG
from printreach.relay.health import PATHS
from printreach.relay.hosts import Hosts
from printreach.relay.request_ids import RequestIds
from printreach.run.monitoring import Readiness, health_of
from printreach.run.settings import Settings
from printreach.web.draining import DrainMiddleware
from printreach.wire.heads import REQUEST_ID_FIELD, Headers, get

_log = logging.getLogger(__name__)

# The server counts connections, idle ones and event streams included, and lets callers beyond this
# many wait. By default it uses the backlog, 128, and that many open dashboards would starve
# everybody else.
_MAX_CONNECTIONS: Final = 4096

# Also for the next head on a connection. Proxies keep idle connections for a minute (nginx) or two
# (Caddy), and a request on one that we have just closed would fail.
_HEAD_TIMEOUT_MS: Final = 130_000

_STOP_DEADLINE_S: Final = 10.0
_CANCEL_DEADLINE_S: Final = 1.0


@asynccontextmanager
async def running_web_node(
    draining: DrainMiddleware,
    settings: Settings,
    listener: socket.socket,
    readiness: Readiness,
    tracing: Tracing | None = None,
    stop_deadline_s: float = _STOP_DEADLINE_S,
) -> AsyncIterator[None]:
    """Serve an application on a socket that listens already, which is ours from now on.

    Leaving accepts nothing more, ends
    event streams at once and the rest by the deadline.
    """
    is_stopping = asyncio.Event()

    def report_end(serving: asyncio.Task[None]) -> None:
        if not is_stopping.is_set():
            failure = None if serving.cancelled() else serving.exception()
            _log.error("the web role stopped by itself", exc_info=failure)

    application = cast("Application", draining)  # Litestar names its own types of a scope
    own_host = _OwnHost(
        application,
        settings,
        lambda: not is_stopping.is_set() and readiness.is_ready(),
        readiness,
        tracing,
    )
    server = _WebServer(own_host, listener)
    serving = asyncio.create_task(server.serve(), name="web node")
    serving.add_done_callback(report_end)
    try:
        yield
    finally:
        is_stopping.set()
        server.stop()  # type: ignore[no-untyped-call]  # the library leaves it untyped
        draining.end_streams()
        await asyncio.wait([serving], timeout=stop_deadline_s)
        draining.end_all()
        await asyncio.wait([serving], timeout=_CANCEL_DEADLINE_S)
        # Only clients that do not read are left; their connections end with the process.
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


class _OwnHost:
    """The application as the relay calls it: for our own hosts alone, with the caller's origin."""

    def __init__(
        self,
        application: Application,
        settings: Settings,
        is_ready: Callable[[], bool],
        readiness: Readiness,
        tracing: Tracing | None,
    ) -> None:
        self._tracing = tracing
        self._application = application
        self._networks = settings.trusted_proxies
        self._hosts = Hosts(settings.base_url, settings.tunnel_domain, settings.detector_url)
        self._health = health_of(settings, readiness, is_ready)
        self._proxy_warnings = ProxyWarnings(self._networks)
        self._ids = RequestIds(secrets.token_bytes(16), self._networks, settings.request_id_field)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = list(scope["headers"])
        peer, path = str(scope["client"][0]), scope["path"].encode()
        if scope["type"] == "http" and path in PATHS:
            status, content_type, text = self._health.answer(path, headers, peer)
            await _answer(send, status, [content_type], text)
        elif self._hosts.are_ours(get(headers, b"host") or b"", path):
            origin = origin_of(peer, headers, self._networks, self._hosts.scheme)
            self._proxy_warnings.look_at(peer, headers, origin)
            set_origin(scope, headers, origin)
            request_id = self._ids.name(peer, headers, is_inside=False)
            before = REQUEST_ID.set(request_id.decode("ascii"))
            try:
                if self._tracing is None:
                    await self._application(scope, receive, _naming(send, request_id))
                else:
                    parent = self._ids.trace_parent(peer, headers, is_inside=False)
                    method = scope.get("method", "GET").encode()
                    span = self._tracing.begin_request(method, request_id, parent)
                    await self._trace(span, scope, receive, _naming(send, request_id))
            finally:
                REQUEST_ID.reset(before)
        elif scope["type"] == "http":
            location = self._hosts.base_url.encode() + b"/"
            await _answer(send, HTTPStatus.TEMPORARY_REDIRECT, [(b"location", location)], b"")
        else:
            await send({"type": "websocket.close"})

    async def _trace(self, span: Span, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application within a span."""
        before, fault = SPAN.set(span), "broken_off"
        try:
            await self._application(scope, receive, _telling(send, scope, span))
            fault = ""
        finally:
            SPAN.reset(before)
            span.end(fault)


def _telling(send: Send, scope: Scope, span: Span) -> Send:
    """Return `send` that tells a span the route and the status of the answer."""

    async def send_told(message: Message) -> None:
        if message["type"] == "http.response.start":
            tell_route(span, scope)
            span.answered(message["status"])
        elif message["type"] == "websocket.accept":
            tell_route(span, scope)
            span.answered(HTTPStatus.SWITCHING_PROTOCOLS)
        await send(message)

    return send_told


def _naming(send: Send, request_id: bytes) -> Send:
    """Return `send` with the request's id in the head of each answer."""
    field = (REQUEST_ID_FIELD.lower(), request_id)

    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), field]}
        await send(message)

    return send_named


async def _answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _WebServer(Server):
    """granian on a socket of ours, which a parent process may have opened."""

    def __init__(self, application: Application, listener: socket.socket) -> None:
        self._listener = listener
        super().__init__(
            application,
            # Without the lifespan, whose shutdown the server would skip when cancelled.
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=_HEAD_TIMEOUT_MS, max_buffer_size=MAX_HEAD_BYTES
            ),
            backpressure=_MAX_CONNECTIONS,
            log_access=False,
            log_level=LogLevels.error,
            log_dictconfig=_logging(),
        )

    def _init_shared_socket(self) -> None:
        """Override the opening of a socket; granian has no public way to give it one."""
        number = self._listener.detach()
        self._shd = SocketHolder(number, False, BACKLOG)  # type: ignore[assignment,call-arg]


def _logging() -> dict[str, Any]:
    """Route the server's messages to the program's own logging.

    By itself it would write to standard output, which is for scripts, and would forget every
    handler that is set up. "Incremental" touches nothing but the logger named here.
    """
    loggers = {"_granian": {"level": "ERROR", "propagate": True}}
    return {"incremental": True, "handlers": {}, "loggers": loggers}
