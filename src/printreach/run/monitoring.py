"""/healthz, /readyz and /metrics of processes without a relay."""

import socket
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call, Handler, text_answer
from printreach.http1.server import serve
from printreach.relay.health import PATHS, Health
from printreach.run.process_metrics import process_metrics
from printreach.run.readiness import Readiness
from printreach.run.settings import Settings
from printreach.run.sockets import address_of

_ASKING: Final = frozenset({b"GET", b"HEAD"})
_MAX_CONNECTIONS: Final = 64


def health_of(
    settings: Settings, readiness: Readiness, is_ready: Callable[[], bool] | None = None
) -> Health:
    """Return what monitors are answered. is_ready: of a node that may be stopping, too."""
    return Health(
        is_ready or readiness.is_ready,
        {**readiness.metrics(), **process_metrics()},
        settings.trusted_proxies,
        readiness.lacks,
        readiness.histograms(),
    )


def answering_monitors(
    health: Health, answer: Handler, paths: Collection[bytes] = PATHS
) -> Handler:
    """Return a handler that answers monitors on these paths, and leaves other calls to `answer`."""

    async def answer_or_leave(call: Call) -> Answer:
        if call.path not in paths or call.method not in _ASKING:
            return await answer(call)
        status, content_type, text = health.answer(call.path, call.head.headers, call.peer)
        return Answer(status=status, headers=[content_type], body=text)

    return answer_or_leave


@asynccontextmanager
async def running_monitors_page(health: Health, listener: socket.socket) -> AsyncIterator[str]:
    """Answer monitors, and nobody else, on a socket that listens already; yield its address."""
    address = address_of(listener)
    handler = answering_monitors(health, _nothing_here)
    limits = ServerLimits(max_connections=_MAX_CONNECTIONS, drops_unauthenticated=True)
    server = await serve(handler, "", 0, limits=limits, listener=listener)
    try:
        yield address
    finally:
        await server.close()


async def _nothing_here(_call: Call) -> Answer:
    return text_answer(404, "There is nothing here.")
