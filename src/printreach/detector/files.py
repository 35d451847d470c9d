"""What the file of an image says of itself, read before a decoder sees it.

A decoder goes through a file piece by piece, so one of countless tiny pieces costs it seconds; and
some take memory for all pixels as soon as they have read how many there are. And each format ends
as its specification says: what goes on behind its end is two files in one, an image to us, and
something else to whoever opens it next.
Sources: ITU-T T.81 (JPEG), W3C PNG Specification (Third Edition), RFC 9649 (WebP).
"""

import struct
from typing import Final

from printreach.rules.detection_images import MOST_PIXELS
from printreach.rules.jpeg import claimed_size, whole_jpeg

_PNG_START: Final = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNK: Final = struct.Struct(">I4s")
_WEBP_CHUNK: Final = struct.Struct("<4sI")
_CRC_BYTES: Final = 4
_MOST_CHUNKS: Final = 10_000
"""Encoders write 8 KiB a chunk and more; of those the largest image has some 800."""
_MOST_PICTURES: Final = 16
"""Phones write the picture, a smaller one and a map of depth into one file, one behind another."""
_PADDING: Final = b"\x00\xff\r\n"
"""What cameras leave behind the end."""
_TRUNCATED: Final = "it is truncated or corrupt"
_FOLLOWED: Final = "something follows its end"
_NOT_WHOLE: Final = "it is truncated, or something follows its end"
_TOO_MANY_PARTS: Final = "it is made of too many parts"


class NotWhole(Exception):
    """It is of none of the formats, or not built as they are. Its words say why."""


def check_file(data: bytes) -> str:
    """Say which format it is: JPEG, PNG or WEBP. Raises NotWhole."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
        return "JPEG"
    if data.startswith(_PNG_START):
        _check_png(data)
        return "PNG"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        _check_webp(data)
        return "WEBP"
    raise NotWhole("it is no JPEG, PNG or WebP image" if data else "it is empty")


def check_pixels(width: int, height: int) -> None:
    """Raises NotWhole for more than are decoded."""
    if width * height > MOST_PIXELS:
        raise NotWhole(f"{width} x {height} pixels; {MOST_PIXELS} are decoded")


def declared_size(data: bytes, image_format: str) -> tuple[int, int] | None:
    """Width and height of a PNG or WebP file that was checked; None for a JPEG."""
    match image_format:
        case "PNG":
            width, height = data[16:20], data[20:24]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        case "WEBP":
            return _webp_size(data)
        case _:
            return None


def _check_jpeg(data: bytes) -> None:
    """One picture, or several one behind another: to decoders the first counts."""
    check_pixels(*(claimed_size(data) or (0, 0)))
    rest = data
    for _ in range(_MOST_PICTURES):
        picture = whole_jpeg(rest)
        if picture is None:
            break
        rest = rest[len(picture) :]
        if not rest.strip(_PADDING):
            return
        rest = rest.lstrip(b"\0")
    raise NotWhole(_TRUNCATED if rest is data else _FOLLOWED)


def _check_png(data: bytes) -> None:
    at = len(_PNG_START)
    for _ in range(_MOST_CHUNKS):
        if at + _PNG_CHUNK.size > len(data):
            break
        length, kind = _PNG_CHUNK.unpack_from(data, at)
        if (kind == b"IHDR") is not (at == len(_PNG_START)):
            break  # the head comes first, and once: a decoder believes the last
        at += _PNG_CHUNK.size + length + _CRC_BYTES
        if kind == b"IEND":
            if length or at > len(data) or data[at:].strip(_PADDING):
                break
            return
    raise NotWhole(_NOT_WHOLE)


def _check_webp(data: bytes) -> None:
    at, end = 12, int.from_bytes(data[4:8], "little") + 8
    if len(data) < end or data[end:].strip(_PADDING):
        raise NotWhole(_NOT_WHOLE)
    for _ in range(_MOST_CHUNKS):
        if at + _WEBP_CHUNK.size > end:
            return
        _, length = _WEBP_CHUNK.unpack_from(data, at)
        at += _WEBP_CHUNK.size + length + length % 2
    raise NotWhole(_TOO_MANY_PARTS)


def _webp_size(data: bytes) -> tuple[int, int]:
    """(0, 0) where its head is none."""
    kind, head = data[12:16], data[20:30]
    if len(head) < 10:
        return 0, 0
    if kind == b"VP8X":
        width, height = head[4:7], head[7:10]
        return 1 + int.from_bytes(width, "little"), 1 + int.from_bytes(height, "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        across, down = head[6:8], head[8:10]
        return int.from_bytes(across, "little") & 0x3FFF, int.from_bytes(down, "little") & 0x3FFF
    return 0, 0
