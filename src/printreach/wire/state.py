"""What an end knows of its tunnel and of each stream, and the rules that follow from it.

Session (calls in, bytes out) and Receiver (bytes in, events out) share one TunnelState.
"""

from .errors import CloseCode, LocalProtocolError, RemoteProtocolError
from .frames import MAX_CREDIT_BYTES


class StreamState:
    """One stream as one end sees it: what may still travel each way, and how many body bytes.

    Credit goes back when a quarter of the window has been taken: a busy stream costs one small
    frame per quarter and seldom waits for it.
    """

    __slots__ = (
        "_owed",
        "_room",
        "_window",
        "credit",
        "head_seen",
        "head_sent",
        "local_open",
        "remote_open",
    )

    def __init__(self, credit: int, window: int, *, opened_here: bool) -> None:
        self.credit = credit  # body bytes that we may still send
        self._window = window
        self._room = window  # body bytes that the other end may still send
        self._owed = 0  # taken by the application, not yet granted again
        self.local_open = True
        self.remote_open = True
        # An OPEN carries the head of its direction.
        self.head_sent = opened_here
        self.head_seen = not opened_here

    def spend(self, size: int) -> None:
        """size body bytes are being sent."""
        if size > self.credit:
            raise LocalProtocolError(f"{size} bytes sent with {self.credit} of credit")
        self.credit -= size

    def grant(self, size: int) -> None:
        """The other end lets us send size more bytes."""
        if size == 0 or self.credit + size > MAX_CREDIT_BYTES:
            raise RemoteProtocolError(CloseCode.BAD_CREDIT, f"a grant of {size} bytes")
        self.credit += size

    def arrived(self, size: int) -> None:
        """size body bytes came."""
        if size > self._room:
            text = f"{size} bytes came with {self._room} of credit"
            raise RemoteProtocolError(CloseCode.WINDOW_OVERRUN, text)
        self._room -= size

    def taken(self, size: int) -> int:
        """Bytes of credit to return now, 0 while it is not worth a frame."""
        untaken = self._window - self._room - self._owed
        if size > untaken:
            raise LocalProtocolError(f"{size} bytes taken of {untaken}")
        self._owed += size
        if 4 * self._owed < self._window:
            return 0
        owed, self._owed = self._owed, 0
        self._room += owed
        return owed


class TunnelState:
    """The open streams by id, and how far the tunnel itself has come."""

    __slots__ = (
        "closed",
        "draining",
        "last_opened",
        "peer_draining",
        "peer_window",
        "pong",
        "streams",
        "window",
    )

    def __init__(self, window: int) -> None:
        self.window = window
        self.peer_window = 0  # until its HELLO arrived
        self.streams: dict[int, StreamState] = {}
        self.last_opened = 0  # ids rise: up to here, what is not in streams has ended
        self.draining = False
        self.peer_draining = False
        self.closed = False
        self.pong = b""  # one at most, however many pings come while the link is congested

    def add(self, stream: int, *, opened_here: bool) -> StreamState:
        state = StreamState(self.peer_window, self.window, opened_here=opened_here)
        self.streams[stream] = state
        self.last_opened = stream
        return state

    def writable(self, stream: int) -> StreamState:
        state = self.streams.get(stream)
        if state is None or not state.local_open or self.closed:
            raise LocalProtocolError(f"stream {stream} is not open for sending")
        return state

    def known(self, stream: int) -> StreamState | None:
        """The stream, or None when it ended lately; an id that never was is their fault."""
        state = self.streams.get(stream)
        if state is None and (stream == 0 or stream > self.last_opened):
            raise RemoteProtocolError(CloseCode.UNKNOWN_STREAM, f"stream {stream} was never opened")
        return state

    def readable(self, stream: int) -> StreamState | None:
        """The same, for a frame of the body or head: nothing of those follows a FIN."""
        state = self.known(stream)
        if state is not None and not state.remote_open:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"stream {stream} had its FIN")
        return state

    def end_local(self, stream: int, state: StreamState) -> None:
        """Our FIN was sent; a stream with both is forgotten."""
        state.local_open = False
        if not state.remote_open:
            del self.streams[stream]

    def end_remote(self, stream: int, state: StreamState) -> None:
        """Their FIN came; a stream with both is forgotten."""
        state.remote_open = False
        if not state.local_open:
            del self.streams[stream]
