"""One stream of a webcam for all who watch it: asked for once, written to each.

Each caller's request goes to the printer, and each gets the head that the printer answered it
with: its own status, cookies and refusal. What is shared is only what follows. When the answer
turns out to be a webcam's stream, and somebody watches already who asked the same printer in the
same words, credentials and cookies included, and was answered with the same content type, then the
second stream is ended and its caller sees the pictures of the first. The printer could not have
told the two requests apart, so it shows both the same camera. As the Host is one of those words, a
feed serves one connection; where ports stand for connections, perhaps several of one printer.

The parts of such a stream replace each other, so a viewer that is slow misses whole ones instead of
slowing the others. One who watches alone misses nothing: the stream goes as fast as it is taken,
and the camera itself leaves out what doesn't fit on the way.
"""

from typing import NamedTuple, Protocol

from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import Reason

from .webcam_frames import FrameCutter, Piece

MAX_FRAME_BYTES = 1024 * 1024
"""About what a 4K picture has. It is what a viewer may have waiting beyond the usual; a stream with
larger frames, or without any, is not shared."""
KEPT_FRAME_BYTES = 256 * 1024
"""What a stream may have under way in the tunnel as well. Of larger frames none is kept for those
who come late: they wait for the next."""


class Sight(NamedTuple):
    """What makes two streams the same: how it was asked for, and how that was answered.

    fields: all header lines that the printer was sent of the caller's.
    """

    tunnel: Tunnel
    target: bytes
    fields: bytes
    content_type: bytes


class Viewer(Protocol):
    """An exchange whose caller watches. It says by Seat.taken when it has room again."""

    def on_shared(self, piece: Piece) -> bool:
        """Pass it on. False: no room for more."""

    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_reset(self, reason: Reason, text: str) -> None: ...


class Feeds:
    """The webcams that are being watched."""

    def __init__(self) -> None:
        self._feeds: dict[Sight, Feed] = {}

    def join(
        self, sight: Sight, boundary: bytes, stream: Stream, viewer: Viewer, body: bytes
    ) -> tuple["Seat", bytes]:
        """A seat at the feed of that sight, and what to show at first.

        stream, body: those of the viewer's own request; it has been answered just now. A new feed
        goes on with them, an older one does without.
        """
        feed = self._feeds.get(sight)
        if feed is not None and feed.is_shared:
            stream.reset(Reason.CANCELLED)
            return feed.add(viewer, is_late=True), feed.frames_so_far()
        feed = self._feeds[sight] = Feed(self, sight, boundary, stream, body)
        return feed.add(viewer, is_late=False), body

    def forget(self, feed: "Feed") -> None:
        if self._feeds.get(feed.sight) is feed:
            del self._feeds[feed.sight]


class Seat:
    """One viewer's place at a feed. To its exchange it is what a stream is to others."""

    __slots__ = ("_feed", "has_room", "is_skipping", "viewer")

    def __init__(self, feed: "Feed", viewer: Viewer, *, is_skipping: bool) -> None:
        self._feed = feed
        self.viewer = viewer
        self.has_room = False  # until the exchange has written the head
        self.is_skipping = is_skipping  # up to the next frame

    @property
    def is_open(self) -> bool:
        return self._feed.has(self)

    def taken(self, _size: int) -> None:
        self.has_room = True
        self._feed.go_on()

    def send(self, _data: bytes, *, fin: bool = False) -> bool:
        raise AssertionError(f"a request for a webcam has been sent whole, fin: {fin}")

    def reset(self, reason: Reason) -> None:
        self._feed.remove(self, reason)


class Feed:
    """One stream from a printer, and those who watch it; the handler of that stream."""

    def __init__(
        self, feeds: Feeds, sight: Sight, boundary: bytes, stream: Stream, body: bytes
    ) -> None:
        self.sight = sight
        self.is_shared = True  # one more may join
        self._feeds = feeds
        self._stream = stream
        self._seats: list[Seat] = []
        self._cutter = FrameCutter(boundary)
        self._last: list[bytes] = []  # the frame before the one that is coming in
        self._current: list[bytes] = []
        self._frame_bytes = 0  # since the last frame began
        self._untaken = len(body)
        stream.handler = self
        for piece in self._cutter.cut(body):
            self._keep(piece)

    # --- what seats call --------------------------------------------------------------------------

    def add(self, viewer: Viewer, *, is_late: bool) -> Seat:
        """is_late: the viewer is shown frames_so_far, and goes on from there."""
        seat = Seat(self, viewer, is_skipping=is_late and not self._current)
        self._seats.append(seat)
        return seat

    def frames_so_far(self) -> bytes:
        """The last whole frame, and what there is of the one that is coming in."""
        return b"".join(self._last + self._current)

    def has(self, seat: Seat) -> bool:
        return seat in self._seats

    def remove(self, seat: Seat, reason: Reason) -> None:
        """The stream ends with the last who watches."""
        self._seats.remove(seat)
        if not self._seats:
            self._feeds.forget(self)
            if self._stream.is_open:
                self._stream.reset(reason)

    def go_on(self) -> None:
        """Somebody has room."""
        size, self._untaken = self._untaken, 0
        if size:
            self._stream.taken(size)

    # --- from the stream --------------------------------------------------------------------------

    def on_data(self, data: bytes, fin: bool) -> None:
        self._untaken += len(data)
        for piece in self._cutter.cut(data):
            self._show(piece)
        if fin:
            self._end()
        elif any(seat.has_room for seat in self._seats):
            self.go_on()

    def on_reset(self, reason: Reason, text: str) -> None:
        self._feeds.forget(self)
        seats, self._seats = self._seats, []
        for seat in seats:
            seat.viewer.on_reset(reason, text)

    def on_writable(self) -> None:
        """Nothing of the request was held back."""

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("the session lets no interim answer follow a head")

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("the session lets no head follow a head")

    # --- helpers ----------------------------------------------------------------------------------

    def _show(self, piece: Piece) -> None:
        self._keep(piece)
        is_too_large = self._frame_bytes > MAX_FRAME_BYTES
        for seat in self._seats.copy():
            is_alone = len(self._seats) == 1
            if piece.begins_frame:
                seat.is_skipping = not (seat.has_room or is_alone)
            if is_too_large and (seat.is_skipping or not (seat.has_room or is_alone)):
                self._drop(seat)
            elif not seat.is_skipping:
                seat.has_room = seat.viewer.on_shared(piece)

    def _keep(self, piece: Piece) -> None:
        """Of the last two frames, for who comes late."""
        if piece.begins_frame:
            self._last, self._current = self._current, []
            self._frame_bytes = 0
        self._frame_bytes += len(piece.data)
        if self._frame_bytes > MAX_FRAME_BYTES:
            self.is_shared = False
        if not self.is_shared or self._frame_bytes > KEPT_FRAME_BYTES:
            self._last, self._current = [], []
        elif piece.begins_frame or self._current:
            self._current.append(piece.data)

    def _drop(self, seat: Seat) -> None:
        """One who can't keep up with frames of which no end is in sight, or waits for the first.

        The next request of that caller gets a stream of its own.
        """
        self.remove(seat, Reason.BROKEN)
        seat.viewer.on_reset(Reason.BROKEN, "This webcam can't be shared.")

    def _end(self) -> None:
        for piece in self._cutter.rest():
            self._show(piece)
        self._feeds.forget(self)
        for seat in self._seats.copy():
            seat.viewer.on_data(b"", fin=True)
