"""Ends of connections: detects that a caller has left, since TCP reports the end of its direction
and its leaving alike, and lets a close of ours be a reset.
"""

import select
import socket
import struct

_RESET = struct.pack("ii", 1, 0)
_GONE = select.POLLHUP | select.POLLERR if hasattr(select, "POLLRDHUP") else 0
_ENDED = select.POLLRDHUP if hasattr(select, "POLLRDHUP") else 0


class DisconnectDetector:
    """Checks one caller. A reset and a failed write are noticed at once.

    A caller that ends its direction after a whole request still gets the answer. If nothing is
    written to it for timeout_s it counts as gone: otherwise a printer would work for no one.
    """

    __slots__ = ("_timeout_s", "silent_since")

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self.silent_since = 0.0
        """The time at which a check first found that nothing was written; 0 after a write."""

    def has_left(
        self, sock: socket.socket | None, now: float, *, has_ended: bool, is_paused: bool
    ) -> bool:
        """Return whether the caller has left.

        has_ended: the end of its direction was read. is_paused: reading is paused, so it may not
        have been read.
        """
        events = _events_of(sock) if is_paused else 0
        if events & _GONE:
            return True
        if not has_ended and not events & _ENDED:
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


def reset_at_close(sock: socket.socket | None) -> None:
    """Have the close of a socket, if it is still open, end its connection with a reset.

    To HTTP/1.0, whose answers may last until the connection closes, a proper end would make a
    broken answer look whole.
    """
    if sock is not None and sock.fileno() >= 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
