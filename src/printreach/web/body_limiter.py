"""Limits on bodies that are read at the same time: their memory, and the time that each may take.

Callers cost an attacker nothing, so slow bodies from many of them must not keep others out: when
the memory is full, the body that has been read for longest is evicted. Bodies at an ordinary pace
are read within moments and are never that one.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field


class TooManyBodies(Exception):
    """There are too many bodies; the caller may retry later."""


class TooSlow(Exception):
    """The body did not arrive in time."""


@dataclass(eq=False, slots=True)
class Body:
    """One body. caller: the id of its sender. size: bytes held."""

    limiter: "BodyLimiter"
    caller: str
    size: int = 0
    timeout: asyncio.Timeout | None = None
    is_evicted: bool = False

    def grow(self, by: int) -> None:
        """Take more memory. Raises TooManyBodies."""
        if self.is_evicted:
            raise TooManyBodies
        self.limiter.reserve(by)
        if self.is_evicted:  # it was itself the slowest and was evicted
            raise TooManyBodies
        self.size += by

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Read within this context; the body may be evicted meanwhile. Raises TooManyBodies and
        TooSlow.
        """
        try:
            async with asyncio.timeout(self.limiter.timeout_s) as self.timeout:
                yield
        except TimeoutError:
            raise (TooManyBodies if self.is_evicted else TooSlow) from None
        finally:
            self.timeout = None

    def evict(self) -> None:
        """Free the memory at once; its reader is cancelled with the next turn of the event loop."""
        assert self.timeout is not None, "only what is being read is given up"
        self.is_evicted, self.size = True, 0
        if not self.timeout.expired():  # its timeout may have expired in this very turn
            self.timeout.reschedule(0)


@dataclass(slots=True, kw_only=True)
class BodyLimiter:
    """Bounds the bodies of one kind.

    max_bytes: of all bodies together. max_per_caller: bodies of one caller at once; None for any
    number. timeout_s: from a body's first byte to its last.
    """

    max_bytes: int
    max_per_caller: int | None
    timeout_s: float
    _bodies: list[Body] = field(default_factory=list)

    @contextmanager
    def admit(self, caller: str) -> Iterator[Body]:
        """Admit a body while its bytes are needed. Raises TooManyBodies."""
        if self.max_per_caller is not None and self._count(caller) >= self.max_per_caller:
            raise TooManyBodies
        body = Body(self, caller)
        self._bodies.append(body)
        try:
            yield body
        finally:
            self._bodies.remove(body)

    def reserve(self, size: int) -> None:
        """Free `size` bytes. Raises TooManyBodies."""
        while sum(body.size for body in self._bodies) + size > self.max_bytes:
            slowest = next((body for body in self._bodies if body.timeout and body.size), None)
            if slowest is None:
                raise TooManyBodies
            slowest.evict()

    def _count(self, caller: str) -> int:
        return sum(body.caller == caller for body in self._bodies)
