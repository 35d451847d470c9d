"""Splitting a webcam's stream, `multipart/x-mixed-replace`, at the beginnings of its frames."""

import re
from typing import NamedTuple

from printreach.http1.chunked import encode_chunk

_BOUNDARY = re.compile(rb';\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_BEHIND_A_DELIMITER = frozenset({b"", b"\r", b"\n", b" ", b"\t", b"-"})

MAX_DELIMITERS_PER_READ = 16
"""The most delimiters in one read of at most 64 KiB, which holds no more pictures. Further ones
begin no frame: a printer that sends nothing but delimiters would keep the relay busy."""


class Piece(NamedTuple):
    """Bytes of a stream. chunk: the same as a chunk of HTTP/1.1, encoded once for all viewers."""

    data: bytes
    chunk: bytes
    begins_frame: bool


def boundary_of(content_type: bytes) -> bytes | None:
    """Return the boundary of a multipart type; None without one.

    A boundary of dashes only is ignored: each dash in a long line of them could begin a delimiter,
    and a printer that sent such lines would keep the relay busy.
    """
    found = _BOUNDARY.search(content_type)
    boundary = found[1] or found[2] if found is not None else b""
    return boundary if boundary.strip(b"-") else None


class FrameCutter:
    """Cuts a stream into pieces; each beginning of a frame begins a piece.

    A delimiter is `--`, the boundary and the end of a line, at the beginning of a line. Some
    cameras wrongly put dashes into the boundary itself, so any number of dashes is accepted.
    """

    def __init__(self, boundary: bytes) -> None:
        self._mark = b"--" + boundary.lstrip(b"-")
        self._held = b""  # the beginning of a mark, perhaps, whose rest is still to come
        self._before = b"\n"  # the byte before what comes next
        self._begins_frame = False

    def cut(self, data: bytes) -> list[Piece]:
        """Return the next pieces. Part of a delimiter may be held back until more comes."""
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
        """Return the bytes that were held back, at the end of the stream."""
        pieces: list[Piece] = []
        self._add(pieces, self._held)
        self._held = b""
        return pieces

    def _add(self, pieces: list[Piece], data: bytes) -> None:
        if data:
            pieces.append(Piece(data, encode_chunk(data), self._begins_frame))
            self._begins_frame = False

    def _frames_in(self, data: bytes) -> list[int]:
        """Return the indices at which delimiters begin."""
        found: list[int] = []
        end = 0
        for _ in range(MAX_DELIMITERS_PER_READ):
            at = data.find(self._mark, end)
            if at < 0:
                break
            end = at + len(self._mark)
            begin = len(data[:at].rstrip(b"-")) if at and data[at - 1 : at] == b"-" else at
            before = data[begin - 1 : begin] if begin else self._before
            if before == b"\n" and data[end : end + 1] in _BEHIND_A_DELIMITER:
                found.append(begin)
        return found

    def _without_half_a_mark(self, data: bytes) -> tuple[bytes, bytes]:
        """Split off the end of the data if it may be the beginning of a delimiter."""
        tail = data[-(len(self._mark) - 1) :]
        at = tail.find(b"-")
        while at >= 0:
            if self._mark.startswith(tail[at:]):
                size = len(tail) - at
                return data[:-size], tail[at:]
            at = tail.find(b"-", at + 1)
        return data, b""
