"""Has a caller left? TCP tells alike of one that only ends its side and of one that is gone."""

import select
import socket

_GONE = select.POLLHUP | select.POLLERR if hasattr(select, "POLLRDHUP") else 0
_ENDED = select.POLLRDHUP if hasattr(select, "POLLRDHUP") else 0


class DisconnectDetector:
    """Watches one caller. A reset is noticed at once, and so is what breaks on writing.

    A caller that ends its side behind a whole request is owed the answer. But where nothing is
    written to it for a while it counts as gone: else a printer would work for nobody.
    """

    __slots__ = ("_timeout_s", "has_ended", "silent_since")

    def __init__(self, timeout_s: float) -> None:
        self.has_ended = False
        """It has ended its side, and all that it sent was read."""
        self._timeout_s = timeout_s
        self.silent_since = 0.0
        """When it was first looked at without anything being written; 0 after a write."""

    def has_left(self, sock: socket.socket | None, now: float, *, is_paused: bool) -> bool:
        """is_paused: nobody reads from it, so the end of its side may not have been read yet."""
        events = _events_of(sock) if is_paused else 0
        if events & _GONE:
            return True
        if not self.has_ended and not events & _ENDED:
            self.silent_since = 0.0
            return False
        if not self.silent_since:
            self.silent_since = now
        return now >= self.silent_since + self._timeout_s


def _events_of(sock: socket.socket | None) -> int:
    if sock is None or not _GONE or sock.fileno() < 0:
        return 0
    poll = select.poll()
    poll.register(sock.fileno(), _GONE | _ENDED)
    return next((events for _, events in poll.poll(0)), 0)
