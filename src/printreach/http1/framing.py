"""How the body behind a head is framed (RFC 9112, section 6), told by its header lines alone."""

import re
from enum import Enum

from .fields import TOKEN, BadMessage


class Framing(Enum):
    """How the body that follows is framed."""

    NONE = "none"
    LENGTH = "length"
    CHUNKED = "chunked"
    UNTIL_CLOSE = "until close"


_LENGTH = re.compile(rb"[0-9]{1,19}")
_CODINGS = re.compile(rb"%b(?:[ \t]*+,[ \t]*+%b)*+" % (TOKEN, TOKEN))


def read_content_length(value: bytes) -> int:
    """Raises BadMessage (400) for anything but 1 to 19 ASCII digits."""
    if _LENGTH.fullmatch(value) is None:
        raise BadMessage(400, "Content-Length is not one plain number.")
    return int(value)


def check_transfer_encoding(values: list[bytes], http10: bool) -> None:
    """Passes `chunked` on HTTP/1.1. values: one for each Transfer-Encoding line, at least one.

    Raises BadMessage: 501 for a coding that we don't know, 400 for everything else.
    """
    if http10:
        raise BadMessage(400, "HTTP/1.0 has no Transfer-Encoding.")
    if len(values) != 1:
        raise BadMessage(400, "There is more than one Transfer-Encoding.")
    codings = values[0].lower()
    if codings == b"chunked":
        return
    if _CODINGS.fullmatch(codings) is None:
        raise BadMessage(400, "Transfer-Encoding is malformed.")
    if b"chunked" in [coding.strip(b" \t") for coding in codings.split(b",")[:-1]]:
        raise BadMessage(400, "In Transfer-Encoding, chunked is not the last coding.")
    raise BadMessage(501, "Transfer-Encoding names a coding other than chunked.")
