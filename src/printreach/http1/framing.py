"""The framing of the body after a head (RFC 9112, section 6), according to its header lines."""

import re
from enum import Enum
from typing import Final

from .fields import TOKEN, BadMessage


class Framing(Enum):
    """The framing of the body that follows."""

    NONE = "none"
    LENGTH = "length"
    CHUNKED = "chunked"
    UNTIL_CLOSE = "until close"


_LENGTH: Final = re.compile(rb"[0-9]{1,19}")
_CODINGS: Final = re.compile(rb"%b(?:[ \t]*+,[ \t]*+%b)*+" % (TOKEN, TOKEN))


def declared_framing(special: dict[bytes, list[bytes]], http10: bool) -> tuple[Framing, int] | None:
    """Return the framing that Transfer-Encoding or Content-Length declares; None without both.

    special: values by lower-case name, as special_values() returns them.
    Raises BadMessage (400 or 501) if both are there, repeated or malformed.
    """
    codings = special.get(b"transfer-encoding")
    lengths = special.get(b"content-length")
    if codings is not None:
        if lengths is not None:
            raise BadMessage(400, "There are both Content-Length and Transfer-Encoding.")
        _check_codings(codings, http10)
        return Framing.CHUNKED, 0
    if lengths is None:
        return None
    if len(lengths) != 1:
        raise BadMessage(400, "There is more than one Content-Length.")
    if _LENGTH.fullmatch(lengths[0]) is None:
        raise BadMessage(400, "Content-Length is not one plain number.")
    return Framing.LENGTH, int(lengths[0])


def _check_codings(values: list[bytes], http10: bool) -> None:
    """Accept `chunked` on HTTP/1.1 only. Raises BadMessage: 501 for unknown codings, else 400."""
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
