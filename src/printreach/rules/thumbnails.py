"""Validates the thumbnail of a file: one whole PNG or JPEG picture of a moderate size.

Thumbnails come from printers and from files that anybody may have made, and go to people's
browsers. So both the agent and the service accept these two formats alone, by their bytes and
never by what a printer calls them, and drop bytes after the picture.
Source: Portable Network Graphics (Third Edition), chapters 5 and 11.
"""

from dataclasses import dataclass
from typing import Final

from printreach.rules.detection.jpeg import claimed_size, whole_jpeg

MAX_THUMBNAIL_BYTES: Final = 1024 * 1024
"""Slicers write pictures of 400 x 300 or so, of 100 KB at most."""
MAX_EDGE_PX: Final = 2048
"""A few bytes of a PNG can claim a picture that takes gigabytes to draw."""
MIN_SIZE_PX: Final = 16
USUAL_SIZE_PX: Final = 256
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_HEADER_BYTES: Final = 13
_MAX_CHUNKS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture that may be shown. media_type: by its bytes."""

    data: bytes
    media_type: str


def thumbnail_of(data: bytes) -> Thumbnail | None:
    """Return the picture at the beginning of the data; None if that is none, or too large."""
    if len(data) > MAX_THUMBNAIL_BYTES:
        return None
    png = _whole_png(data)
    if png is not None:
        return Thumbnail(png, "image/png")
    jpeg = whole_jpeg(data)
    if jpeg is not None and _is_moderate(*(claimed_size(jpeg) or (0, 0))):
        return Thumbnail(jpeg, "image/jpeg")
    return None


def _whole_png(data: bytes) -> bytes | None:
    """Return the PNG picture without the bytes after it.

    Each chunk: length u32, type, that many bytes, checksum u32.
    """
    if not data.startswith(_SIGNATURE):
        return None
    at, has_pixels = len(_SIGNATURE), False
    for index in range(_MAX_CHUNKS):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        begin, at = at + 8, at + 12 + size
        if at > len(data) or (kind == b"IHDR") != (index == 0):
            return None
        if index == 0 and not _is_sane_header(data[begin : begin + size]):
            return None
        if kind == b"IEND":
            return data[:at] if has_pixels else None
        has_pixels = has_pixels or kind == b"IDAT"
    return None


def _is_sane_header(header: bytes) -> bool:
    """width u32, height u32, and five bytes more."""
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    return len(header) == _HEADER_BYTES and _is_moderate(width, height)


def _is_moderate(width: int, height: int) -> bool:
    return 0 < width <= MAX_EDGE_PX and 0 < height <= MAX_EDGE_PX
