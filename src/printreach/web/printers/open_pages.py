"""The open pages of an account: their event streams, their limit, and the parts that they share.

Each open page has an event stream, which sends its parts again whenever they look different;
web/scripts/parts/live.ts says what each kind of event does. Pages that show the same in the same
language are drawn once for all of them. When an account has as many streams as allowed, a new page
ends the oldest one.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from jinja2 import Environment
from jinja2 import Template as Part
from litestar.exceptions import TooManyRequestsException
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from printreach.contract.codec import encode
from printreach.hub.leases import Access, AccessEnded
from printreach.hub.printers.live import INTERVAL_S as POLL_INTERVAL_S
from printreach.hub.printers.own import OwnPrinters, SeenPrinter
from printreach.languages import N_, _, language, translate
from printreach.ports import Notice, Topic
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.members import Role
from printreach.store.listings import PrinterRow
from printreach.web.disconnects import sse_response
from printreach.web.printer_state import OFFLINE, count_in_need, state_of
from printreach.web.problems import AnyRequest
from printreach.web.services import Services

MAX_STREAMS: Final = 20
"""Streams of an account at once in one process; as many as of the events API."""
MAX_ENDING: Final = 20
"""Ended streams that are not closed yet, since their readers are slow."""
DRAWN_EVERY_S: Final = 0.5
"""Printers answer one by one; a page is drawn for several at once."""
LOOKED_UP_EVERY_S: Final = 15.0
"""Interval at which the account's printers are looked up."""

OTHERS_EVERY_S: Final = 60.0
"""How often a page asks the printers that it does not show, to count those that need somebody."""
HEARTBEAT_S: Final = 15.0
"""Interval of heartbeats to a page."""
PLACES_OF_COUNT: Final = ("top", "tabs")
"""Where base.html has the count of parts/needs_you.html."""
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

_OF_PRINTER: Final = frozenset({Topic.PRINTER, Topic.DETECTOR})

Parts: TypeAlias = Mapping[str, str]
"""From an element's id to its HTML."""
Draw: TypeAlias = Callable[[list[SeenPrinter]], Parts]
Look: TypeAlias = Callable[[list[SeenPrinter], bool], Awaitable[None]]
"""Told whether what was read before is outdated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedBy:
    """Which pages share their parts: those for which all of this is the same.

    Parts depend on nothing else but the present state of the printers, to which the account's role
    belongs. name: what the pages show. watched: with their owners, whose history is shown.
    """

    account_id: str
    name: str
    watched: frozenset[OwnedPrinter] = frozenset()
    shows_lock: bool = False
    language: str = field(default_factory=language)


@dataclass(slots=True)
class SharedParts:
    """The parts of all pages of an account that show the same in the same language.

    draw: draws the parts from the current state of all of the account's printers. look: awaited
    before each drawing, to read what the parts show beside the printers.
    """

    printers: OwnPrinters
    shared_by: SharedBy
    draw: Draw
    look: Look | None = None
    _seen: list[SeenPrinter] = field(default_factory=list)
    _parts: Parts = field(default_factory=dict)
    _rows: list[PrinterRow] = field(default_factory=list)
    _drawn_until: float = 0.0
    _rows_until: float = 0.0
    _is_outdated: bool = False
    _drawing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def look_up_again(self) -> None:
        """Look up at the next drawing which printers the account may see, and as what."""
        self._rows_until = 0.0
        self._is_outdated = True

    async def newest(self) -> tuple[list[SeenPrinter], Parts]:
        """Return the account's printers, and their parts drawn at most DRAWN_EVERY_S ago."""
        loop = asyncio.get_running_loop()
        async with self._drawing:
            if loop.time() >= self._rows_until:
                self._rows = await self.printers.visible_rows(self.shared_by.account_id)
                self._rows_until = loop.time() + LOOKED_UP_EVERY_S
                self._drawn_until = 0.0
            if loop.time() >= self._drawn_until:
                self._drawn_until = loop.time() + DRAWN_EVERY_S
                self._seen = self.printers.seen(self._rows)
                if self.look is not None:
                    is_outdated, self._is_outdated = self._is_outdated, False
                    await self.look(self._seen, is_outdated)
                self._parts = self.draw(self._seen)
            return self._seen, self._parts


