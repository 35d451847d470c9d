"""The state of a tunnel and of each stream at one end, and the transitions between states.

Session (calls in, bytes out) and Receiver (bytes in, events out) share one TunnelState.
"""

import math
from enum import Enum
from typing import Final

from .errors import CloseCode, LocalProtocolError, RemoteProtocolError
from .frames import MAX_CREDIT_BYTES

FAST_BYTES: Final = 1024 * 1024
FAST_WITHIN_S: Final = 0.02
"""A stream is fast if so many bytes are taken of it within this time: a wide window holds no more
than the link then carries in it. What came late, all at once, is a quarter of them at most."""
WIDER: Final = 4
"""By how much the window of a fast stream becomes wider. With 2, half as much was gained."""
MAX_WIDE_STREAMS: Final = 8
"""The most streams of a tunnel with a wider window. Callers of fast streams may stop reading
them, and each then holds a window in our memory."""


class Direction(Enum):
    """The state of one direction of a stream. Each direction passes through these in order."""

    HEAD = "interim heads and the head"
    BODY = "the body"
    ENDED = "nothing: FIN was sent"


# A state's name in its class takes five times as long to look up, and each frame needs some.
HEAD: Final = Direction.HEAD
BODY: Final = Direction.BODY
ENDED: Final = Direction.ENDED


class StreamState:
    """One stream at one end: which frames may still travel each way, and how many body bytes.

    Credit is returned when a quarter of the window has been consumed: a busy stream costs one small
    frame per quarter and seldom waits for it. A fast stream gets a wider window once: without it
    both ends work in turn, and wake each other for each window.
    """

    __slots__ = (
        "_peer_credit",
        "_returned",
        "_returned_since",
        "_unreturned",
        "_window",
        "credit",
        "incoming",
        "is_wide",
        "outgoing",
    )

    def __init__(self, credit: int, window: int, *, opened_here: bool) -> None:
        self.credit = credit  # body bytes that we may still send
        self._window = window
        self._peer_credit = window  # body bytes that the other end may still send
        self._unreturned = 0  # taken by the application, not yet granted again
        self.is_wide = False
        self._returned = 0  # since a time
        self._returned_since = -math.inf
        # An OPEN carries the head of its direction.
        self.outgoing, self.incoming = (BODY, HEAD) if opened_here else (HEAD, BODY)

    def spend(self, size: int) -> None:
        """Subtract size body bytes that are being sent. Raises LocalProtocolError."""
        if size > self.credit:
            raise LocalProtocolError(f"{size} bytes sent with {self.credit} of credit")
        self.credit -= size

    def grant(self, size: int) -> None:
        """Add size bytes that the other end lets us send. Raises RemoteProtocolError."""
        if size == 0 or self.credit + size > MAX_CREDIT_BYTES:
            raise RemoteProtocolError(CloseCode.BAD_CREDIT, f"a grant of {size} bytes")
        self.credit += size

    def arrived(self, size: int) -> None:
        """Subtract size body bytes that came. Raises RemoteProtocolError beyond the window."""
        if size > self._peer_credit:
            text = f"{size} bytes came with {self._peer_credit} of credit"
            raise RemoteProtocolError(CloseCode.WINDOW_OVERRUN, text)
        self._peer_credit -= size

    def taken(self, size: int, tunnel: "TunnelState") -> int:
        """Note size consumed bytes; the credit to return now, or 0 while it is below a quarter."""
        untaken = self._window - self._peer_credit - self._unreturned
        if size > untaken:
            raise LocalProtocolError(f"{size} bytes taken of {untaken}")
        self._unreturned += size
        if 4 * self._unreturned < self._window:
            return 0
        returned, self._unreturned = self._unreturned, 0
        if not self.is_wide:
            returned += self._widened(returned, tunnel)
        self._peer_credit += returned
        return returned

    def _widened(self, returned: int, tunnel: "TunnelState") -> int:
        """Return by how much the window becomes wider, once the stream was fast."""
        self._returned += returned
        if self._returned < FAST_BYTES:
            return 0
        is_fast = tunnel.now - self._returned_since <= FAST_WITHIN_S
        self.is_wide = is_fast and tunnel.wide_count < MAX_WIDE_STREAMS
        self._returned, self._returned_since = 0, tunnel.now
        if not self.is_wide:
            return 0
        widened = (WIDER - 1) * self._window
        self._window += widened
        return widened


class TunnelState:
    """The open streams by id, and the state of the tunnel itself."""

    __slots__ = (
        "closed",
        "draining",
        "last_opened",
        "max_streams",
        "now",
        "peer_draining",
        "peer_window",
        "pong",
        "streams",
        "window",
    )

    def __init__(self, window: int, now: float, max_streams: int) -> None:
        self.now = now  # when the last message came
        self.max_streams = max_streams
        self.window = window
        self.peer_window = 0  # until its HELLO arrived
        self.streams: dict[int, StreamState] = {}
        self.last_opened = 0  # ids rise: a stream up to this id that isn't in `streams` has ended
        self.draining = False
        self.peer_draining = False
        self.closed = False
        self.pong = b""  # one at most, even for many pings while the link is congested

    def add(self, stream: int, *, opened_here: bool) -> StreamState:
        state = StreamState(self.peer_window, self.window, opened_here=opened_here)
        self.streams[stream] = state
        self.last_opened = stream
        return state

    @property
    def wide_count(self) -> int:
        return sum(state.is_wide for state in self.streams.values())

    def writable(self, stream: int) -> StreamState:
        state = self.streams.get(stream)
        if state is None or state.outgoing is ENDED or self.closed:
            raise LocalProtocolError(f"stream {stream} is not open for sending")
        return state

    def known(self, stream: int) -> StreamState | None:
        """Return the stream, or None after it ended.

        Raises RemoteProtocolError for an id that was never opened.
        """
        state = self.streams.get(stream)
        if state is None and (stream == 0 or stream > self.last_opened):
            raise RemoteProtocolError(CloseCode.UNKNOWN_STREAM, f"stream {stream} was never opened")
        return state

    def readable(self, stream: int) -> StreamState | None:
        """Do the same for a frame of head or body. Raises RemoteProtocolError after a FIN."""
        state = self.known(stream)
        if state is not None and state.incoming is ENDED:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"stream {stream} had its FIN")
        return state

    def end_local(self, stream: int, state: StreamState) -> None:
        """Note that our FIN was sent; a stream with both is forgotten."""
        state.outgoing = ENDED
        if state.incoming is ENDED:
            del self.streams[stream]

    def end_remote(self, stream: int, state: StreamState) -> None:
        """Note that their FIN came; a stream with both is forgotten."""
        state.incoming = ENDED
        if state.outgoing is ENDED:
            del self.streams[stream]
