"""Parsing header lines, as bytes: lines that could be understood in two ways are refused here."""

import re
from typing import Final, NoReturn

from printreach.wire.heads import Headers


class BadMessage(Exception):
    """The other side's bytes are not HTTP, or not the HTTP that is supported here.

    status: of the answer: 400, 417, 431, 501 or 505 to a request; 502 for a response.
    reason: a sentence for people; it repeats no byte of the message.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
"""RFC 9110, section 5.6.2, as a piece of an expression."""
_VALUE: Final = rb"[\t\x20-\x7e\x80-\xff]*+"

# One header line after another line. Either holds exactly one LF, at its end.
_FIELD: Final = re.compile(rb"(?<=\n)(%b):[ \t]*+(%b)\r\n" % (TOKEN, _VALUE))
_FIELD_WITHOUT_TRAILING_BLANKS: Final = re.compile(
    rb"(?<=\n)(%b):[ \t]*+(%b)(?<![ \t])\r\n" % (TOKEN, _VALUE)
)

_SPECIAL_NAMES: Final = frozenset(
    {b"connection", b"content-length", b"expect", b"host", b"transfer-encoding", b"upgrade"}
)

# For a head that is refused already: the first pattern that is found gives the sentence.
_EXPLANATIONS: Final = (
    (re.compile(rb"(?<!\r)\n"), "A line of the head ends with a bare LF."),
    (re.compile(rb"\r(?!\n)"), "The head has a CR that ends no line."),
    (re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"), "The head has a control character."),
    (re.compile(rb"\n[ \t]"), "A header line is folded."),
    (re.compile(rb"\n[^:\r\n]*+(?<=[ \t]):"), "A header line has a blank before its colon."),
    (re.compile(rb"\n:"), "A header line has no name."),
)


def parse_fields(head: bytes, start: int) -> Headers:
    """Parse the header lines from `start`, just after the first line, to the blank line at the end.

    Raises BadMessage (400) for anything but `name: value CRLF` lines and that blank line.
    """
    if not head.endswith(b"\r\n\r\n"):
        _refuse(head)
    # findall skips text that doesn't match. As a match holds one LF, and the first line and the
    # blank line one each, equal counts mean that every line matched with nothing between them.
    lines = head.count(b"\n") - 2
    headers: Headers = _FIELD_WITHOUT_TRAILING_BLANKS.findall(head, start)
    if len(headers) != lines:
        # Trimming in the expression, or looking for blanks first, would cost every head more.
        headers = [(name, value.rstrip(b" \t")) for name, value in _FIELD.findall(head, start)]
        if len(headers) != lines:
            _refuse(head)
    return headers


def special_values(headers: Headers) -> dict[bytes, list[bytes]]:
    """Return the values of the fields that this room interprets, by lower-case name, in order."""
    special: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        name = name.lower()
        if name in _SPECIAL_NAMES:
            special.setdefault(name, []).append(value)
    return special


def is_field_line(line: bytes) -> bool:
    """True if it is one whole `name: value CRLF` line."""
    return _FIELD.fullmatch(b"\n" + line, 1) is not None


def _refuse(head: bytes) -> NoReturn:
    for pattern, reason in _EXPLANATIONS:
        if pattern.search(head):
            raise BadMessage(400, reason)
    raise BadMessage(400, "A header line is malformed.")
