"""Splits a multipart/x-mixed-replace answer into JPEG pictures. Pure.

Cameras differ: some give each part a Content-Length, some don't; some write the boundary with
two dashes more than they announce. A part without a length ends at the next boundary. Parts that
are no JPEG picture (a text that there is no signal, say) are passed over.
"""

import re

from printreach.contract.sizes import MAX_PICTURE_BYTES

JPEG_MAGIC = b"\xff\xd8"
MAX_PART_HEAD_BYTES = 4096

_BOUNDARY = re.compile(rb"boundary=\"?([^\";\s]+)\"?", re.IGNORECASE)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,9})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEAD_END = re.compile(rb"\r?\n\r?\n")


class BadStream(ValueError):
    """The answer is no stream of pictures; the message ends a sentence."""


class NoStream(BadStream):
    """The answer's Content-Type is no stream."""


def boundary_of(content_type: bytes) -> bytes:
    """Raises NoStream when it is no multipart/x-mixed-replace."""
    announced = _BOUNDARY.search(content_type)
    is_stream = content_type.lower().startswith(b"multipart/x-mixed-replace")
    boundary = announced[1].lstrip(b"-") if announced is not None else b""
    if not is_stream or not boundary:
        raise NoStream("it is no stream of pictures")
    return b"--" + boundary


class MjpegParser:
    """Splits a stream into JPEG pictures. boundary: from boundary_of."""

    def __init__(self, boundary: bytes) -> None:
        self._boundary = boundary
        self._buffer = bytearray()
        self._length: int | None = None  # of the part under way, where it says
        self._in_part = False
        self._searched = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the pictures that are whole now. Raises BadStream."""
        self._buffer += data
        frames: list[bytes] = []
        while self._step(frames):
            pass
        if len(self._buffer) > MAX_PICTURE_BYTES:
            raise BadStream("a picture is larger than 8 MiB")
        return frames

    def _step(self, frames: list[bytes]) -> bool:
        """Take the next thing from the buffer; False when more is needed."""
        if not self._in_part:
            return self._begin_part()
        if self._length is not None:
            return self._take_by_length(self._length, frames)
        return self._take_to_boundary(frames)

    def _begin_part(self) -> bool:
        start = self._buffer.find(self._boundary)
        if start < 0:
            del self._buffer[: max(0, len(self._buffer) - len(self._boundary))]
            return False
        end = _HEAD_END.search(self._buffer, start)
        if end is None:
            if len(self._buffer) - start > MAX_PART_HEAD_BYTES:
                raise BadStream("the head of a picture is too long")
            return False
        length = _LENGTH.search(self._buffer, start, end.start())
        self._length = int(length[1]) if length is not None else None
        if self._length is not None and self._length > MAX_PICTURE_BYTES:
            raise BadStream("a picture is larger than 8 MiB")
        del self._buffer[: end.end()]
        self._in_part = True
        self._searched = 0
        return True

    def _take_by_length(self, length: int, frames: list[bytes]) -> bool:
        if len(self._buffer) < length:
            return False
        self._end_part(length, frames)
        return True

    def _take_to_boundary(self, frames: list[bytes]) -> bool:
        end = self._buffer.find(self._boundary, self._searched)
        if end < 0:
            self._searched = max(0, len(self._buffer) - len(self._boundary))
            return False
        self._end_part(len(self._buffer[:end].rstrip(b"\r\n-")), frames)
        return True

    def _end_part(self, size: int, frames: list[bytes]) -> None:
        if self._buffer.startswith(JPEG_MAGIC):
            frames.append(bytes(self._buffer[:size]))
        del self._buffer[:size]
        self._in_part = False
