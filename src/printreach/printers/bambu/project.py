"""The beginning of a print's G-code, out of a project on the printer's card: a zip of any size.

Only its directory and the first bytes of one member are fetched, range by range.
"""

import io
import re
import struct
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast
from zipfile import BadZipFile, LargeZipFile, ZipFile

from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES

from .sliced import HEAD_BYTES

RANGE_BYTES = 64 * 1024
MAX_BYTES = 2 * 1024 * 1024
MAX_RANGES = 24
_PLATE = re.compile(r"Metadata/plate_(\d{1,3})\.gcode")
_PICTURE = re.compile(r"Metadata/plate_(\d{1,3})\.png")


class TooMuch(OSError):
    """The wanted parts are too far apart or too large to be fetched."""


_NOT_READABLE = (
    *(BadZipFile, LargeZipFile, TooMuch, struct.error, zlib.error),
    *(EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError, ValueError),
)


class RangedFile(io.RawIOBase):
    """A file of which ranges can be had. fetch: at most the given number of bytes at an offset."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._fetch = fetch
        self._at = 0
        self._bytes_left = MAX_BYTES
        self._ranges_left = MAX_RANGES

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("before the beginning")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # narrower
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        self._bytes_left -= wanted
        self._ranges_left -= 1
        if self._bytes_left < 0 or self._ranges_left < 0:
            raise TooMuch("this project can't be read in a few ranges")
        data = self._fetch(self._at, wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def plate_head(file: RangedFile, plate: int | None = None) -> bytes | None:
    """plate: the first one where it isn't named. None where there is none, or this is no project.

    Raises what fetch raises.
    """
    return _beginning(file, _PLATE, plate, HEAD_BYTES)


def plate_picture(file: RangedFile) -> bytes | None:
    """Return the picture of the first plate; None where there is none, or this is no project.

    Raises what fetch raises.
    """
    return _beginning(file, _PICTURE, None, MAX_THUMBNAIL_BYTES + 1)


def _beginning(
    file: RangedFile, names: re.Pattern[str], plate: int | None, at_most: int
) -> bytes | None:
    """Return the first bytes of the member that belongs to a plate. names: of such members.

    No more than that is unpacked, whatever size a member claims.
    """
    try:
        with ZipFile(cast("BinaryIO", io.BufferedReader(file, RANGE_BYTES))) as archive:
            plates = [
                (int(match[1]), name)
                for name in archive.namelist()
                if (match := names.fullmatch(name))
            ]
            for number, name in sorted(plates):
                if plate is None or number == plate:
                    with archive.open(name) as member:
                        return member.read(at_most)
    except _NOT_READABLE:
        return None
    return None
