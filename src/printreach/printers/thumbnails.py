"""Thumbnails that slicers write at the beginning of a file, as text or in binary G-code.

Those for small screens are QOI pictures, which become PNG, since browsers can't show them.
Source: files of PrusaSlicer 2.7 and OrcaSlicer 2.1; the specification of libbgcode for binary ones;
The Quite OK Image Format, specification version 1.0; Portable Network Graphics.
"""

import asyncio
import base64
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES, thumbnail_of

from .port import Download

MAX_HEAD_BYTES: Final = 2 * 1024 * 1024
"""Of a file, read in search of thumbnails. Slicers put all of them before the first move."""
MAX_LISTED: Final = 16
"""Thumbnails of one file that are looked at."""
_BEGIN: Final = re.compile(
    rb"^;[ \t]*thumbnail(?:_(?:PNG|JPG|QOI))? begin[ \t]+(\d{1,4})[x ](\d{1,4})\b[^\n]*\n",
    re.MULTILINE,
)
_END: Final = re.compile(rb"^;[ \t]*thumbnail(?:_(?:PNG|JPG|QOI))? end", re.MULTILINE)
_MOVE: Final = re.compile(rb"\n[ \t]*G(?:0|1|28)[ \t\r\n]")
_LINE_MARKS: Final = b"; \t\r\n"

_BINARY: Final = b"GCDE"
_BINARY_HEAD: Final = struct.Struct("<4sIH")
_BLOCK: Final = struct.Struct("<HHI")
_BLOCK_SIZE: Final = struct.Struct("<I")
_PICTURE: Final = struct.Struct("<HHH")
_G_CODE_BLOCK, _THUMBNAIL_BLOCK = 1, 5
_PARAMETER_BYTES: Final = 2
"""Of every block that holds no thumbnail."""

MAX_PIXELS: Final = 480 * 480
"""The largest that slicers write for screens; a Raspberry Pi takes about a second for it."""
_HEAD: Final = struct.Struct(">4sIIBB")
_OPAQUE_BLACK: Final = (0, 0, 0, 255)
_RGB, _RGBA = 0xFE, 0xFF
_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_RGBA_8: Final = bytes((8, 6, 0, 0, 0))
"""Eight bits for each of four channels, compressed and filtered as usual, not interlaced."""


class Sized(Protocol):
    """A picture's size in pixels, as whoever lists it says."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...


S = TypeVar("S", bound=Sized)


@dataclass(frozen=True, slots=True)
class FoundThumbnail:
    """A thumbnail in a file. encoded: in base64, with the marks of comments, if is_text."""

    width: int
    height: int
    encoded: bytes
    is_text: bool


def by_fit(listed: Sequence[S], size_px: int) -> list[S]:
    """Sort pictures: first the smallest that has the size, and last the smallest of all.

    size_px: of the longer edge.
    """

    def misfit(picture: S) -> tuple[bool, int]:
        edge = max(picture.width, picture.height)
        return edge < size_px, edge if edge >= size_px else -edge

    return sorted(listed, key=misfit)


async def read_thumbnail(
    opening: AbstractAsyncContextManager[Download], size_px: int
) -> bytes | None:
    """Return the thumbnail in a file that fits best, PNG or JPEG; None if it has none.

    Reads no more of the file than its beginning. Raises PrinterRefused.
    """
    head = bytearray()
    async with opening as download:
        async for chunk in download.chunks:
            searched_from = max(0, len(head) - 8)
            head += chunk
            if len(head) >= MAX_HEAD_BYTES or _has_move(head, searched_from):
                break
    return await asyncio.to_thread(thumbnail_in, bytes(head[:MAX_HEAD_BYTES]), size_px)


def thumbnail_in(head: bytes, size_px: int) -> bytes | None:
    """Return the picture that fits best; one that can't be read is passed over."""
    is_binary = head.startswith(_BINARY)
    found = _in_blocks(head) if is_binary else _in_comments(head)
    readable = (_picture(each) for each in by_fit(list(found), size_px))
    return next((picture for picture in readable if picture is not None), None)


def _has_move(head: bytearray, searched_from: int) -> bool:
    is_binary = head.startswith(_BINARY)
    return not is_binary and _MOVE.search(head, searched_from) is not None


def _in_comments(head: bytes) -> Iterator[FoundThumbnail]:
    at = 0
    for _ in range(MAX_LISTED):
        begin = _BEGIN.search(head, at)
        end = _END.search(head, begin.end()) if begin is not None else None
        if begin is None or end is None:
            return
        at = end.end()
        encoded = head[begin.end() : end.start()]
        yield FoundThumbnail(int(begin[1]), int(begin[2]), encoded, is_text=True)


def _in_blocks(head: bytes) -> Iterator[FoundThumbnail]:
    """Go through the blocks of binary G-code. A picture in it is not compressed once more."""
    if len(head) < _BINARY_HEAD.size:
        return
    checksum_bytes = 4 if _BINARY_HEAD.unpack_from(head)[2] else 0
    at, listed = _BINARY_HEAD.size, 0
    while at + _BLOCK.size + _BLOCK_SIZE.size + _PICTURE.size <= len(head) and listed < MAX_LISTED:
        kind, compression, size = _BLOCK.unpack_from(head, at)
        at += _BLOCK.size
        if compression:
            (size,) = _BLOCK_SIZE.unpack_from(head, at)
            at += _BLOCK_SIZE.size
        if kind == _G_CODE_BLOCK:
            return
        if kind == _THUMBNAIL_BLOCK:
            _format, width, height = _PICTURE.unpack_from(head, at)
            at += _PICTURE.size
            listed += 1
            if not compression:
                yield FoundThumbnail(width, height, head[at : at + size], is_text=False)
        else:
            at += _PARAMETER_BYTES
        at += size + checksum_bytes


def _picture(found: FoundThumbnail) -> bytes | None:
    if len(found.encoded) > 2 * MAX_THUMBNAIL_BYTES:
        return None
    data = found.encoded
    if found.is_text:
        try:
            data = base64.b64decode(data.translate(None, _LINE_MARKS), validate=True)
        except ValueError:
            return None
    data = png_of_qoi(data) or data
    thumbnail = thumbnail_of(data)
    return None if thumbnail is None else thumbnail.data


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
