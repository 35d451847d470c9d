"""A link with a narrow uplink: a buffer with a high-water mark, and N bytes a second."""

import asyncio
from collections import deque

from printreach.tunnel.link import LinkReceiver

LOW_SHARE = 4  # as asyncio's transports have it: clear again at a quarter of the high mark


class PacedLink:
    """One end of paced_link_pair(). bytes_per_s holds for what this end sends."""

    def __init__(self, bytes_per_s: float, high_water: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._bytes_per_s = bytes_per_s
        self._high_water = high_water
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._is_congested = False
        self._is_closed = False
        self._receiver: LinkReceiver | None = None
        self.other: PacedLink
        self.largest_size = 0
        self.messages = 0

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver

    def send(self, message: bytes) -> None:
        self.messages += 1
        self._queue.append(message)
        self._size += len(message)
        self.largest_size = max(self.largest_size, self._size)
        if len(self._queue) == 1:
            self._send_next()
        if self._size > self._high_water and not self._is_congested and self._receiver:
            self._is_congested = True
            self._receiver.on_link_congested()

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        for end in (self, self.other):
            self._loop.call_soon(end._lose)

    def _send_next(self) -> None:
        self._loop.call_later(len(self._queue[0]) / self._bytes_per_s, self._sent)

    def _sent(self) -> None:
        message = self._queue.popleft()
        self._size -= len(message)
        if self._queue:
            self._send_next()
        if not self.other._is_closed and self.other._receiver is not None:
            self.other._receiver.on_link_message(message)
        if self._is_congested and self._size <= self._high_water / LOW_SHARE and self._receiver:
            self._is_congested = False
            self._receiver.on_link_clear()

    def _lose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            if self._receiver is not None:
                self._receiver.on_link_lost("the connection was closed")


def paced_link_pair(
    *, bytes_per_s: float, high_water: int = 64 * 1024
) -> tuple[PacedLink, PacedLink]:
    """The same pace both ways."""
    here, there = PacedLink(bytes_per_s, high_water), PacedLink(bytes_per_s, high_water)
    here.other, there.other = there, here
    return here, there
