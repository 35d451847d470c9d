"""The event stream of an open page: its parts again, whenever they look different.

web/scripts/parts/live.ts says what each kind of event does.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from jinja2 import Environment
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from printreach.contract.codec import encode
from printreach.hub.leases import Access, AccessEnded
from printreach.hub.printers.live import INTERVAL_S as POLL_INTERVAL_S
from printreach.hub.printers.own import SeenPrinter
from printreach.ports import Notice, Topic
from printreach.rules.printers import OwnedPrinter
from printreach.web.dashboard.cards import is_warned, state_of
from printreach.web.dashboard.open_pages import (
    DRAWN_EVERY_S,
    Draw,
    Look,
    OpenPages,
    Parts,
    SharedParts,
)
from printreach.web.disconnects import closing
from printreach.web.problems import AnyRequest
from printreach.web.services import Services

HEARTBEAT_S: Final = 15.0
"""Interval of heartbeats to a page."""
MAX_STREAM_S: Final = 600.0
"""After this time the browser reconnects, so that a client that never reads is not served for
ever.
"""
RETRY_MS: Final = 3_000
"""The browser reconnects this long after its stream has ended."""
RETRY_WHEN_ENDED_MS: Final = 60_000
"""The same if the stream made room for a newer page; sooner, the two would end each other in
turns.
"""


@dataclass(slots=True)
class Page:
    """An open page. name: what it shows; pages of an account with the same name share their parts.

    access: what allows the page; when it ends, the page is told to reload and asks to sign in.
    draw, look: see SharedParts. watched: the printers whose changes show on it. shows_lock: whether
    the page says that remote control is locked; it reloads when that is no longer true.
    """

    pages: OpenPages
    services: Services
    access: Access
    name: str
    watched: frozenset[str]
    draw: Draw
    every_s: float = POLL_INTERVAL_S
    look: Look | None = None
    shows_lock: bool = False
    _sent: dict[str, str] = field(default_factory=dict)
    _states: dict[str, str] = field(default_factory=dict)
    _warned: frozenset[str] = frozenset()

    def stream(self) -> ServerSentEvent:
        """Return the response to the page's script. Raises TooManyRequestsException."""
        self.pages.check_room(self.access.account_id)
        events = self._while_allowed()
        headers = {"X-Accel-Buffering": "no"}
        return ServerSentEvent(events, headers=headers, background=closing(events))

    async def _while_allowed(self) -> AsyncIterator[ServerSentEventMessage]:
        events = self.services.leases.pieces(self.access, self._events())
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        except AccessEnded:
            yield _event("reload", {})

    async def _events(self) -> AsyncGenerator[ServerSentEventMessage, None]:
        dashboard, account_id = self.services.dashboard, self.access.account_id
        shared = SharedParts(dashboard.printers, account_id, self.draw, self.look)
        watched = [OwnedPrinter(printer_id, account_id) for printer_id in self.watched]
        subscription = dashboard.live.subscribe(watched, self.every_s)
        loop = asyncio.get_running_loop()
        ends_at, heartbeat_at = loop.time() + MAX_STREAM_S, loop.time()
        is_changed = True

        def on_notice(notice: Notice) -> None:
            nonlocal is_changed
            if (notice.topic, notice.key) == (Topic.ACCOUNT, account_id):
                is_changed = True
                stream.wake()

        unsubscribe: Callable[[], None] | None = None
        try:
            with self.pages.opened(self.name, shared) as stream:
                unsubscribe = self.services.leases.bus.subscribe(on_notice)
                while loop.time() < ends_at and not stream.is_ended:
                    if loop.time() >= heartbeat_at:
                        heartbeat_at = loop.time() + HEARTBEAT_S
                        yield _heartbeat(RETRY_MS)
                        is_changed = True  # a notice may be lost
                    if is_changed:
                        is_changed = False
                        if await self._is_locked() != self.shows_lock:
                            self.shows_lock = not self.shows_lock
                            yield _event("reload", {})
                    for event in self._changes(*await stream.shared.newest()):
                        yield event
                    async with stream.waiting_until(heartbeat_at):
                        await subscription.next_readings()
                    await asyncio.sleep(DRAWN_EVERY_S)
                if stream.is_ended:
                    yield _heartbeat(RETRY_WHEN_ENDED_MS)
        finally:
            subscription.close()
            if unsubscribe is not None:
                unsubscribe()

    async def _is_locked(self) -> bool:
        account_id = self.access.account_id
        account = await self.services.accounts.get(account_id)
        return account is not None and account.is_locked

    def _changes(self, printers: list[SeenPrinter], parts: Parts) -> list[ServerSentEventMessage]:
        if self._sent and parts.keys() != self._sent.keys():
            self._sent = dict(parts)
            return [_event("reload", {})]
        changed = [
            _event("part", {"id": key, "html": html})
            for key, html in parts.items()
            if self._sent.get(key) != html
        ]
        self._sent = dict(parts)
        return [*changed, *self._announcements(printers)]

    def _announcements(self, printers: list[SeenPrinter]) -> list[ServerSentEventMessage]:
        """Return the sentences for screen readers: a state has changed, or a warning came."""
        states = {
            seen.printer.printer_id: (seen.printer.name, state_of(seen))
            for seen in printers
            if seen.printer.printer_id in self.watched
        }
        words = [
            f"{name} is {_WORDS[state]}."
            for key, (name, state) in states.items()
            if self._states.get(key, state) != state
        ]
        warned = {seen.printer.printer_id: seen for seen in printers if is_warned(seen)}
        if self._states:  # the page already shows what was so before it opened
            words += [
                f"Possible failure: look at {warned[key].printer.name}."
                for key in warned.keys() & states.keys() - self._warned
            ]
        self._warned = frozenset(warned)
        self._states = {key: state for key, (_, state) in states.items()}
        return [_event("say", {"words": sentence}) for sentence in words]


_WORDS: Final = {
    "idle": "idle",
    "warmingup": "warming up",
    "printing": "printing",
    "paused": "paused",
    "resuming": "resuming",
    "complete": "done",
    "cancelled": "stopped",
    "error": "in error",
    "offline": "offline",
}


def templates_of(request: AnyRequest) -> Environment:
    """Return the application's template engine, for parts of pages."""
    engine = request.app.template_engine
    assert isinstance(engine, JinjaTemplateEngine), "web.app sets it up"
    return engine.engine


def _heartbeat(retry_ms: int) -> ServerSentEventMessage:
    return ServerSentEventMessage(event="beat", data="{}", retry=retry_ms)


def _event(kind: str, data: Mapping[str, Any]) -> ServerSentEventMessage:
    return ServerSentEventMessage(event=kind, data=encode(data).decode())
