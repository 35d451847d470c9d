"""Throws away requests that waited in a socket while this machine was suspended."""

import asyncio
from collections.abc import Callable

from printreach.tunnel.link import Link, LinkReceiver

TICK_S = 1.0
ASLEEP_S = 5.0
"""A loop that was stalled this long was suspended: no step of the agent takes a second."""


class SuspendAwareLink:
    """A link that closes when the process was frozen or the machine suspended.

    The service has answered its callers long ago that the printer did not respond. If the requests
    in the socket were carried out on waking, a print might start by itself.
    """

    def __init__(self, link: Link, steady_time: Callable[[], float]) -> None:
        self._link = link
        self._now = steady_time  # unlike the loop's, it counts while the machine is suspended
        self._receiver: LinkReceiver | None = None
        self._loop = asyncio.get_running_loop()
        self._ticked_at = self._now()
        self._timer = self._loop.call_later(TICK_S, self._tick)

    # --- Link ---------------------------------------------------------------------------------

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver
        self._link.start(self)

    def send(self, message: bytes) -> None:
        self._link.send(message)

    def close(self) -> None:
        self._link.close()

    def abort(self) -> None:
        self._link.abort()

    # --- LinkReceiver -------------------------------------------------------------------------

    def on_link_message(self, data: bytes | memoryview) -> int:
        if self._now() - self._ticked_at > ASLEEP_S:
            self._wake()
        elif self._receiver is not None:
            return self._receiver.on_link_message(data)
        return 0

    def on_link_congested(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_congested()

    def on_link_clear(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_clear()

    def on_link_lost(self, detail: str) -> None:
        self._timer.cancel()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_link_lost(detail)

    def _wake(self) -> None:
        self.on_link_lost("this machine was asleep")
        self._link.abort()

    def _tick(self) -> None:
        if self._now() - self._ticked_at > ASLEEP_S:
            self._wake()
            return
        self._ticked_at = self._now()
        self._timer = self._loop.call_later(TICK_S, self._tick)
