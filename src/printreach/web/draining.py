"""DrainMiddleware when the web role stops.

Event streams never end by themselves, so they are ended first. Ordinary requests may finish; they
are ended only when their time is up.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.languages import N_

_EVENT_STREAM: Final = b"text/event-stream"

# "Service restart": the client should reconnect.
_WEBSOCKET_RESTART: Final = 1012


@dataclass(slots=True, eq=False)
class _Exchange:
    """One request or WebSocket under way. A stream does not end by itself."""

    task: asyncio.Task[object]
    has_started: bool = False
    is_complete: bool = False
    is_stream: bool = False
    is_ended: bool = False

    def end(self) -> None:
        """Cancel the task. It then sends its client a proper end, unless it is cancelled again."""
        self.is_ended = True
        self.task.cancel()

    def note(self, message: Message) -> None:
        """Learn from the application's message how far the exchange has come."""
        match message["type"]:
            case "http.response.start":
                self.has_started = True
                self.is_stream = _is_event_stream(message["headers"])
            case "http.response.body":
                self.is_complete = not message.get("more_body", False)
            case "websocket.accept":
                self.has_started = self.is_stream = True
            case "websocket.close":
                self.is_complete = True
            case _:
                pass


class DrainMiddleware:
    """ASGI middleware that can end the exchanges under way."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._exchanges: set[_Exchange] = set()
        self._is_stopping = False

    def end_streams(self) -> None:
        """End event streams and WebSockets now, and any that begin later."""
        self._is_stopping = True
        for exchange in self._exchanges:
            if exchange.is_stream:
                exchange.end()

    def end_all(self) -> None:
        """End every exchange."""
        for exchange in self._exchanges:
            exchange.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None, "a server calls an application in a task"
        exchange = _Exchange(task)

        async def send_and_note(message: Message) -> None:
            exchange.note(message)
            await send(message)
            if exchange.is_stream and self._is_stopping:
                exchange.end()

        self._exchanges.add(exchange)
        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            # Swallow only cancellations of our own.
            if not exchange.is_ended:
                raise
            task.uncancel()
            await _say_end(exchange, scope, send)
        finally:
            self._exchanges.discard(exchange)


async def _say_end(exchange: _Exchange, scope: Scope, send: Send) -> None:
    if exchange.is_complete:
        return
    if scope["type"] == ScopeType.WEBSOCKET:
        reason = N_("The service is restarting.")
        await send({"type": "websocket.close", "code": _WEBSOCKET_RESTART, "reason": reason})
        return
    if not exchange.has_started:
        await send({"type": "http.response.start", "status": 503, "headers": []})
    if exchange.is_stream or not exchange.has_started:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    # A partial download must not look complete, so the server cuts the connection instead.
    raise asyncio.CancelledError


def _is_event_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(_EVENT_STREAM)
        for name, value in headers
    )
