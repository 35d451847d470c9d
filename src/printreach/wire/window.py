"""Credit: how many body bytes may still travel on a stream, each way; and what a stream is."""

from .errors import CloseCode, LocalProtocolError, RemoteProtocolError
from .frames import MAX_CREDIT_BYTES


class SendWindow:
    """What we may still send on one stream."""

    __slots__ = ("credit",)

    def __init__(self, credit: int) -> None:
        self.credit = credit

    def spend(self, size: int) -> None:
        if size > self.credit:
            raise LocalProtocolError(f"{size} bytes sent with {self.credit} of credit")
        self.credit -= size

    def grant(self, size: int) -> None:
        if size == 0 or self.credit + size > MAX_CREDIT_BYTES:
            raise RemoteProtocolError(CloseCode.BAD_CREDIT, f"a grant of {size} bytes")
        self.credit += size


class ReceiveWindow:
    """What the other end may still send us, and what we owe it back.

    Credit goes back when half of the window has been taken, so that a busy stream costs one small
    frame per half window and never waits for it.
    """

    __slots__ = ("_owed", "_room", "_window")

    def __init__(self, window: int) -> None:
        self._window = window
        self._room = window
        self._owed = 0

    def arrived(self, size: int) -> None:
        if size > self._room:
            raise RemoteProtocolError(
                CloseCode.WINDOW_OVERRUN, f"{size} bytes came with {self._room} of credit"
            )
        self._room -= size

    def taken(self, size: int) -> int:
        """Bytes of credit to return now, 0 while it is not worth a frame."""
        untaken = self._window - self._room - self._owed
        if size > untaken:
            raise LocalProtocolError(f"{size} bytes taken of {untaken}")
        self._owed += size
        if 2 * self._owed < self._window:
            return 0
        owed, self._owed = self._owed, 0
        self._room += owed
        return owed


class StreamState:
    """One stream as one end sees it."""

    __slots__ = ("head_seen", "head_sent", "incoming", "local_open", "outgoing", "remote_open")

    def __init__(self, send_credit: int, window: int) -> None:
        self.outgoing = SendWindow(send_credit)
        self.incoming = ReceiveWindow(window)
        self.local_open = True
        self.remote_open = True
        self.head_sent = False
        self.head_seen = False