@dataclass(eq=False, slots=True)
class OpenStream:
    """One stream. shared: its parts."""

    shared: SharedParts
    is_ended: bool = False
    _waiting: asyncio.Timeout | None = None

    def end(self) -> None:
        """End it now, or once its reader has taken the message that is being sent."""
        self.is_ended = True
        self.wake()

    def wake(self) -> None:
        """Have it look again now."""
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(0)

    @asynccontextmanager
    async def waiting_until(self, at: float) -> AsyncIterator[None]:
        """Wait within this context until that time of the event loop, or until the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(0 if self.is_ended else at) as self._waiting:
                yield
        self._waiting = None


class OpenPages:
    """The open pages of one process."""

    def __init__(self) -> None:
        self._streams: dict[str, list[OpenStream]] = {}

    def check_room(self, account_id: str) -> None:
        """Raise TooManyRequestsException if not even ending the oldest stream would make room."""
        if len(self._streams.get(account_id, ())) >= MAX_STREAMS + MAX_ENDING:
            raise TooManyRequestsException(
                N_("Too many pages of this account are open already. Close one first"),
                headers={"Retry-After": "60"},
            )

    @contextmanager
    def opened(self, shared: SharedParts) -> Iterator[OpenStream]:
        """Register a stream; the oldest one ends if there are too many.

        shared: its parts, unless a page is open already that shares its own. Raises
        TooManyRequestsException.
        """
        account_id = shared.shared_by.account_id
        self.check_room(account_id)
        streams = self._streams.setdefault(account_id, [])
        living = [stream for stream in streams if not stream.is_ended]
        if len(living) >= MAX_STREAMS:
            living[0].end()
        others = (stream.shared for stream in streams)
        stream = OpenStream(
            next((other for other in others if other.shared_by == shared.shared_by), shared)
        )
        streams.append(stream)
        try:
            yield stream
        finally:
            streams.remove(stream)
            if not streams:
                del self._streams[account_id]


def open_pages_of(request: AnyRequest) -> OpenPages:
    """Return the OpenPages of the application."""
    pages: OpenPages = request.app.state.open_pages
    return pages


@dataclass(slots=True)
class Page:
    """An open page. name: what it shows: see SharedBy.

    access: what allows the page; when it ends, the page is told to reload and asks to sign in.
    draw, look: see SharedParts. needs_you: the template of the count in the navigation. watched:
    the printers whose changes show on it. shows_lock: whether the page says that remote control is
    locked; it reloads when that is no longer true.
    """

    pages: OpenPages
    services: Services
    access: Access
    name: str
    watched: frozenset[OwnedPrinter]
    draw: Draw
    needs_you: Part
    every_s: float = POLL_INTERVAL_S
    look: Look | None = None
    shows_lock: bool = False
    _sent: dict[str, str] = field(default_factory=dict)
    _states: dict[str, str] = field(default_factory=dict)
    _roles: dict[str, Role] = field(default_factory=dict)
    _warned: frozenset[str] = frozenset()

    def stream(self) -> ServerSentEvent:
        """Return the response to the page's script. Raises TooManyRequestsException."""
        self.pages.check_room(self.access.account_id)
        return sse_response(self._while_allowed())

    async def _while_allowed(self) -> AsyncIterator[ServerSentEventMessage]:
        events = self.services.leases.pieces(self.access, self._events())
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        except AccessEnded:
            yield page_event("reload", {})

    async def _events(self) -> AsyncGenerator[ServerSentEventMessage, None]:
        services, account_id = self.services, self.access.account_id
        shared_by = SharedBy(
            account_id=account_id,
            name=self.name,
            watched=self.watched,
            shows_lock=self.shows_lock,
        )
        shared = SharedParts(services.own_printers, shared_by, self._drawn, self.look)
        subscription = services.live_status.subscribe(self.watched, self.every_s)
        others = services.live_status.subscribe(await self._others(), OTHERS_EVERY_S)
        loop = asyncio.get_running_loop()
        ends_at, heartbeat_at = loop.time() + MAX_STREAM_S, loop.time()
        is_changed = True
        wanted = [
            Notice(topic, printer.printer_id) for printer in self.watched for topic in _OF_PRINTER
        ]

        def on_notice(notice: Notice) -> None:
            nonlocal is_changed
            if notice.topic is Topic.ACCOUNT:
                is_changed = True
            else:
                stream.shared.look_up_again()
            stream.wake()

        unsubscribe: Callable[[], None] | None = None
        try:
            with self.pages.opened(shared) as stream:
                unsubscribe = self.services.leases.bus.subscribe(
                    on_notice, Notice(Topic.ACCOUNT, account_id), *wanted
                )
                while loop.time() < ends_at and not stream.is_ended:
                    if loop.time() >= heartbeat_at:
                        heartbeat_at = loop.time() + HEARTBEAT_S
                        yield _heartbeat(RETRY_MS)
                        is_changed = True  # a notice may be lost
                    if is_changed:
                        is_changed = False
                        if await self._is_locked() != self.shows_lock:
                            self.shows_lock = not self.shows_lock
                            yield page_event("reload", {})
                    for event in self._changes(*await stream.shared.newest()):
                        yield event
                    async with stream.waiting_until(heartbeat_at):
                        await subscription.next_readings()
                    await asyncio.sleep(DRAWN_EVERY_S)
                if stream.is_ended:
                    yield _heartbeat(RETRY_WHEN_ENDED_MS)
        finally:
            subscription.close()
            others.close()
            if unsubscribe is not None:
                unsubscribe()

    def _drawn(self, printers: list[SeenPrinter]) -> Parts:
        """Draw the page's parts, and the count of printers that need somebody in its navigation."""
        count = count_in_need(printers, self.services.clock.now())
        counts = {
            f"needs-you-{place}": self.needs_you.render(place=place, count=count)
            for place in PLACES_OF_COUNT
        }
        return {**self.draw(printers), **counts}

    async def _others(self) -> list[OwnedPrinter]:
        """Return the other printers that the account sees, which the navigation counts."""
        rows = await self.services.own_printers.visible_rows(self.access.account_id)
        return [row.printer.owned for row in rows if row.printer.owned not in self.watched]

    async def _is_locked(self) -> bool:
        account_id = self.access.account_id
        account = await self.services.accounts.get(account_id)
        return account is not None and account.is_locked

    def _changes(self, printers: list[SeenPrinter], parts: Parts) -> list[ServerSentEventMessage]:
        roles = {
            seen.printer.printer_id: seen.role
            for seen in printers
            if seen.printer.owned in self.watched
        }
        is_other = parts.keys() != self._sent.keys() or roles != self._roles
        self._roles = roles
        if self._sent and is_other:
            self._sent = dict(parts)
            return [page_event("reload", {})]
        changed = [
            page_event("part", {"id": key, "html": html})
            for key, html in parts.items()
            if self._sent.get(key) != html
        ]
        self._sent = dict(parts)
        return [*changed, *self._announcements(printers)]

    def _announcements(self, printers: list[SeenPrinter]) -> list[ServerSentEventMessage]:
        """Return the sentences for screen readers: a state has changed, or a warning came."""
        at = self.services.clock.now()
        states = {
            seen.printer.printer_id: (seen.printer.name, state_of(seen, at))
            for seen in printers
            if seen.printer.owned in self.watched
        }
        words = [
            _("%(name)s is %(words)s.", name=name, words=translate(_WORDS[state.badge]))
            for key, (name, state) in states.items()
            if self._states.get(key, state.badge) != state.badge
        ]
        warned = {key: name for key, (name, state) in states.items() if state.is_warned}
        if self._states:  # the page already shows what was so before it opened
            words += [
                _("Possible failure: look at %(warned)s.", warned=warned[key])
                for key in warned.keys() - self._warned
            ]
        self._warned = frozenset(warned)
        self._states = {key: state.badge for key, (_, state) in states.items()}
        return [page_event("say", {"words": sentence}) for sentence in words]


_WORDS: Final = {
    "idle": N_("idle"),
    "warmingup": N_("warming up"),
    "printing": N_("printing"),
    "paused": N_("paused"),
    "resuming": N_("resuming"),
    "complete": N_("done"),
    "cancelled": N_("stopped"),
    "error": N_("in error"),
    OFFLINE: N_("offline"),
}


def templates_of(request: AnyRequest) -> Environment:
    """Return the application's template engine, for parts of pages."""
    engine = request.app.template_engine
    assert isinstance(engine, JinjaTemplateEngine), "web.app sets it up"
    return engine.engine


def _heartbeat(retry_ms: int) -> ServerSentEventMessage:
    return ServerSentEventMessage(event="beat", data="{}", retry=retry_ms)


def page_event(kind: str, data: Mapping[str, Any]) -> ServerSentEventMessage:
    """Format an event for the script of a page: see web/scripts/parts/live.ts."""
    return ServerSentEventMessage(event=kind, data=encode(data).decode())
