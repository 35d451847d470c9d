"""Bodies that are read at the same time: how much memory they take together, and for how long.

Callers cost nothing, so whoever sends slowly from many of them must not keep others out: where
there is no room left, the body that is being read for longest makes room. Those that come at an
ordinary pace are read in a blink, and are never that one.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field


class TooManyBodies(Exception):
    """There are too many bodies; come back later."""


class TooSlow(Exception):
    """The body did not come in time."""


@dataclass(eq=False, slots=True)
class Body:
    """One body. caller: whose it is. size: the bytes that it takes."""

    limiter: "BodyLimiter"
    caller: str
    size: int = 0
    timeout: asyncio.Timeout | None = None
    is_evicted: bool = False

    def grow(self, by: int) -> None:
        """Take more memory. Raises NoRoom."""
        if self.is_evicted:
            raise TooManyBodies
        self.limiter.reserve(by)
        if self.is_evicted:  # it was itself the slowest
            raise TooManyBodies
        self.size += by

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """While it is read, it may have to make room. Raises NoRoom and TooSlow."""
        try:
            async with asyncio.timeout(self.limiter.timeout_s) as self.timeout:
                yield
        except TimeoutError:
            raise (TooManyBodies if self.is_evicted else TooSlow) from None
        finally:
            self.timeout = None

    def evict(self) -> None:
        """Make room, at once; who reads it is told with the next turn of the event loop."""
        assert self.timeout is not None, "only what is being read is given up"
        self.is_evicted, self.size = True, 0
        if not self.timeout.expired():  # its time may have run out in this very turn
            self.timeout.reschedule(0)


@dataclass(slots=True, kw_only=True)
class BodyLimiter:
    """The memory for all bodies of one kind.

    most_bytes: of all of them together. most_of_caller: bodies of one caller at once; None for any
    number. patience_s: from a body's first byte to its last.
    """

    most_bytes: int
    most_of_caller: int | None
    timeout_s: float
    _bodies: list[Body] = field(default_factory=list)

    @contextmanager
    def admit(self, caller: str) -> Iterator[Body]:
        """A body, until nobody needs its bytes any more. Raises NoRoom."""
        if self.most_of_caller is not None and self._count(caller) >= self.most_of_caller:
            raise TooManyBodies
        body = Body(self, caller)
        self._bodies.append(body)
        try:
            yield body
        finally:
            self._bodies.remove(body)

    def reserve(self, size: int) -> None:
        """Have so many bytes free. Raises NoRoom."""
        while sum(body.size for body in self._bodies) + size > self.most_bytes:
            slowest = next((one for one in self._bodies if one.timeout and one.size), None)
            if slowest is None:
                raise TooManyBodies
            slowest.evict()

    def _count(self, caller: str) -> int:
        return sum(body.caller == caller for body in self._bodies)
