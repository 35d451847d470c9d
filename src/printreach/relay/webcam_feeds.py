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


class FeedKey(NamedTuple):
    """What makes two streams the same: how it was asked for, and how that was answered.

    fields: all header lines that the printer was sent of the caller's.
    """

    tunnel: Tunnel
    target: bytes
    fields: bytes
    content_type: bytes


class ViewerHandler(Protocol):
    """An exchange whose caller watches. It says by Viewer.taken when it has room again."""

    def on_shared(self, piece: Piece) -> bool:
        """Pass it on. False: no room for more."""

    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_reset(self, reason: Reason, text: str) -> None: ...


class Feeds:
    """The webcams that are being watched."""

    def __init__(self) -> None:
        self._feeds: dict[FeedKey, Feed] = {}

    def join(
        self, key: FeedKey, boundary: bytes, stream: Stream, handler: ViewerHandler, body: bytes
    ) -> tuple["Viewer", bytes]:
        """A viewer at the feed of that key, and what to show at first.

        stream, body: those of the viewer's own request; it has been answered just now. A new feed
        goes on with them, an older one does without.
        """
        feed = self._feeds.get(key)
        if feed is not None and feed.is_shared:
            stream.reset(Reason.CANCELLED)
            return feed.add(handler, is_late=True), feed.frames_so_far()
        feed = self._feeds[key] = Feed(self, key, boundary, stream, body)
        return feed.add(handler, is_late=False), body

    def forget(self, feed: "Feed") -> None:
        if self._feeds.get(feed.key) is feed:
            del self._feeds[feed.key]


class Viewer:
    """One viewer's place at a feed. To its exchange it is what a stream is to others."""

    __slots__ = ("_feed", "handler", "has_room", "is_skipping")

    def __init__(self, feed: "Feed", handler: ViewerHandler, *, is_skipping: bool) -> None:
        self._feed = feed
        self.handler = handler
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
        self, feeds: Feeds, key: FeedKey, boundary: bytes, stream: Stream, body: bytes
    ) -> None:
        self.key = key
        self.is_shared = True  # one more may join
        self._feeds = feeds
        self._stream = stream
        self._viewers: list[Viewer] = []
        self._cutter = FrameCutter(boundary)
        self._last: list[bytes] = []  # the frame before the one that is coming in
        self._current: list[bytes] = []
        self._frame_bytes = 0  # since the last frame began
        self._untaken = len(body)
        stream.handler = self
        for piece in self._cutter.cut(body):
            self._keep(piece)

    # --- what viewers call ------------------------------------------------------------------------

    def add(self, handler: ViewerHandler, *, is_late: bool) -> Viewer:
        """is_late: the viewer is shown frames_so_far, and goes on from there."""
        viewer = Viewer(self, handler, is_skipping=is_late and not self._current)
        self._viewers.append(viewer)
        return viewer

    def frames_so_far(self) -> bytes:
        """The last whole frame, and what there is of the one that is coming in."""
        return b"".join(self._last + self._current)

    def has(self, viewer: Viewer) -> bool:
        return viewer in self._viewers

    def remove(self, viewer: Viewer, reason: Reason) -> None:
        """The stream ends with the last who watches."""
        self._viewers.remove(viewer)
        if not self._viewers:
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
        elif any(viewer.has_room for viewer in self._viewers):
            self.go_on()

    def on_reset(self, reason: Reason, text: str) -> None:
        self._feeds.forget(self)
        viewers, self._viewers = self._viewers, []
        for viewer in viewers:
            viewer.handler.on_reset(reason, text)

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
        for viewer in self._viewers.copy():
            is_alone = len(self._viewers) == 1
            if piece.begins_frame:
                viewer.is_skipping = not (viewer.has_room or is_alone)
            if is_too_large and (viewer.is_skipping or not (viewer.has_room or is_alone)):
                self._drop(viewer)
            elif not viewer.is_skipping:
                viewer.has_room = viewer.handler.on_shared(piece)

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

    def _drop(self, viewer: Viewer) -> None:
        """One who can't keep up with frames of which no end is in sight, or waits for the first.

        The next request of that caller gets a stream of its own.
        """
        self.remove(viewer, Reason.BROKEN)
        viewer.handler.on_reset(Reason.BROKEN, "This webcam can't be shared.")

    def _end(self) -> None:
        for piece in self._cutter.rest():
            self._show(piece)
        self._feeds.forget(self)
        for viewer in self._viewers.copy():
            viewer.handler.on_data(b"", fin=True)
