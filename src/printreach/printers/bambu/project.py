"""The header that the slicer wrote above a print's G-code, and reading it on the printer's card.

A project is a zip of any size: only its directory and the first bytes of one member are fetched,
range by range. Source: files of Bambu Studio 01.10 to 02.08, which OrcaSlicer follows: a block of
totals, then the settings in alphabetical order.
"""

import io
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, cast
from zipfile import BadZipFile, LargeZipFile, ZipFile

from printreach.contract.files import FileDetails
from printreach.printers import loose
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES

RANGE_BYTES = 64 * 1024
MAX_BYTES = 2 * 1024 * 1024
MAX_RANGES = 24
_PLATE = re.compile(r"Metadata/plate_(\d{1,3})\.gcode")
_PICTURE = re.compile(r"Metadata/plate_(\d{1,3})\.png")

HEAD_BYTES = 64 * 1024
"""Holds the totals, and most of the settings."""

_LINE = re.compile(r"; ([^:=\n]{1,60}?)\s*[:=]\s*([^\n]*)")
_SLICER = re.compile(r"^; ([A-Za-z]+(?:Studio|Slicer)) ([\w.+-]{1,40})\s*$", re.MULTILINE)
_ESTIMATE = re.compile(r"total estimated time: ([\d dhms]{1,40})")


@dataclass(frozen=True, kw_only=True, slots=True)
class SlicerFacts:
    """None: not told."""

    time_s: int | None = None
    layers: int | None = None
    filament_mm: int | None = None
    filament_mg: int | None = None
    height_mm: float | None = None
    layer_height_mm: float | None = None
    first_layer_height_mm: float | None = None
    nozzle_mm: float | None = None
    filament_type: str | None = None
    slicer: str | None = None
    slicer_version: str | None = None


NOTHING = SlicerFacts()


def read_sliced(head: bytes) -> SlicerFacts:
    """head: the beginning of the G-code."""
    text = head[:HEAD_BYTES].decode("utf-8", "replace")
    written = {name.strip(): value.strip() for name, value in _LINE.findall(text)}
    slicer = _SLICER.search(text)
    first = {  # of the values for each filament
        "nozzle_diameter": written.get("nozzle_diameter", "").split(",")[0],
        "filament_type": written.get("filament_type", "").split(";")[0],
    }
    return SlicerFacts(
        time_s=_time_s(text),
        layers=loose.count(written, "total layer number") or None,
        filament_mm=_total(written.get("total filament length [mm]"), 1),
        filament_mg=_total(written.get("total filament weight [g]"), 1000),
        height_mm=loose.positive(written, "max_z_height"),
        layer_height_mm=loose.positive(written, "layer_height"),
        first_layer_height_mm=loose.positive(written, "initial_layer_print_height"),
        nozzle_mm=loose.positive(
            {"first": written.get("nozzle_diameter", "").split(",")[0]}, "first"
        ),
        filament_type=loose.text(first, "filament_type"),
        slicer=slicer[1] if slicer else None,
        slicer_version=slicer[2] if slicer else None,
    )


def with_sliced(details: FileDetails, sliced: SlicerFacts) -> FileDetails:
    """details of a file, with what its slicer wrote."""
    return FileDetails(
        virtual_path=details.virtual_path,
        platform_path=details.platform_path,
        file_name=details.file_name,
        size_bytes=details.size_bytes,
        modified_time_sec=details.modified_time_sec,
        est_print_time_sec=loose.known(sliced.time_s),
        est_filament_used_mm=loose.known(sliced.filament_mm),
        est_filament_weight_mg=loose.known(sliced.filament_mg),
        layer_count=loose.known(sliced.layers),
        layer_height_mm=loose.known(sliced.layer_height_mm),
        first_layer_height_mm=loose.known(sliced.first_layer_height_mm),
        object_height_mm=loose.known(sliced.height_mm),
        nozzle_diameter_mm=loose.known(sliced.nozzle_mm),
        filament_type=loose.known(sliced.filament_type),
        slicer=loose.known(sliced.slicer),
        slicer_version=loose.known(sliced.slicer_version),
    )


def _time_s(text: str) -> int | None:
    estimate = _ESTIMATE.search(text)
    return loose.duration_s(estimate[1]) if estimate else None


def _total(written: str | None, factor: int) -> int | None:
    """Return the sum over all filaments, which stand with commas between them."""
    if written is None:
        return None
    amounts = [loose.as_number(part) for part in written.split(",")]
    if any(amount is None or amount < 0 for amount in amounts):
        return None
    total = factor * sum(amount for amount in amounts if amount is not None)
    return int(total) if 0 < total <= loose.MAX_INT else None


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
