"""The open pages of an account: their limit, and the parts that they share.

Each open page has an event stream. Pages that show the same are drawn once for all of them. When an
account has as many streams as allowed, a new page ends the oldest one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from litestar.exceptions import TooManyRequestsException

from printreach.hub.printers.own import OwnPrinters, SeenPrinter
from printreach.store.listings import PrinterRow
from printreach.web.problems import AnyRequest

MAX_STREAMS: Final = 20
"""Streams of an account at once in one process; as many as of the events API."""
MAX_ENDING: Final = 20
"""Ended streams that are not closed yet, since their readers are slow."""
DRAWN_EVERY_S: Final = 0.5
"""Printers answer one by one; a page is drawn for several at once."""
LOOKED_UP_EVERY_S: Final = 15.0
"""Interval at which the account's printers are looked up."""

Parts: TypeAlias = Mapping[str, str]
"""From an element's id to its HTML."""
Draw: TypeAlias = Callable[[list[SeenPrinter]], Parts]
Look: TypeAlias = Callable[[list[SeenPrinter]], Awaitable[None]]


@dataclass(slots=True)
class SharedParts:
    """The parts of all pages of an account that show the same.

    draw: draws the parts from the current state of all of the account's printers. look: awaited
    before each drawing, to read what the parts show beside the printers.
    """

    printers: OwnPrinters
    account_id: str
    draw: Draw
    look: Look | None = None
    _seen: list[SeenPrinter] = field(default_factory=list)
    _parts: Parts = field(default_factory=dict)
    _rows: list[PrinterRow] = field(default_factory=list)
    _drawn_until: float = 0.0
    _rows_until: float = 0.0
    _drawing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def newest(self) -> tuple[list[SeenPrinter], Parts]:
        """Return the account's printers, and their parts drawn at most DRAWN_EVERY_S ago."""
        loop = asyncio.get_running_loop()
        async with self._drawing:
            if loop.time() >= self._rows_until:
                self._rows = await self.printers.rows(self.account_id)
                self._rows_until = loop.time() + LOOKED_UP_EVERY_S
                self._drawn_until = 0.0
            if loop.time() >= self._drawn_until:
                self._drawn_until = loop.time() + DRAWN_EVERY_S
                self._seen = self.printers.seen(self._rows)
                if self.look is not None:
                    await self.look(self._seen)
                self._parts = self.draw(self._seen)
            return self._seen, self._parts


@dataclass(eq=False, slots=True)
class OpenStream:
    """One stream. name: what its page shows. shared: its parts."""

    name: str
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
                "So many pages of this account are open already. Close one first",
                headers={"Retry-After": "60"},
            )

    @contextmanager
    def opened(self, name: str, shared: SharedParts) -> Iterator[OpenStream]:
        """Register a stream; the oldest one ends if there are too many.

        shared: its parts, unless a page of that name is open already. Raises
        TooManyRequestsException.
        """
        account_id = shared.account_id
        self.check_room(account_id)
        streams = self._streams.setdefault(account_id, [])
        living = [one for one in streams if not one.is_ended]
        if len(living) >= MAX_STREAMS:
            living[0].end()
        same = next((one.shared for one in streams if one.name == name), shared)
        stream = OpenStream(name, same)
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
