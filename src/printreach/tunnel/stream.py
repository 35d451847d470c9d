"""One stream of a tunnel, with the interface that the application uses: callbacks in, calls out.

It uses callbacks and not coroutines, because every byte passes here: a task per request and a
wake-up per chunk cost as much as all the rest of a small request together.
"""

from typing import Final, Protocol

from printreach.wire.errors import Reason
from printreach.wire.frames import CHUNK_BYTES
from printreach.wire.session import Session

MIN_PIECE_BYTES: Final = CHUNK_BYTES // 2
"""The least credit for which held bytes are sent: otherwise each read of 256 KiB would end in a
small piece, and twice as many messages would travel. That much credit always comes, since a
receiver holds back less than a quarter of its window, which is never below a chunk."""


class StreamHandler(Protocol):
    """The application's callbacks of a stream. Called in order, never re-entrantly."""

    def on_interim(self, head: bytes) -> None: ...
    def on_head(self, head: bytes, body: bytes, fin: bool) -> None: ...
    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None:
        """All held bytes have been sent; `send` may be called again."""

    def on_reset(self, reason: Reason, text: str) -> None:
        """The stream ended early, by the other end or with the tunnel. Nothing follows."""


class StreamTunnel(Protocol):
    """The interface of a tunnel to its streams."""

    session: Session
    is_congested: bool
    is_closed: bool

    def flush_soon(self, size: int = 0) -> None: ...
    def forget_if_ended(self, stream_id: int) -> None: ...
    def pump(self, stream: "Stream") -> None: ...
    def reset(self, stream: "Stream", reason: Reason, text: str) -> None: ...


class Stream:
    """One stream. Call `taken` for bytes that were consumed: it returns the credit.

    Bytes sent on a stream that has ended are dropped.
    """

    __slots__ = ("_fin_held", "_held", "_session", "_tunnel", "handler", "id")

    def __init__(self, tunnel: StreamTunnel, stream_id: int, handler: StreamHandler | None) -> None:
        self._tunnel = tunnel
        self._session = tunnel.session
        self._held: list[bytes | memoryview] = []  # few: a source pauses once some are held
        self._fin_held = False
        self.handler = handler
        self.id = stream_id

    @property
    def is_open(self) -> bool:
        return self._session.is_open(self.id) and not self._tunnel.is_closed

    @property
    def is_holding(self) -> bool:
        """True while bytes wait for credit or for the link; the source should pause."""
        return bool(self._held) or self._fin_held

    @property
    def may_send(self) -> bool:
        """True if bytes are held and there is credit for all of them or for a large piece."""
        if not self._held:
            return self._fin_held
        enough = min(len(self._held[0]), MIN_PIECE_BYTES)
        return self._session.credit(self.id) >= enough

    def interim(self, head: bytes) -> None:
        if self.is_open:
            self._session.interim(self.id, head)
            self._tunnel.flush_soon()

    def respond(self, head: bytes, body: bytes = b"", *, fin: bool = False) -> bool:
        """Send the head of the answer, with the first bytes of its body if they fit.

        Returns False if some of the body is held back; wait for on_writable.
        """
        if not self.is_open:
            return True
        session = self._session
        if len(body) <= CHUNK_BYTES and len(body) <= session.credit(self.id):
            session.respond(self.id, head, body, fin=fin)
            self._tunnel.flush_soon(len(body))
            if fin:
                self._tunnel.forget_if_ended(self.id)
            return True
        session.respond(self.id, head, fin=False)
        return self.send(body, fin=fin)

    def send(self, data: bytes, *, fin: bool = False) -> bool:
        """Send body bytes. Returns False if some are held back; wait for on_writable then."""
        if not self.is_open:
            return True
        tunnel = self._tunnel
        if not self.is_holding and not tunnel.is_congested and len(data) <= CHUNK_BYTES:
            session = self._session
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
        """Note that size bytes from on_head and on_data have been passed on."""
        if self.is_open:
            self._session.taken(self.id, size)
            if self._session.has_output:
                self._tunnel.flush_soon()

    def reset(self, reason: Reason, text: str = "") -> None:
        """End the stream now, in both directions; the handler isn't called any more."""
        self.handler = None
        self._held.clear()
        self._fin_held = False
        self._tunnel.reset(self, reason, text)

    def send_held_chunk(self) -> bool:
        """Send a chunk of the held bytes; False if there is too little credit, or none is held."""
        if not self.may_send:
            return False
        session = self._session
        piece = self._take(min(session.credit(self.id), CHUNK_BYTES)) if self._held else b""
        fin = self._fin_held and not self._held
        session.send(self.id, piece, fin=fin)
        self._fin_held = self._fin_held and not fin
        return True

    def _take(self, max_bytes: int) -> bytes | memoryview:
        first = self._held[0]
        if len(first) <= max_bytes:
            return self._held.pop(0)
        rest = memoryview(first)  # of a read of 256 KiB no byte is copied until the link takes it
        self._held[0] = rest[max_bytes:]
        return rest[:max_bytes]
