"""A request's Host and target, which must not contradict each other."""

import re
from typing import Final

from .fields import BadMessage

# A registered name as DNS and hosts files have it, or an IPv6 literal; then perhaps a port. The
# wider grammar of RFC 3986 (escapes, sub-delimiters, an empty name) names no host that exists.
_HOST: Final = re.compile(rb"(?:[0-9A-Za-z._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_ABSOLUTE: Final = re.compile(rb"(?i:https?)://([^/?]++)(.*+)", re.DOTALL)


def read_host(values: list[bytes] | None, http10: bool) -> bytes:
    """Return the one Host, as sent; empty if HTTP/1.0 left it out.

    values: one for each Host line, None for no line. Raises BadMessage (400).
    """
    if values is None:
        if http10:
            return b""
        raise BadMessage(400, "The request has no Host.")
    if len(values) != 1:
        raise BadMessage(400, "The request has more than one Host.")
    if _HOST.fullmatch(values[0]) is None:
        raise BadMessage(400, "Host is not a host name with an optional port.")
    return values[0]


def origin_form(method: bytes, target: bytes, host: bytes) -> bytes:
    """Return the target as path and query, bytes unchanged, or `*` for OPTIONS.

    Raises BadMessage (400) for any other form, and for an absolute form with another host: the
    next program on the way might use the one host where we used the other.
    """
    if target.startswith(b"/") or (target == b"*" and method == b"OPTIONS"):
        return target
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise BadMessage(400, "The request target is neither a path nor a web address.")
    if absolute[1].lower() != host.lower():
        raise BadMessage(400, "The request target names another host than Host does.")
    rest: bytes = absolute[2]
    if not rest and method == b"OPTIONS":  # RFC 9112, section 3.2.4
        return b"*"
    return rest if rest.startswith(b"/") else b"/" + rest
