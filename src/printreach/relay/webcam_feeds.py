"""One stream of a webcam for all of its viewers: requested once, written to each.

Each caller's request goes to the printer, and each gets the head of the printer's own answer to it:
its status, cookies and refusal. Only the body is shared. When the answer turns out to be a webcam's
stream, and another caller already watches one that was requested from the same printer with the
same header lines, credentials and cookies included, and answered with the same content type, then
the second stream is ended and its caller gets the pictures of the first. The printer could not have
distinguished the two requests, so both show the same camera. As the Host is among those lines, a
feed serves one connection; if ports stand for connections, perhaps several of one printer.

The parts of such a stream replace each other, so a slow viewer misses whole pictures instead of
slowing the others. A single viewer misses nothing: the stream is as fast as it reads, and the
camera itself leaves out pictures that don't fit.
"""

from typing import NamedTuple, Protocol

from printreach.languages import N_
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import Reason

from .webcam_frames import FrameCutter, Piece

MAX_FRAME_BYTES = 1024 * 1024
"""About the size of a 4K picture. A viewer may have this much waiting in addition to its buffer; a
stream with larger frames, or without any, is not shared."""
KEPT_FRAME_BYTES = 256 * 1024
"""The largest frame that is kept for viewers who come late, the same as a stream's credit in the
tunnel. If frames are larger they wait for the next one."""


class FeedKey(NamedTuple):
    """The key of a feed: streams with the same request and the same kind of answer are the same.

    fields: all header lines of the caller's that the printer was sent.
    """

    tunnel: Tunnel
    target: bytes
    fields: bytes
    content_type: bytes


class ViewerHandler(Protocol):
    """Callbacks of a Viewer; it calls Viewer.taken when it has room again."""

    def on_shared(self, piece: Piece) -> bool:
        """Pass on a piece; False if there is no room for more."""

    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_reset(self, reason: Reason, text: str) -> None: ...


class Feeds:
    """All feeds of webcams that are being watched."""

    def __init__(self) -> None:
        self._feeds: dict[FeedKey, Feed] = {}

    def join(
        self, key: FeedKey, boundary: bytes, stream: Stream, handler: ViewerHandler, body: bytes
    ) -> tuple["Viewer", bytes]:
        """Return a viewer of the feed with that key, and the bytes to show at first.

        stream, body: of the viewer's own request, which has just been answered. A new feed uses
        them; if there is a feed already, the stream is ended.
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
    """One viewer of a feed. Its exchange uses it in place of a stream."""

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
    """One stream from a printer and its viewers; the handler of that stream."""

    def __init__(
        self, feeds: Feeds, key: FeedKey, boundary: bytes, stream: Stream, body: bytes
    ) -> None:
        self.key = key
        self.is_shared = True  # one more may join
        self._feeds = feeds
        self._stream = stream
        self._viewers: list[Viewer] = []
        self._cutter = FrameCutter(boundary)
        # A printer may send a frame byte by byte: an object for each piece would be many times it.
        self._last = bytearray()  # the frame before the one that is coming in
        self._current = bytearray()
        self._frame_bytes = 0  # since the last frame began
        self._untaken = len(body)
        stream.handler = self
        for piece in self._cutter.cut(body):
            self._keep(piece)

    # --- what viewers call ------------------------------------------------------------------------

    def add(self, handler: ViewerHandler, *, is_late: bool) -> Viewer:
        """Add a viewer. is_late: it was given frames_so_far, and goes on from there."""
        viewer = Viewer(self, handler, is_skipping=is_late and not self._current)
        self._viewers.append(viewer)
        return viewer

    def frames_so_far(self) -> bytes:
        """Return the last whole frame, and the part that has come of the next."""
        return bytes(self._last + self._current)

    def has(self, viewer: Viewer) -> bool:
        return viewer in self._viewers

    def remove(self, viewer: Viewer, reason: Reason) -> None:
        """Remove a viewer; the stream ends with the last one."""
        self._viewers.remove(viewer)
        if not self._viewers:
            self._feeds.forget(self)
            if self._stream.is_open:
                self._stream.reset(reason)

    def go_on(self) -> None:
        """Return credit, because a viewer has room."""
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
        """Keep the last two frames for viewers who come late."""
        if piece.begins_frame:
            self._last, self._current = self._current, bytearray()
            self._frame_bytes = 0
        self._frame_bytes += len(piece.data)
        if self._frame_bytes > MAX_FRAME_BYTES:
            self.is_shared = False
        if not self.is_shared or self._frame_bytes > KEPT_FRAME_BYTES:
            self._last, self._current = bytearray(), bytearray()
        elif piece.begins_frame or self._current:
            self._current += piece.data

    def _drop(self, viewer: Viewer) -> None:
        """Drop a viewer that can't keep up with a frame without an end, or waits for a first frame.

        The next request of that caller gets a stream of its own.
        """
        self.remove(viewer, Reason.BROKEN)
        viewer.handler.on_reset(Reason.BROKEN, N_("This webcam can't be shared."))

    def _end(self) -> None:
        for piece in self._cutter.rest():
            self._show(piece)
        self._feeds.forget(self)
        for viewer in self._viewers.copy():
            viewer.handler.on_data(b"", fin=True)
