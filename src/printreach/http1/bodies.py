"""Reading a message's body by its framing."""

import math

from .chunked import ChunkedDecoder
from .heads import Framing


class BodyReader:
    """Splits the bytes after a head into body and surplus, and says when the body has ended.

    max_pieces: how many chunks one feed() reads at most; the others stay in the surplus.
    """

    __slots__ = ("_chunks", "_framing", "_left", "is_complete")

    def __init__(self, framing: Framing, length: int, max_pieces: float = math.inf) -> None:
        self._framing = framing
        self._left = length
        self._chunks = ChunkedDecoder(max_pieces) if framing is Framing.CHUNKED else None
        self.is_complete = framing is Framing.NONE or (framing is Framing.LENGTH and length == 0)

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the body's bytes and the surplus. Raises BadMessage for broken chunks.

        The surplus is what follows the body; while it isn't complete, more of the body.
        """
        if self.is_complete:
            return b"", data
        if self._chunks is not None:
            pieces, used = self._chunks.feed(data)
            self.is_complete = self._chunks.done
            return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), data[used:]
        if self._framing is Framing.UNTIL_CLOSE:
            return data, b""
        size = len(data)
        if size < self._left:
            self._left -= size
            return data, b""
        body, rest = (data, b"") if size == self._left else (data[: self._left], data[self._left :])
        self._left = 0
        self.is_complete = True
        return body, rest

    def end_of_input(self) -> bool:
        """Note that the connection ended; True if that completes the body."""
        if self._framing is Framing.UNTIL_CLOSE:
            self.is_complete = True
        return self.is_complete
