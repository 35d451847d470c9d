"""The timer that pings the other end of a tunnel; the session decides when it is due."""

import asyncio
from typing import Protocol

from printreach.wire.session import Session

from .shared_timer import Timer, Timers


class KeepaliveHandler(Protocol):
    """Callbacks of a KeepaliveTimer, called on the event loop."""

    def on_ping(self) -> None:
        """A ping waits in the session's output."""

    def on_silence(self, silent_s: float) -> None:
        """The other end left a ping unanswered; the timer has ended."""


class KeepaliveTimer:
    """The keepalive timer of one tunnel.

    is_waiting: a ping may be unanswered; call `on_received` with the next message.
    idle_timers: where timers are set while no stream is open; the loop by default.
    """

    __slots__ = ("_at", "_handler", "_idle_timers", "_loop", "_session", "_timer", "is_waiting")

    def __init__(
        self, session: Session, handler: KeepaliveHandler, idle_timers: Timers | None
    ) -> None:
        self.is_waiting = False
        self._session = session
        self._handler: KeepaliveHandler | None = handler
        self._loop = asyncio.get_running_loop()
        self._idle_timers: Timers = idle_timers or self._loop
        self._timer: Timer | None = None
        self._at = 0.0  # uvloop's handle of what is due at once does not know

    def begin(self) -> None:
        """Set the timer to the session's deadline, which may have moved."""
        if self._timer is not None:
            self._timer.cancel()
        self._at = self._session.next_deadline()
        timers = self._loop if self._session.stream_count else self._idle_timers
        self._timer = timers.call_at(self._at, self._look)

    def advance(self) -> None:
        """Set the timer earlier where the deadline is nearer, as with a first stream open."""
        if self._timer is not None and self._at > self._session.next_deadline():
            self.begin()

    def on_received(self) -> None:
        """Restart the timer, because a message came."""
        self.is_waiting = False
        self.begin()

    def end(self) -> None:
        """Stop for good, and forget the handler, which holds this timer."""
        self._handler = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        handler = self._handler
        if handler is None:
            return
        silent = self._session.on_time(self._loop.time())
        if silent is not None:
            self.end()
            handler.on_silence(silent.silent_s)
            return
        self.begin()
        if self._session.has_output:
            self.is_waiting = True
            handler.on_ping()
