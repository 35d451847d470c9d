"""Checks of an image file's structure before a decoder reads it.

A decoder goes through a file chunk by chunk, so a file of countless tiny chunks costs it seconds;
and some decoders allocate memory for all pixels once they have read the size. A file must also end
where its format ends: with more data after it, it could be an image here and something else to the
next program that opens it.
Sources: ITU-T T.81 (JPEG), W3C PNG Specification (Third Edition), RFC 9649 (WebP).
"""

import struct
from typing import Final

from printreach.rules.detection import MAX_IMAGE_PIXELS
from printreach.rules.detection.jpeg import claimed_size, whole_jpeg

_PNG_START: Final = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNK: Final = struct.Struct(">I4s")
_WEBP_CHUNK: Final = struct.Struct("<4sI")
_CRC_BYTES: Final = 4
_MAX_CHUNKS: Final = 10_000
"""Encoders write at least 8 KiB per chunk, so the largest image has some 800."""
_MAX_PICTURES: Final = 16
"""Phones write the photo, a smaller one and a depth map one after another into one file."""
_PADDING: Final = b"\x00\xff\r\n"
"""Bytes with which cameras pad a file after its end."""
_TRUNCATED: Final = "it is truncated or corrupt"
_FOLLOWED: Final = "something follows its end"
_MALFORMED: Final = "it is truncated, or something follows its end"
_TOO_MANY_PARTS: Final = "it is made of too many parts"


class MalformedImage(Exception):
    """The file is of no known format, or malformed. The message says why."""


def check_file(data: bytes) -> str:
    """Return the format: JPEG, PNG or WEBP. Raises MalformedImage."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
        return "JPEG"
    if data.startswith(_PNG_START):
        _check_png(data)
        return "PNG"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        _check_webp(data)
        return "WEBP"
    raise MalformedImage("it is no JPEG, PNG or WebP image" if data else "it is empty")


def check_pixels(width: int, height: int) -> None:
    """Raise MalformedImage for more pixels than are decoded."""
    if width * height > MAX_IMAGE_PIXELS:
        raise MalformedImage(f"{width} x {height} pixels; {MAX_IMAGE_PIXELS} are decoded")


def declared_size(data: bytes, image_format: str) -> tuple[int, int] | None:
    """Return width and height of a checked PNG or WebP file; None for a JPEG."""
    match image_format:
        case "PNG":
            width, height = data[16:20], data[20:24]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        case "WEBP":
            return _webp_size(data)
        case _:
            return None


def _check_jpeg(data: bytes) -> None:
    """Check one JPEG, or several one after another; decoders use the first."""
    check_pixels(*(claimed_size(data) or (0, 0)))
    rest = data
    for _ in range(_MAX_PICTURES):
        picture = whole_jpeg(rest)
        if picture is None:
            break
        rest = rest[len(picture) :]
        if not rest.strip(_PADDING):
            return
        rest = rest.lstrip(b"\0")
    raise MalformedImage(_TRUNCATED if rest is data else _FOLLOWED)


def _check_png(data: bytes) -> None:
    at = len(_PNG_START)
    for _ in range(_MAX_CHUNKS):
        if at + _PNG_CHUNK.size > len(data):
            break
        length, kind = _PNG_CHUNK.unpack_from(data, at)
        if (kind == b"IHDR") is not (at == len(_PNG_START)):
            break  # IHDR comes first and once; decoders use the last one
        at += _PNG_CHUNK.size + length + _CRC_BYTES
        if kind == b"IEND":
            if length or at > len(data) or data[at:].strip(_PADDING):
                break
            return
    raise MalformedImage(_MALFORMED)


def _check_webp(data: bytes) -> None:
    at, end = 12, int.from_bytes(data[4:8], "little") + 8
    if len(data) < end or data[end:].strip(_PADDING):
        raise MalformedImage(_MALFORMED)
    for _ in range(_MAX_CHUNKS):
        if at + _WEBP_CHUNK.size > end:
            return
        _, length = _WEBP_CHUNK.unpack_from(data, at)
        at += _WEBP_CHUNK.size + length + length % 2
    raise MalformedImage(_TOO_MANY_PARTS)


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return width and height; (0, 0) if the header is invalid."""
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
