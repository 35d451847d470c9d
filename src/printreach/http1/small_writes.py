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
LONGEST_WAIT_S: Final = 0.1
_FIRST_WAIT_S: Final = 0.005


class SmallWrites:
    """Writes to a transport, and joins what is small while much is unsent.

    is_waiting: it will look again soon whether the transport has sent enough.
    """

    __slots__ = ("_held", "_loop", "_transport", "is_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()
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
                self._loop.call_soon(self._on_wait_over, _FIRST_WAIT_S)
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

    def _on_wait_over(self, next_wait_s: float) -> None:
        if self._held and self._has_backlog and not self._transport.is_closing():
            longer_s = min(2 * next_wait_s, LONGEST_WAIT_S)
            self._loop.call_later(next_wait_s, self._on_wait_over, longer_s)
            return
        self.is_waiting = False
        if not self._transport.is_closing():
            self.flush()
