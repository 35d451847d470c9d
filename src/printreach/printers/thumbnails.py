"""Thumbnails that slicers write at the beginning of a file, as text or in binary G-code.

Source: files of PrusaSlicer 2.7 and OrcaSlicer 2.1; the specification of libbgcode for binary ones.
"""

import asyncio
import base64
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES, thumbnail_of

from .port import Download
from .qoi import png_of_qoi

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
