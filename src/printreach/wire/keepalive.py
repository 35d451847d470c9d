"""When to ping, and when the other end counts as gone. Any byte from it is a sign of life."""

from itertools import count
from struct import Struct

PING_TIMEOUT_S = 8.0
"""602 means that the tunnel's pings went unanswered for 8 s."""
BUSY_PING_S = 1.5
"""With a stream open, so that a frozen end is found within 10 s of the last sign of life."""
STANDSTILL_S = 2.0
"""Who looks so much too late has stood still itself, and has yet to read what came meanwhile."""

_NUMBER = Struct(">Q")


class Keepalive:
    """idle_s: seconds of silence before a ping when no stream is open.

    The hub pings after 30 s; the agent, which hears those pings, only after 45 s.
    """

    __slots__ = ("_heard_at", "_idle_s", "_numbers", "_pinged_at")

    def __init__(self, now: float, idle_s: float) -> None:
        self._idle_s = idle_s
        self._heard_at = now
        self._pinged_at: float | None = None
        self._numbers = count(1)

    def heard(self, now: float) -> None:
        self._heard_at = now
        self._pinged_at = None

    def ping(self, now: float) -> bytes:
        """The ping's 8 bytes; its answer is awaited from now on."""
        self._pinged_at = now
        return _NUMBER.pack(next(self._numbers))

    def ping_is_due(self, now: float, *, busy: bool) -> bool:
        return self._pinged_at is None and now >= self._heard_at + self._patience_s(busy)

    def is_silent(self, now: float) -> bool:
        return self._pinged_at is not None and now >= self._pinged_at + PING_TIMEOUT_S

    def stood_still(self, now: float) -> None:
        """This end did: an answer has STANDSTILL_S more, to be read or to come."""
        if self._pinged_at is not None:
            self._pinged_at = max(self._pinged_at, now - PING_TIMEOUT_S + STANDSTILL_S)

    def silent_for(self, now: float) -> float:
        return now - self._heard_at

    def next_deadline(self, *, busy: bool) -> float:
        if self._pinged_at is not None:
            return self._pinged_at + PING_TIMEOUT_S
        return self._heard_at + self._patience_s(busy)

    def _patience_s(self, busy: bool) -> float:
        return BUSY_PING_S if busy else self._idle_s
