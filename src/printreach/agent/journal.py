"""An append-only file of records that survives a power cut at any instant.

Each line is a checksum and a record. A line that was cut off, or garbled by a dying card, is
skipped; the lines before and after it are kept.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from zlib import crc32

from printreach.agent.data_dir import DataDirRefused, read_private, write_private

log = logging.getLogger(__name__)

MAX_FILE_BYTES: Final = 8 * 1024 * 1024


class Journal:
    """Records without line ends. One process writes here, one call at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_whole = True
        self.size = 0

    def read(self) -> list[bytes]:
        """Return all records. A file that can't be read is started again, which is logged."""
        try:
            content = read_private(self._path, at_most=MAX_FILE_BYTES) or b""
        except DataDirRefused as refused:
            log.warning("%s A new file was started.", refused)
            self._is_whole = False
            return []
        self.size = len(content)
        *lines, rest = content.split(b"\n")
        records = [record for line in lines if (record := _record_in(line)) is not None]
        lost = len(lines) - len(records) + bool(rest)
        if lost:
            self._is_whole = False  # what is added next would be taken for the rest of a line
            log.warning("%s: skipped %d damaged line(s)", self._path, lost)
        return records

    @property
    def is_whole(self) -> bool:
        """False where it has to be rewritten before anything is added."""
        return self._is_whole

    def add(self, record: bytes, *, durable: bool) -> None:
        """durable: wait until it is on the disk. Raises OSError, and then nothing was added."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(self._path, flags, 0o600)
        try:
            line = _line_of(record)
            try:
                _write_all(file, line)
                if durable:
                    os.fsync(file)
            except OSError:
                self._is_whole = False  # until the half line is known to be gone
                os.ftruncate(file, self.size)
                self._is_whole = True
                raise
            self.size += len(line)
        finally:
            os.close(file)

    def replace(self, records: Sequence[bytes]) -> None:
        """Replace all records by these. Raises OSError, and then the file is unchanged."""
        content = b"".join(map(_line_of, records))
        write_private(self._path, content, durable=True)
        self.size = len(content)
        self._is_whole = True


def _line_of(record: bytes) -> bytes:
    return b"%08x %b\n" % (crc32(record), record)


def _record_in(line: bytes) -> bytes | None:
    checksum, _, record = line.partition(b" ")
    return record if checksum == b"%08x" % crc32(record) else None


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
