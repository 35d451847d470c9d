"""Writing an answer to a caller, framed so that a truncated answer never looks complete."""

from typing import Protocol

from printreach.http1.chunked import LAST_CHUNK, encode_chunk
from printreach.http1.heads import Request
from printreach.wire.heads import Headers, encode_fields

from .webcam_frames import Piece


class Caller(Protocol):
    """The interface of a caller's connection to AnswerWriter."""

    def write(self, data: bytes) -> bool:
        """Write data; False if too much is buffered, and on_caller_writable follows."""

    def finished(self, *, keep_alive: bool) -> None:
        """Note that the answer is whole."""

    def abort(self) -> None:
        """Close at once, so that the caller notices that the answer is truncated."""


class BrokenAnswer(Exception):
    """A body doesn't have the length that its head announced."""


class AnswerWriter:
    """One answer: a head, a body by length, in chunks or until close, an end.

    With a length the body must have exactly that many bytes. Without one HTTP/1.1 gets chunks, and
    HTTP/1.0 an answer that ends with the connection.
    """

    __slots__ = ("_bodiless", "_caller", "_chunked", "_left", "is_started", "keep_alive", "request")

    def __init__(self, caller: Caller, request: Request) -> None:
        self.request = request
        self.is_started = False
        self.keep_alive = request.keep_alive
        self._caller = caller
        self._chunked = False
        self._bodiless = False
        self._left: int | None = None  # of a body by length

    def interim(self, status: int, reason: bytes, fields: bytes) -> None:
        """Write a 1xx answer; HTTP/1.0 has none. fields: as encode_answer_fields returns them."""
        if not self.is_started and not self.request.http10:
            self._caller.write(b"HTTP/1.1 %d %b\r\n%b\r\n" % (status, reason, fields))

    def start(
        self,
        status: int,
        reason: bytes,
        fields: bytes,
        length: int | None,
        body: bytes,
        *,
        fin: bool,
    ) -> bool:
        """Write the head and the first bytes of the body; False if the caller is slow.

        fields: as encode_answer_fields returns them, without hop-by-hop ones; Content-Length among
        them if `length` is given. Raises BrokenAnswer before anything was written.
        """
        lines = [b"HTTP/1.1 %d %b\r\n" % (status, reason), fields]
        self._bodiless = self.request.method == b"HEAD" or status in (204, 304)
        if not self._bodiless:
            self._frame(length, lines, fin_with=len(body) if fin else None)
        if not self.keep_alive:
            lines.append(b"Connection: close\r\n")
        elif self.request.http10:
            lines.append(b"Connection: keep-alive\r\n")
        lines.append(b"\r\n")
        lines.append(self._framed(body, fin=fin))
        self.is_started = True
        if self.request.span is not None:
            self.request.span.answered(status)
        writable = self._caller.write(b"".join(lines))
        if fin:
            self._caller.finished(keep_alive=self.keep_alive)
        return writable

    def upgrade(self, fields: bytes, first: bytes) -> bool:
        """Write a 101; the bytes after it are raw. fields: as encode_answer_fields returns them."""
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.is_started = True
        if self.request.span is not None:
            self.request.span.answered(101)
        return self._caller.write(head + fields + b"\r\n" + first)

    def body(self, data: bytes, *, fin: bool) -> bool:
        """Write more of the body. Raises BrokenAnswer if its length isn't the announced one."""
        framed = self._framed(data, fin=fin)
        writable = self._caller.write(framed) if framed else True
        if fin:
            self._caller.finished(keep_alive=self.keep_alive)
        return writable

    def shared(self, piece: Piece) -> bool:
        """Write a piece of a body without a length; its chunk was encoded once for all viewers."""
        return self._caller.write(piece.chunk if self._chunked else piece.data)

    def _frame(self, length: int | None, lines: list[bytes], fin_with: int | None) -> None:
        if length is not None:
            self._left = length
        elif fin_with is not None:
            self._left = fin_with
            lines.append(b"Content-Length: %d\r\n" % fin_with)
        elif self.request.http10:
            self.keep_alive = False
        else:
            self._chunked = True
            lines.append(b"Transfer-Encoding: chunked\r\n")

    def _framed(self, data: bytes, *, fin: bool) -> bytes:
        if self._bodiless:
            if data:
                raise BrokenAnswer("a body where none can be")
            return b""
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0 or (fin and self._left):
                raise BrokenAnswer("the body has another length than its head says")
            return data
        if not self._chunked:
            return data
        return encode_chunk(data) + (LAST_CHUNK if fin else b"")


def encode_answer_fields(status: int, headers: Headers) -> bytes:
    """Format the header lines of an answer.

    Where no body can follow, Content-Length is left out: a proxy might otherwise wait for one.
    """
    if status < 200 or status == 204:
        headers = [field for field in headers if field[0].lower() != b"content-length"]
    return encode_fields(headers)
