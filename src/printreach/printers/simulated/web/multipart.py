"""multipart/form-data (RFC 7578) as it arrives: a form with a file of any size.

Sans-IO: feed() takes bytes and gives events; no more than a delimiter's length is held back.
"""

import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

_MAX_HEAD_BYTES = 8 * 1024
_BOUNDARY = re.compile(
    rb'(?i)multipart/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^;\s]{1,70}))'
)
_DISPOSITION = re.compile(r"(?im)^content-disposition:\s*form-data\s*(;.*)$")
_PARAMETER = re.compile(r';\s*(name|filename\*?)=(?:"((?:\\.|[^"\\])*)"|([^;\s]+))', re.IGNORECASE)
_ESCAPED = re.compile(r'\\(["\\])')


class BadForm(Exception):
    """The body is no form that we can read; the sentence says why."""


@dataclass(frozen=True, slots=True)
class PartBegins:
    """A field. filename: without folders; None where the field is no file."""

    name: str
    filename: str | None


@dataclass(frozen=True, slots=True)
class PartData:
    """The next bytes of the field that began last."""

    data: bytes


Event = PartBegins | PartData


class _At(Enum):
    PREAMBLE = "before the first field"
    DELIMITER = "just behind a delimiter"
    HEAD = "in the head of a field"
    DATA = "in the data of a field"
    END = "behind the last field"


class FormReader:
    """Takes one form apart."""

    def __init__(self, content_type: bytes | None) -> None:
        """Raises BadForm where the header names no form and boundary."""
        found = _BOUNDARY.match(content_type or b"")
        if found is None:
            raise BadForm("The body has to be multipart/form-data.")
        self._delimiter = b"\r\n--" + (found[1] or found[2])
        self._at = _At.PREAMBLE
        self._buffer = b"\r\n"  # the first delimiter has no line end of its own before it

    def feed(self, data: bytes) -> list[Event]:
        """Return what these bytes bring. Raises BadForm."""
        self._buffer += data
        events: list[Event] = []
        while self._step(events):
            pass
        return events

    def finish(self) -> None:
        """End the body. Raises BadForm where the form has not ended."""
        if self._at is not _At.END:
            raise BadForm("The form was cut short.")

    def _step(self, events: list[Event]) -> bool:
        """Take one step; False when it needs more bytes."""
        match self._at:
            case _At.PREAMBLE | _At.DATA:
                return self._pass_data(events)
            case _At.DELIMITER:
                return self._pass_delimiter()
            case _At.HEAD:
                return self._pass_head(events)
            case _At.END:
                self._buffer = b""
                return False

    def _pass_data(self, events: list[Event]) -> bool:
        end = self._buffer.find(self._delimiter)
        # Without a delimiter, the last bytes may be the beginning of one.
        size = end if end >= 0 else max(len(self._buffer) - len(self._delimiter) + 1, 0)
        if size and self._at is _At.DATA:
            events.append(PartData(self._buffer[:size]))
        if end < 0:
            self._buffer = self._buffer[size:]
            return False
        self._buffer = self._buffer[end + len(self._delimiter) :]
        self._at = _At.DELIMITER
        return True

    def _pass_delimiter(self) -> bool:
        if len(self._buffer) < 2:
            return False
        if self._buffer.startswith(b"--"):
            self._at = _At.END
        elif self._buffer.startswith(b"\r\n"):
            self._at = _At.HEAD
        else:
            raise BadForm("A delimiter of the form is malformed.")
        return True

    def _pass_head(self, events: list[Event]) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if max(end, 0) > _MAX_HEAD_BYTES or (end < 0 and len(self._buffer) > _MAX_HEAD_BYTES):
            raise BadForm("The head of a field is too long.")
        if end < 0:
            return False
        events.append(_read_head(self._buffer[:end]))
        self._buffer = self._buffer[end + 4 :]
        self._at = _At.DATA
        return True


def _read_head(head: bytes) -> PartBegins:
    try:
        disposition = _DISPOSITION.search(head.decode())
    except UnicodeDecodeError:
        raise BadForm("The head of a field is not UTF-8.") from None
    if disposition is None:
        raise BadForm("A field has no Content-Disposition.")
    found = {m[1].lower(): _unquoted(m[2], m[3]) for m in _PARAMETER.finditer(disposition[1])}
    if "name" not in found:
        raise BadForm("A field has no name.")
    filename = found.get("filename")
    if "filename*" in found:
        filename = unquote(found["filename*"].rpartition("'")[2])
    return PartBegins(found["name"], None if filename is None else _without_folders(filename))


def _unquoted(quoted: str | None, plain: str) -> str:
    """Browsers and curl write a quote as %22, older programs with a backslash."""
    return plain if quoted is None else _ESCAPED.sub(r"\1", quoted).replace("%22", '"')


def _without_folders(filename: str) -> str:
    return re.split(r"[/\\]", filename)[-1]
