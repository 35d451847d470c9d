"""Joins small writes to a peer that is slow to read.

A transport keeps an object for each write, some 75 bytes beside its data. What comes byte by byte,
such as a printer's answer to a caller that does not read, would hold that for each byte.
"""

import asyncio
from typing import Final

SMALL_BYTES: Final = 1024
"""A write below this size is held back while the peer has not read earlier ones."""
BACKLOG_BYTES: Final = 4096
"""Unsent bytes of the transport above which a peer counts as slow."""
MAX_HELD_BYTES: Final = 16 * 1024
FIRST_WAIT_S: Final = 0.01
LONGEST_WAIT_S: Final = 1.0
"""Waits double up to this while the peer does not read: small writes that go on for hours then make
one object a second."""


class SmallWrites:
    """Writes to a transport, and joins what is small while much is unsent.

    is_waiting: what is held will be handed to the transport soon, whether the peer reads or not.
    """

    __slots__ = ("_held", "_loop", "_transport", "_wait_s", "is_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()
        self._wait_s = FIRST_WAIT_S
        self.is_waiting = False

    def write(self, data: bytes) -> None:
        if self._held:
            self._held += data
            if len(self._held) >= MAX_HELD_BYTES:
                self.flush()
        elif len(data) < SMALL_BYTES and self._has_backlog:
            self._held += data
            if not self.is_waiting:
                self.is_waiting = True
                # A peer that reads has read most of it by the next turn of the loop.
                self._loop.call_soon(self._on_next_turn)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Hand everything to the transport, as before it is closed."""
        if self._held:
            held, self._held = self._held, bytearray()
            self._transport.write(held)

    @property
    def _has_backlog(self) -> bool:
        return self._transport.get_write_buffer_size() > BACKLOG_BYTES

    def _on_next_turn(self) -> None:
        if not (self._held and self._has_backlog):
            self._wait_s = FIRST_WAIT_S
            self._on_wait_over()
            return
        self._loop.call_later(self._wait_s, self._on_wait_over)
        self._wait_s = min(2 * self._wait_s, LONGEST_WAIT_S)

    def _on_wait_over(self) -> None:
        self.is_waiting = False
        if not self._transport.is_closing():
            self.flush()
