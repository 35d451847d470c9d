"""One stream of a tunnel as the application holds it: callbacks in, calls out.

Callbacks and not coroutines, because this is the path of every byte: a task per request and a
wake-up per chunk cost as much as all the rest of a small request together.
"""

from collections import deque
from typing import Protocol

from printreach.wire.errors import Reason
from printreach.wire.frames import CHUNK_BYTES
from printreach.wire.session import Session

MIN_PIECE_BYTES = CHUNK_BYTES // 2
"""Credit that is waited for where more is held: else each read of 256 KiB ends in a sliver, and
twice as many messages travel. It comes: a receiver keeps back less than a quarter of its window,
which is never below a chunk."""


class StreamHandler(Protocol):
    """What the application wants to hear of a stream. Called in order, never re-entrantly."""

    def on_interim(self, head: bytes) -> None: ...
    def on_head(self, head: bytes, body: bytes, fin: bool) -> None: ...
    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None:
        """Everything held back has been sent; `send` may be called again."""

    def on_reset(self, reason: Reason, text: str) -> None:
        """The stream ended early, by the other end or with the tunnel. Nothing follows."""


class StreamTunnel(Protocol):
    """What a stream asks of its tunnel."""

    session: Session
    is_congested: bool
    is_closed: bool

    def flush_soon(self, size: int = 0) -> None: ...
    def forget_if_ended(self, stream_id: int) -> None: ...
    def pump(self, stream: "Stream") -> None: ...
    def reset(self, stream: "Stream", reason: Reason, text: str) -> None: ...


class Stream:
    """One stream. Taking bytes is acknowledged with `taken`, which returns the credit.

    What is sent on a stream that has ended goes nowhere.
    """

    __slots__ = ("_fin_held", "_held", "_tunnel", "handler", "id")

    def __init__(self, tunnel: StreamTunnel, stream_id: int, handler: StreamHandler | None) -> None:
        self._tunnel = tunnel
        self._held: deque[bytes | memoryview] = deque()
        self._fin_held = False
        self.handler = handler
        self.id = stream_id

    @property
    def is_open(self) -> bool:
        return self._tunnel.session.is_open(self.id) and not self._tunnel.is_closed

    @property
    def is_holding(self) -> bool:
        """Bytes wait for credit or for the link; the source should pause."""
        return bool(self._held) or self._fin_held

    @property
    def may_send(self) -> bool:
        """Something is held, and there is credit for all of it or for a good piece."""
        if not self._held:
            return self._fin_held
        enough = min(len(self._held[0]), MIN_PIECE_BYTES)
        return self._tunnel.session.credit(self.id) >= enough

    def interim(self, head: bytes) -> None:
        if self.is_open:
            self._tunnel.session.interim(self.id, head)
            self._tunnel.flush_soon()

    def respond(self, head: bytes, body: bytes = b"", *, fin: bool = False) -> bool:
        """Send the head of the answer, with the first bytes of its body where they fit.

        False: some of the body is held back; wait for on_writable.
        """
        if not self.is_open:
            return True
        session = self._tunnel.session
        if len(body) <= CHUNK_BYTES and len(body) <= session.credit(self.id):
            session.respond(self.id, head, body, fin=fin)
            self._tunnel.flush_soon(len(body))
            if fin:
                self._tunnel.forget_if_ended(self.id)
            return True
        session.respond(self.id, head, fin=False)
        return self.send(body, fin=fin)

    def send(self, data: bytes, *, fin: bool = False) -> bool:
        """Send body bytes. False: some are held back; wait for on_writable before sending more."""
        if not self.is_open:
            return True
        tunnel = self._tunnel
        if not self.is_holding and not tunnel.is_congested and len(data) <= CHUNK_BYTES:
            session = tunnel.session
            if len(data) <= session.credit(self.id):
                session.send(self.id, data, fin=fin)
                tunnel.flush_soon(len(data))
                if fin:
                    tunnel.forget_if_ended(self.id)
                return True
        if data:
            self._held.append(data)
        self._fin_held = fin
        tunnel.pump(self)
        return not self.is_holding

    def taken(self, size: int) -> None:
        """size bytes of what on_head and on_data brought have been passed on."""
        if self.is_open:
            session = self._tunnel.session
            session.taken(self.id, size)
            if session.has_output:
                self._tunnel.flush_soon()

    def reset(self, reason: Reason, text: str = "") -> None:
        """End the stream now, both ways; the handler hears nothing more."""
        self.handler = None
        self._held.clear()
        self._fin_held = False
        self._tunnel.reset(self, reason, text)

    def send_held_chunk(self) -> bool:
        """Send a chunk of what is held back; False where there is too little credit, or nothing."""
        if not self.may_send:
            return False
        session = self._tunnel.session
        piece = self._take(min(session.credit(self.id), CHUNK_BYTES)) if self._held else b""
        fin = self._fin_held and not self._held
        session.send(self.id, piece, fin=fin)
        self._fin_held = self._fin_held and not fin
        return True

    def _take(self, room: int) -> bytes | memoryview:
        first = self._held[0]
        if len(first) <= room:
            return self._held.popleft()
        rest = memoryview(first)  # of a read of 256 KiB no byte is copied until the link takes it
        self._held[0] = rest[room:]
        return rest[:room]
