"""Chunked bodies (RFC 9112, section 7.1): a strict decoder, and the encoder.

httptools reads chunks too, but it can neither pause nor say at which byte a body ended when the
next request's bytes follow at once, and the agent does without it; the tests compare with it.
"""

import math
import re
from enum import Enum
from typing import Final

from .fields import BadMessage, is_field_line

MAX_SIZE_LINE_BYTES: Final = 256
"""Size, extensions and CRLF. No program is known to send extensions to a printer."""
MAX_TRAILER_BYTES: Final = 8 * 1024
LAST_CHUNK: Final = b"0\r\n\r\n"

_BETWEEN_CHUNKS: Final = re.compile(
    rb"\r\n([0-9A-Fa-f]{1,16})(?:;[\t\x20-\x7e\x80-\xff]{0,237}+)?\r\n"
)
"""The end of a chunk's data and the next size, in one: a line within MAX_SIZE_LINE_BYTES."""
_SIZE_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;[\t\x20-\x7e\x80-\xff]*+)?\r\n")


def encode_chunk(data: bytes) -> bytes:
    """Return one chunk; b"" for no data, since an empty chunk would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


class _Step(Enum):
    """The kind of line that comes next, outside a chunk's data."""

    SIZE = "the size of a chunk"
    DATA_END = "the CRLF behind a chunk's data"
    TRAILER = "a trailer field or the last line"


class ChunkedDecoder:
    """Decodes a chunked body as it arrives; extensions and trailers are checked and dropped.

    It holds back the beginning of a line at most, never bytes of the body. Once done, or after a
    BadMessage, it can't be used again: each body needs a decoder of its own.

    max_pieces: how many pieces one feed() returns at most.
    """

    __slots__ = ("_left", "_line", "_max_pieces", "_room", "_step", "done")

    def __init__(self, max_pieces: float = math.inf) -> None:
        self.done = False
        self._max_pieces = max_pieces
        self._step = _Step.SIZE
        self._room = MAX_SIZE_LINE_BYTES  # bytes that the line may have; all trailers together
        self._line = b""  # a line whose LF is still to come
        self._left = 0  # bytes of the current chunk's data still to come

    def feed(self, data: bytes) -> tuple[list[bytes], int]:
        """Return the body's next pieces, and how many bytes of `data` were read for them.

        All of them were, unless the body has ended (`done`), so that the others belong to the next
        message, or max_pieces are returned, so that the others are to be fed again.
        Raises BadMessage (400), which also drops the pieces before the mistake.
        """
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and not self.done and len(pieces) < self._max_pieces:
            if self._left:
                # A compiled slice copies even where it takes everything.
                piece = data[at : at + self._left] if at or len(data) > self._left else data
                pieces.append(piece)
                self._left -= len(piece)
                at += len(piece)
                if not self._left:
                    at = self._read_chunks(data, at, pieces)
            else:
                at = self._read_line(data, at)
        return pieces, at

    def _read_chunks(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        """Take the chunks whose size lines are whole in data[at:], fast: there may be thousands.

        at: the end of a chunk's data. Returns the index after the data of the last one.
        """
        while (
            len(pieces) < self._max_pieces
            and (line := _BETWEEN_CHUNKS.match(data, at))
            and (size := int(line[1], 16))
        ):
            begin = line.end()
            at = begin + size
            if at >= len(data):
                self._left = at - len(data)
                if begin < len(data):
                    pieces.append(data[begin:])
                return len(data)
            pieces.append(data[begin:at])
        return at

    def _read_line(self, data: bytes, at: int) -> int:
        """Take a line, or the beginning of one, from data[at:]; return the index after it."""
        end = data.find(b"\n", at) + 1 or len(data)
        line = self._line + data[at:end]
        complete = line.endswith(b"\n")
        # The beginning of a line lacks its LF at least.
        fits = len(line) + (not complete) <= self._room
        if not fits or (complete and not self._accept(line)):
            raise BadMessage(400, f"In a chunked body, {self._step.value} is malformed.")
        self._line = b"" if complete else line
        return end

    def _accept(self, line: bytes) -> bool:
        """Process a whole line; False if it isn't of the kind that this step expects."""
        match self._step:
            case _Step.SIZE:
                return self._begin_chunk(line)
            case _Step.DATA_END:
                if line != b"\r\n":
                    return False
                self._step, self._room = _Step.SIZE, MAX_SIZE_LINE_BYTES
                return True
            case _Step.TRAILER:
                self._room -= len(line)
                self.done = line == b"\r\n"
                return self.done or is_field_line(line)

    def _begin_chunk(self, line: bytes) -> bool:
        size = _SIZE_LINE.fullmatch(line)
        if size is None:
            return False
        self._left = int(size[1], 16)
        if self._left:
            self._step, self._room = _Step.DATA_END, len(b"\r\n")
        else:
            self._step, self._room = _Step.TRAILER, MAX_TRAILER_BYTES
        return True
