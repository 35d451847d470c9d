"""The Range header (RFC 9110, section 14): one span of bytes, or none that we serve."""

import re
from dataclasses import dataclass

_RANGE = re.compile(rb"bytes=(\d{0,18})-(\d{0,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes from first up to, not including, end."""

    first: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.first


class UnsatisfiableRange(Exception):
    """A well-formed range that lies outside the file."""


def read_range(header: bytes | None, size: int) -> Span | None:
    """Return the part that is asked for.

    None for the whole, also where several or none are understood.

    Raises UnsatisfiableRange.
    """
    found = _RANGE.fullmatch(header or b"")
    if found is None or found.groups() == (b"", b""):
        return None
    first, last = found.groups()
    if not first:
        length = min(int(last), size)
        span = Span(size - length, size)
    else:
        span = Span(int(first), min(int(last) + 1, size) if last else size)
        if last and int(last) < int(first):
            return None
    if span.length <= 0:
        raise UnsatisfiableRange
    return span
