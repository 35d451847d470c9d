"""QOI pictures, which slicers write for small screens, as PNG, which browsers can show. Pure.

Source: The Quite OK Image Format, specification version 1.0; Portable Network Graphics.
"""

import struct
import zlib
from typing import Final

MAX_PIXELS: Final = 480 * 480
"""The largest that slicers write for screens; a Raspberry Pi takes about a second for it."""
_HEAD: Final = struct.Struct(">4sIIBB")
_OPAQUE_BLACK: Final = (0, 0, 0, 255)
_RGB, _RGBA = 0xFE, 0xFF
_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_RGBA_8: Final = bytes((8, 6, 0, 0, 0))
"""Eight bits for each of four channels, compressed and filtered as usual, not interlaced."""


def png_of_qoi(data: bytes) -> bytes | None:
    """Return the picture as PNG; None if it is none, breaks off, or is too large."""
    if len(data) < _HEAD.size:
        return None
    magic, width, height, _channels, _space = _HEAD.unpack_from(data)
    if magic != b"qoif" or not 0 < width * height <= MAX_PIXELS:
        return None
    try:
        pixels = _pixels(data, width * height)
    except IndexError:  # it breaks off
        return None
    return _png(width, height, pixels)


def _pixels(data: bytes, count: int) -> bytes:
    """Return four bytes for each pixel. Raises IndexError."""
    pixels = bytearray()
    seen = [(0, 0, 0, 0)] * 64
    red, green, blue, alpha = _OPAQUE_BLACK
    at = _HEAD.size
    while len(pixels) < 4 * count:
        tag, run = data[at], 1
        at += 1
        if tag in (_RGB, _RGBA):
            red, green, blue = data[at], data[at + 1], data[at + 2]
            at += 3
            if tag == _RGBA:
                alpha = data[at]
                at += 1
        elif tag < 0x40:
            red, green, blue, alpha = seen[tag]
        elif tag < 0x80:
            red = (red + (tag >> 4 & 3) - 2) & 255
            green = (green + (tag >> 2 & 3) - 2) & 255
            blue = (blue + (tag & 3) - 2) & 255
        elif tag < 0xC0:
            shift, other = (tag & 63) - 32, data[at]
            at += 1
            red = (red + shift - 8 + (other >> 4)) & 255
            green = (green + shift) & 255
            blue = (blue + shift - 8 + (other & 15)) & 255
        else:
            run = min((tag & 63) + 1, count - len(pixels) // 4)
        pixel = (red, green, blue, alpha)
        seen[(red * 3 + green * 5 + blue * 7 + alpha * 11) & 63] = pixel
        pixels += bytes(pixel) * run
    return bytes(pixels)


def _png(width: int, height: int, pixels: bytes) -> bytes:
    row = 4 * width
    lines = b"".join(b"\0" + pixels[at : at + row] for at in range(0, row * height, row))
    header = struct.pack(">II", width, height) + _RGBA_8
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
