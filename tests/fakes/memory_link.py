"""A link in memory, for two ends in one process."""

import asyncio

from printreach.tunnel.link import LinkReceiver


class MemoryLink:
    """One end of memory_link_pair(); delivers in later turns of the loop, as a socket would."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._receiver: LinkReceiver | None = None
        self._early: list[bytes] = []
        self._other: MemoryLink | None = None
        self._lost = ""
        self.is_closed = False

    def join(self, other: "MemoryLink") -> None:
        self._other = other

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.on_link_message(message)
        if self.is_closed:
            receiver.on_link_lost(self._lost)

    def send(self, message: bytes) -> None:
        if not self.is_closed and self._other is not None:
            self._loop.call_soon(self._other.deliver, message)

    def deliver(self, message: bytes) -> None:
        if self._receiver is None:
            self._early.append(message)
        elif not self.is_closed:
            self._receiver.on_link_message(message)

    def congest(self) -> None:
        """Behave like a socket whose buffer is full; for tests."""
        if self._receiver is not None:
            self._receiver.on_link_congested()

    def clear(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_clear()

    def close(self) -> None:
        self._loop.call_soon(self._end, "closed")

    def abort(self) -> None:
        self._end("aborted")

    def _end(self, detail: str) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self._lost = detail
        if self._receiver is not None:
            self._receiver.on_link_lost(detail)
        if self._other is not None:
            self._loop.call_soon(self._other._end, "the other end closed")


def memory_link_pair() -> tuple[MemoryLink, MemoryLink]:
    loop = asyncio.get_running_loop()
    here, there = MemoryLink(loop), MemoryLink(loop)
    here.join(there)
    there.join(here)
    return here, there
