"""Validates that bytes are one whole JPEG picture, and finds its end.

Pictures come from printers, which are not trusted, and go to people's browsers. So bytes after the
picture are dropped, and data without the structure of a picture is refused.
Source: ITU-T T.81, annex B.
"""

import re
from typing import Final

MAX_PIXELS: Final = 50_000_000
MAX_SEGMENTS: Final = 5_000
"""A progressive picture with its profile has about a hundred; each costs a step."""
MAX_SCANS: Final = 32
"""A progressive picture has ten. Each is a pass over all pixels, however few bytes it has."""
_START: Final = b"\xff\xd8"
_END: Final = 0xD9
_START_OF_SCAN: Final = 0xDA
# The start-of-frame markers; between them stand those of tables (C4, CC) and an extension (C8).
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# In the coded picture FF stands before a zero, a restart marker or a filling FF, or it is a marker.
_MARKER: Final = re.compile(rb"\xff+([^\x00\x01\xd0-\xd8\xff])", re.DOTALL)
_MARKER_IN_SCAN: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def whole_jpeg(data: bytes) -> bytes | None:
    """Return the picture at the beginning of the data, without the bytes after it.

    None if the data is no picture.
    """
    if not data.startswith(_START):
        return None
    at, has_frame, scans = len(_START), False, 0
    for _ in range(MAX_SEGMENTS):
        found = _MARKER.match(data, at)
        if found is None:
            return None
        marker, at = found[1][0], found.end()
        if marker == _END:
            return data[:at] if has_frame and scans else None
        end = at + int.from_bytes(data[at : at + 2], "big")
        if end < at + 2 or end > len(data):
            return None
        if marker in _FRAMES:
            if has_frame or not _is_sane_frame(data[at + 2 : end]):
                return None
            has_frame = True
        at = end
        if marker == _START_OF_SCAN:
            coded = _MARKER_IN_SCAN.search(data, at)
            if coded is None or scans == MAX_SCANS:
                return None
            at, scans = coded.start(), scans + 1
    return None


def claimed_size(data: bytes) -> tuple[int, int] | None:
    """Width and height as a picture says, whole or not; None where it doesn't come to that."""
    at = len(_START)
    for _ in range(MAX_SEGMENTS):
        found = _MARKER.match(data, at)
        if found is None:
            return None
        at = found.end() + int.from_bytes(data[found.end() : found.end() + 2], "big")
        if found[1][0] in _FRAMES:
            return _size_in(data[found.end() + 2 : at])
    return None


def most_scans(data: bytes) -> int:
    """Return how many scans a picture has at most: a thumbnail within it counts, too."""
    return data.count(bytes((0xFF, _START_OF_SCAN)))


def _size_in(frame: bytes) -> tuple[int, int]:
    return int.from_bytes(frame[3:5], "big"), int.from_bytes(frame[1:3], "big")


def _is_sane_frame(frame: bytes) -> bool:
    """precision u8, height u16, width u16, components u8, three bytes for each of them."""
    if len(frame) < 6:
        return False
    width, height = _size_in(frame)
    has_components = frame[5] in (1, 3, 4) and len(frame) == 6 + 3 * frame[5]
    return has_components and 0 < height * width <= MAX_PIXELS
