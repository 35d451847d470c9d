"""Where in a webcam's stream a frame begins: `multipart/x-mixed-replace`, cut at its delimiters."""

import re
from typing import NamedTuple

from printreach.http1.chunked import encode_chunk

_BOUNDARY = re.compile(rb';\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_BEHIND_A_DELIMITER = frozenset({b"", b"\r", b"\n", b" ", b"\t", b"-"})

MAX_DELIMITERS_PER_READ = 16
"""In one read, of 64 KiB at most, which holds no more pictures. A printer that sends nothing but
delimiters would keep the relay busy with them: those beyond begin no frame."""


class Piece(NamedTuple):
    """Some of a stream. chunk: the same as a chunk of HTTP/1.1, made once for all who watch."""

    data: bytes
    chunk: bytes
    begins_frame: bool


def boundary_of(content_type: bytes) -> bytes | None:
    """The boundary that a multipart type names; None without one.

    Nothing but dashes is none: each dash of a long line of them could begin a delimiter, and a
    printer that sent such lines would keep the relay busy with counting.
    """
    found = _BOUNDARY.search(content_type)
    boundary = found[1] or found[2] if found is not None else b""
    return boundary if boundary.strip(b"-") else None


class FrameCutter:
    """Cuts a stream into pieces, none of which goes on beyond the beginning of a frame.

    A delimiter is `--`, the boundary and the end of a line, at the beginning of one. Cameras put
    some of the dashes into the boundary itself, and do not always mean them: any number will do.
    """

    def __init__(self, boundary: bytes) -> None:
        self._mark = b"--" + boundary.lstrip(b"-")
        self._held = b""  # the beginning of a mark, perhaps, whose rest is still to come
        self._before = b"\n"  # the byte before what comes next
        self._begins_frame = False

    def cut(self, data: bytes) -> list[Piece]:
        """The next pieces. Fewer bytes than a mark has may be held back until more comes."""
        data = self._held + data if self._held else data
        data, self._held = self._without_half_a_mark(data)
        pieces: list[Piece] = []
        at = 0
        for begin in self._frames_in(data):
            self._add(pieces, data[at:begin])
            self._begins_frame, at = True, begin
        self._add(pieces, data[at:] if at else data)
        self._before = data[-1:] or self._before
        return pieces

    def rest(self) -> list[Piece]:
        """What was held back, where nothing more comes."""
        pieces: list[Piece] = []
        self._add(pieces, self._held)
        self._held = b""
        return pieces

    def _add(self, pieces: list[Piece], data: bytes) -> None:
        if data:
            pieces.append(Piece(data, encode_chunk(data), self._begins_frame))
            self._begins_frame = False

    def _frames_in(self, data: bytes) -> list[int]:
        """The indices at which delimiters begin."""
        found: list[int] = []
        end = 0
        for _ in range(MAX_DELIMITERS_PER_READ):
            at = data.find(self._mark, end)
            if at < 0:
                break
            end = at + len(self._mark)
            begin = len(data[:at].rstrip(b"-")) if data[at - 1 : at] == b"-" else at
            before = data[begin - 1 : begin] if begin else self._before
            if before == b"\n" and data[end : end + 1] in _BEHIND_A_DELIMITER:
                found.append(begin)
        return found

    def _without_half_a_mark(self, data: bytes) -> tuple[bytes, bytes]:
        """The data, and what of its end may be the beginning of a mark."""
        tail = data[-(len(self._mark) - 1) :]
        at = tail.find(b"-")
        while at >= 0:
            if self._mark.startswith(tail[at:]):
                size = len(tail) - at
                return data[:-size], tail[at:]
            at = tail.find(b"-", at + 1)
        return data, b""
