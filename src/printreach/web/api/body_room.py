"""Bodies that are read at the same time: how much memory they take together, and for how long.

Accounts cost nothing, so whoever sends slowly from many of them must not keep others out: where
there is no room left, the body that is being read for longest makes room. Those that come at an
ordinary pace are read in a blink, and are never that one.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

MOST_BYTES: Final = 96 * 1024 * 1024
"""Of all bodies; sixteen of the largest."""
MOST_OF_ACCOUNT: Final = 16
"""Bodies of one account. Two hundred printers send ten images a second."""
PATIENCE_S: Final = 60.0
"""From a body's first byte to its last: 6 MiB at less than 1 Mbit/s."""


class NoRoom(Exception):
    """There are too many bodies; come back later."""


class TooSlow(Exception):
    """The body did not come in time."""


@dataclass(eq=False, slots=True)
class Body:
    """One body. size: the bytes that it takes."""

    room: "BodyRoom"
    account_id: str
    size: int = 0
    patience: asyncio.Timeout | None = None
    is_given_up: bool = False

    def grow(self, by: int) -> None:
        """Take more memory. Raises NoRoom."""
        if self.is_given_up:
            raise NoRoom
        self.room.make_room(by)
        if self.is_given_up:  # it was itself the slowest
            raise NoRoom
        self.size += by

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """While it is read, it may have to make room. Raises NoRoom and TooSlow."""
        try:
            async with asyncio.timeout(PATIENCE_S) as self.patience:
                yield
        except TimeoutError:
            raise (NoRoom if self.is_given_up else TooSlow) from None
        finally:
            self.patience = None

    def give_up(self) -> None:
        """Make room, at once; who reads it is told with the next turn of the event loop."""
        assert self.patience is not None, "only what is being read is given up"
        self.is_given_up, self.size = True, 0
        if not self.patience.expired():  # it may have lost its patience in this very turn
            self.patience.reschedule(0)


@dataclass(slots=True)
class BodyRoom:
    """The memory for all of them."""

    most_bytes: int = MOST_BYTES
    most_of_account: int = MOST_OF_ACCOUNT
    _bodies: list[Body] = field(default_factory=list)

    @contextmanager
    def body_of(self, account_id: str) -> Iterator[Body]:
        """A body, until nobody needs its bytes any more. Raises NoRoom."""
        if sum(body.account_id == account_id for body in self._bodies) >= self.most_of_account:
            raise NoRoom
        body = Body(self, account_id)
        self._bodies.append(body)
        try:
            yield body
        finally:
            self._bodies.remove(body)

    def make_room(self, size: int) -> None:
        """Have so many bytes free. Raises NoRoom."""
        while sum(body.size for body in self._bodies) + size > self.most_bytes:
            slowest = next((one for one in self._bodies if one.patience and one.size), None)
            if slowest is None:
                raise NoRoom
            slowest.give_up()
