"""The open pages of an account: how many there may be, and what they draw together.

Each open page has an event stream. Pages that show the same are drawn once for all of them; and
where an account has as many streams as it may have, a new page ends the oldest one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from litestar.exceptions import TooManyRequestsException

from printreach.hub.own_printers import OwnPrinters, SeenPrinter
from printreach.ports import PrinterRow
from printreach.web.problems import AnyRequest

MOST_STREAMS: Final = 20
"""Of an account at once, in one process; as many as of the events API."""
MOST_ENDING: Final = 20
"""Streams that were ended and are not over yet, since their readers are slow."""
DRAWN_EVERY_S: Final = 0.5
"""Printers answer one by one; a page is drawn for several at once."""
LOOKED_UP_EVERY_S: Final = 15.0
"""So often it is looked which printers the account has."""

Parts: TypeAlias = Mapping[str, str]
"""HTML by the id of the element that it is."""
Draw: TypeAlias = Callable[[list[SeenPrinter]], Parts]
Look: TypeAlias = Callable[[list[SeenPrinter]], Awaitable[None]]


@dataclass(slots=True)
class SharedParts:
    """The parts of all pages of an account that show the same.

    draw: the parts, of all the account's printers as they are now. look: awaited before each
    drawing, for what the parts show beside the printers.
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
        """The account's printers, and the parts drawn of them DRAWN_EVERY_S ago at most."""
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
        """Have it end now, or as soon as its reader has taken what is being sent."""
        self.is_ended = True
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(0)

    @asynccontextmanager
    async def waiting_until(self, at: float) -> AsyncIterator[None]:
        """Wait for something within, until that time of the event loop or the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(0 if self.is_ended else at) as self._waiting:
                yield
        self._waiting = None


class OpenPages:
    """Those of one process."""

    def __init__(self) -> None:
        self._streams: dict[str, list[OpenStream]] = {}

    def check_room(self, account_id: str) -> None:
        """Raises TooManyRequestsException where not even an end of the oldest makes room."""
        if len(self._streams.get(account_id, ())) >= MOST_STREAMS + MOST_ENDING:
            raise TooManyRequestsException(
                "So many pages of this account are open already. Close one first",
                headers={"Retry-After": "60"},
            )

    @contextmanager
    def opened(self, name: str, shared: SharedParts) -> Iterator[OpenStream]:
        """Count a stream in; the oldest one ends where there are too many.

        shared: what it draws, unless a page of that name is open already. Raises
        TooManyRequestsException.
        """
        account_id = shared.account_id
        self.check_room(account_id)
        streams = self._streams.setdefault(account_id, [])
        living = [one for one in streams if not one.is_ended]
        if len(living) >= MOST_STREAMS:
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
    """Those of the application that answers."""
    pages: OpenPages = request.app.state.open_pages
    return pages
