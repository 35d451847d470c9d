"""What a page hears while it is open: its parts again, whenever they look different.

web/scripts/parts/live.ts tells what each kind of event does.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from jinja2 import Environment
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from printreach.contract.codec import encode
from printreach.hub.leases import Access, AccessEnded
from printreach.hub.live import BEAT_S as BEAT_OF_PRINTERS_S
from printreach.hub.own_printers import SeenPrinter
from printreach.ports import PrinterRow
from printreach.rules.printers import OwnedPrinter
from printreach.web.closing import closing
from printreach.web.dashboard.cards import is_warned, state_of
from printreach.web.problems import AnyRequest
from printreach.web.services import Services

DRAWN_EVERY_S: Final = 0.5
"""Printers answer one by one; the page is drawn for several at once."""
BEAT_S: Final = 15.0
"""So often a page hears something, and the printers of the account are looked up again."""
LONGEST_S: Final = 600.0
"""Then the browser asks anew. What a server holds for one that never reads has an end."""

Parts: TypeAlias = Mapping[str, str]
"""HTML by the id of the element that it is."""
Draw: TypeAlias = Callable[[list[SeenPrinter]], Parts]


@dataclass(slots=True)
class Page:
    """An open page. draw: its parts, of all the account's printers as they are now.

    access: what lets the page in; when it ends, the page is told to load anew, and asks to sign in.
    watched: the printers whose changes show on it. look: awaited before each drawing, for what the
    parts show beside the printers.
    """

    services: Services
    access: Access
    watched: frozenset[str]
    draw: Draw
    every_s: float = BEAT_OF_PRINTERS_S
    look: Callable[[list[SeenPrinter]], Awaitable[None]] | None = None
    _sent: dict[str, str] = field(default_factory=dict)
    _states: dict[str, str] = field(default_factory=dict)
    _warned: frozenset[str] = frozenset()

    def stream(self) -> ServerSentEvent:
        """The answer to the page's script."""
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
        dashboard = self.services.dashboard
        rows: list[PrinterRow] = []
        account_id = self.access.account_id
        watched = [OwnedPrinter(printer_id, account_id) for printer_id in self.watched]
        watch = dashboard.live.watch(watched, self.every_s)
        loop = asyncio.get_running_loop()
        ends_at, beat_at = loop.time() + LONGEST_S, loop.time()
        try:
            while loop.time() < ends_at:
                if loop.time() >= beat_at:
                    beat_at = loop.time() + BEAT_S
                    rows = await dashboard.printers.rows(account_id)
                    yield _event("beat", {})
                printers = dashboard.printers.seen(rows)
                if self.look is not None:
                    await self.look(printers)
                for event in self._changes(printers):
                    yield event
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(beat_at):
                        await watch.news()
                await asyncio.sleep(DRAWN_EVERY_S)
        finally:
            watch.close()

    def _changes(self, printers: list[SeenPrinter]) -> list[ServerSentEventMessage]:
        parts = self.draw(printers)
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
        """What a screen reader says: that a state is another one now, or a warning came."""
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
        if self._states:  # what was so before the page opened stands on it
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
    """The templates of the application, for parts of pages."""
    engine = request.app.template_engine
    assert isinstance(engine, JinjaTemplateEngine), "web.app sets it up"
    return engine.engine


def _event(kind: str, data: Mapping[str, Any]) -> ServerSentEventMessage:
    return ServerSentEventMessage(event=kind, data=encode(data).decode())
