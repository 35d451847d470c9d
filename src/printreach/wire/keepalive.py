"""Keepalive of a tunnel: when to ping, and when it has failed. Any received byte shows life."""

from itertools import count
from struct import Struct
from typing import Final

PING_TIMEOUT_S: Final = 8.0
"""Seconds that a ping may stay unanswered. Error 602 means that it stayed so longer."""
BUSY_PING_S: Final = 1.5
"""Silence before a ping while a stream is open: a frozen end is noticed within 10 s of its last
byte."""
SOONER_IDLE_S: Final = 2.5
SOONER_TIMEOUT_S: Final = 5.0
"""The times where another node can take over: one that hangs is noticed within 7.5 s, also while no
stream is open, so that its printers answer again within 10 s."""
STALL_S: Final = 2.0
"""A check that runs this late means that our own process was stalled: unread data may be
pending."""

_NUMBER: Final = Struct(">Q")


class Keepalive:
    """idle_s: seconds of silence before a ping when no stream is open.

    The hub pings after 30 s; the agent, which receives those pings, only after 45 s.
    """

    __slots__ = ("_idle_s", "_numbers", "_pinged_at", "_received_at", "_timeout_s")

    def __init__(self, now: float, idle_s: float) -> None:
        self._idle_s = idle_s
        self._timeout_s = PING_TIMEOUT_S
        self._received_at = now
        self._pinged_at: float | None = None
        self._numbers = count(1)

    def notice_sooner(self) -> None:
        """Notice sooner from now on that the other end has failed."""
        self._idle_s, self._timeout_s = SOONER_IDLE_S, SOONER_TIMEOUT_S

    def on_received(self, now: float) -> None:
        """Note that bytes came from the other end."""
        self._received_at = now
        self._pinged_at = None

    def ping(self, now: float) -> bytes:
        """Return the ping's 8 bytes; its answer is awaited from now on."""
        self._pinged_at = now
        return _NUMBER.pack(next(self._numbers))

    def ping_is_due(self, now: float, *, busy: bool) -> bool:
        return self._pinged_at is None and now >= self._received_at + self._silence_allowed_s(busy)

    def is_silent(self, now: float) -> bool:
        return self._pinged_at is not None and now >= self._pinged_at + self._timeout_s

    def extend_after_stall(self, now: float) -> None:
        """Wait at least STALL_S more for the answer, because this end was stalled."""
        if self._pinged_at is not None:
            self._pinged_at = max(self._pinged_at, now - self._timeout_s + STALL_S)

    def silent_for(self, now: float) -> float:
        return now - self._received_at

    def next_deadline(self, *, busy: bool) -> float:
        if self._pinged_at is not None:
            return self._pinged_at + self._timeout_s
        return self._received_at + self._silence_allowed_s(busy)

    def _silence_allowed_s(self, busy: bool) -> float:
        return BUSY_PING_S if busy else self._idle_s
