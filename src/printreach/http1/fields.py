"""The header lines of a head, as bytes: what is refused here can't be read in two ways later."""

import re
from typing import NoReturn

from printreach.wire.heads import Headers


class BadMessage(Exception):
    """The other side's bytes are not the HTTP we speak.

    status: what to answer: 400, 417, 431, 501 or 505 for a request, 502 where it was a response.
    reason: a sentence for people; it repeats no byte of the message.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
"""RFC 9110, section 5.6.2, as a piece of an expression."""
_VALUE = rb"[\t\x20-\x7e\x80-\xff]*+"

_FIELD = re.compile(rb"(?<=\n)(%b):[ \t]*+(%b)\r\n" % (TOKEN, _VALUE))
"""One header line behind another line. It holds exactly one LF, at its end."""

# For a head that is refused already: the first that is found gives the sentence.
_EXPLANATIONS = (
    (re.compile(rb"(?<!\r)\n"), "A line of the head ends with a bare LF."),
    (re.compile(rb"\r(?!\n)"), "The head has a CR that ends no line."),
    (re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"), "The head has a control character."),
    (re.compile(rb"\n[ \t]"), "A header line is folded."),
    (re.compile(rb"\n[^:\r\n]*[ \t]:"), "A header line has a blank before its colon."),
    (re.compile(rb"\n:"), "A header line has no name."),
)


def parse_fields(head: bytes, start: int) -> Headers:
    """The header lines from `start` (just behind the first line's CRLF) to the blank line.

    Raises BadMessage (400) for anything but `name: value CRLF` lines and the blank line at the end.
    """
    headers: Headers = _FIELD.findall(head, start)
    # findall skips what doesn't match. As every match holds one LF, the first line and the blank
    # line one each, equal counts mean that every line was matched.
    if head.count(b"\n") != len(headers) + 2 or not head.endswith(b"\r\n\r\n"):
        _refuse(head)
    # Lazy matching in the expression would trim too, at three times the cost of the whole.
    if b" \r\n" in head or b"\t\r\n" in head:
        return [(name, value.rstrip(b" \t")) for name, value in headers]
    return headers


def is_field_line(line: bytes) -> bool:
    """Whether it is one whole `name: value CRLF` line."""
    return _FIELD.fullmatch(b"\n" + line, 1) is not None


def _refuse(head: bytes) -> NoReturn:
    for pattern, reason in _EXPLANATIONS:
        if pattern.search(head):
            raise BadMessage(400, reason)
    raise BadMessage(400, "A header line is malformed.")
