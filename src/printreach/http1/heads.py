"""Heads of HTTP/1.1 and HTTP/1.0 messages: bytes in, values out.

Strict for responses too: a line ends with CRLF, never with LF alone. Two things that printers' web
servers get wrong are forgiven in responses, because they can be read in one way only: a status line
without a reason, and a Content-Length line that is repeated word for word.

Empty lines before a request (RFC 9112, section 2.2) are the caller's to skip, one at most: a head
that begins with one is refused here.
"""

import re
from dataclasses import dataclass

from printreach.wire.heads import Headers

from .fields import BadMessage, parse_fields
from .framing import Framing, check_transfer_encoding, read_content_length

__all__ = [
    "MAX_HEAD_BYTES",
    "BadMessage",
    "Framing",
    "Request",
    "Response",
    "find_head_end",
    "parse_request",
    "parse_response",
]

MAX_HEAD_BYTES = 32 * 1024
"""First line, header lines and blank line together. Browsers and OctoPrint stay below 16 KiB."""


@dataclass(slots=True)
class Request:
    """A request's head, and what it says about the rest of the message.

    target: origin-form (path and query) or `*`, its bytes untouched.
    host: the Host line as sent, port included; empty where HTTP/1.0 left it out.
    length: the body's bytes where framing is LENGTH, else 0.
    upgrade: b"websocket" where this is a valid WebSocket handshake; other protocols are ignored.
    """

    method: bytes
    target: bytes
    host: bytes
    headers: Headers
    http10: bool
    framing: Framing
    length: int
    keep_alive: bool
    expects_continue: bool
    upgrade: bytes | None


@dataclass(slots=True)
class Response:
    """A response's head, and what it says about the rest of the message.

    length: the body's bytes where framing is LENGTH, else 0 (an answer to HEAD has no body).
    upgrade: the connection speaks another protocol behind this head (101).
    """

    status: int
    reason: bytes
    headers: Headers
    framing: Framing
    length: int
    keep_alive: bool
    upgrade: bool


_REQUEST_LINE = re.compile(
    rb"([A-Z0-9_-]{1,32}) ([!-\"$-~\x80-\xff]++) HTTP/([0-9])\.([0-9])\r\n",
)
_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9]) ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*+))?\r\n")
_ABSOLUTE = re.compile(rb"(?i:https?)://([^/?]++)(.*+)", re.DOTALL)
_HOST = re.compile(rb"(?:[0-9A-Za-z._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LENIENT_END = re.compile(rb"\n\r?\n")

_SPECIAL = frozenset(
    {b"host", b"content-length", b"transfer-encoding", b"connection", b"upgrade", b"expect"}
)


def find_head_end(buffer: bytes | bytearray, start: int = 0) -> int:
    """The index just behind the first blank line at or after `start`, or -1 where there is none.

    A blank line that a bare LF makes counts too: parse_* refuses that head at once, while waiting
    for a better one would leave the sender hanging. A caller whose buffer grew from n bytes
    searches on from max(0, n - 3).
    """
    end = buffer.find(b"\r\n\r\n", start)
    if end >= 0:
        return end + 4
    lenient = _LENIENT_END.search(buffer, start)
    return lenient.end() if lenient else -1


def parse_request(head: bytes) -> Request:
    """Read a request's head.

    head: everything up to and including the blank line.
    Raises BadMessage; its status is the answer to give before closing the connection.
    """
    if len(head) > MAX_HEAD_BYTES:
        raise BadMessage(431, "The head of the request is larger than 32 KiB.")
    line = _REQUEST_LINE.match(head)
    if line is None:
        raise BadMessage(400, "The request line is malformed.")
    method, target, major, minor = line.groups()
    if major != b"1":
        raise BadMessage(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    if minor > b"1":
        raise BadMessage(400, "There is no such version of HTTP/1.")
    if method == b"CONNECT":
        raise BadMessage(501, "CONNECT is not served here.")
    http10 = minor == b"0"
    headers = parse_fields(head, line.end())
    special = _special_values(headers)
    host = _host(special.get(b"host"), http10)
    if not target.startswith(b"/"):
        target = _origin_form(method, target, host)
    framing, length = _request_framing(special, http10)
    options = _connection_options(special)
    return Request(
        method,
        target,
        host,
        headers,
        http10,
        framing,
        length,
        _keeps_alive(options, http10),
        b"expect" in special and _expects_continue(special[b"expect"], http10),
        _upgrade(method, http10, options, special, framing, length),
    )


def parse_response(head: bytes, request_method: bytes) -> Response:
    """Read a response's head.

    head: everything up to and including the blank line.
    request_method: of the request that it answers; the framing depends on it.
    Raises BadMessage, always with status 502.
    """
    try:
        return _parse_response(head, request_method)
    except BadMessage as exc:
        raise BadMessage(502, exc.reason) from None


def _parse_response(head: bytes, request_method: bytes) -> Response:
    if len(head) > MAX_HEAD_BYTES:
        raise BadMessage(502, "The head of the response is larger than 32 KiB.")
    line = _STATUS_LINE.match(head)
    if line is None:
        raise BadMessage(502, "The status line is malformed.")
    http10 = line[1] == b"0"
    status = int(line[2])
    headers = parse_fields(head, line.end())
    special = _special_values(headers)
    if len(special.get(b"content-length", ())) > 1:
        headers = _forgive_repeated_length(headers, special)
    framing, length = _declared_framing(special, http10) or (Framing.UNTIL_CLOSE, 0)
    options = _connection_options(special)
    keep_alive = _keeps_alive(options, http10)
    if request_method == b"HEAD" or status < 200 or status in (204, 304):
        framing, length = Framing.NONE, 0
    return Response(
        status,
        line[3] or b"",
        headers,
        framing,
        length,
        keep_alive and framing is not Framing.UNTIL_CLOSE,
        status == 101 and b"upgrade" in options,
    )


def _special_values(headers: Headers) -> dict[bytes, list[bytes]]:
    """The values of the fields that we act on, by lower-case name, in order."""
    special: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        name = name.lower()
        if name in _SPECIAL:
            special.setdefault(name, []).append(value)
    return special


def _host(values: list[bytes] | None, http10: bool) -> bytes:
    if values is None:
        if http10:
            return b""
        raise BadMessage(400, "The request has no Host.")
    if len(values) != 1:
        raise BadMessage(400, "The request has more than one Host.")
    if _HOST.fullmatch(values[0]) is None:
        raise BadMessage(400, "Host is not a host name with an optional port.")
    return values[0]


def _origin_form(method: bytes, target: bytes, host: bytes) -> bytes:
    """The path and query of an absolute-form target; `*` stays for OPTIONS."""
    if target == b"*" and method == b"OPTIONS":
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


def _declared_framing(
    special: dict[bytes, list[bytes]], http10: bool
) -> tuple[Framing, int] | None:
    """What Transfer-Encoding or Content-Length say; None where there is neither."""
    codings = special.get(b"transfer-encoding")
    lengths = special.get(b"content-length")
    if codings is not None:
        if lengths is not None:
            raise BadMessage(400, "There are both Content-Length and Transfer-Encoding.")
        check_transfer_encoding(codings, http10)
        return Framing.CHUNKED, 0
    if lengths is None:
        return None
    if len(lengths) != 1:
        raise BadMessage(400, "There is more than one Content-Length.")
    return Framing.LENGTH, read_content_length(lengths[0])


def _request_framing(special: dict[bytes, list[bytes]], http10: bool) -> tuple[Framing, int]:
    return _declared_framing(special, http10) or (Framing.NONE, 0)


def _forgive_repeated_length(headers: Headers, special: dict[bytes, list[bytes]]) -> Headers:
    """Headers with the first Content-Length only, where all are the same; else as they were."""
    lengths = special[b"content-length"]
    if len(set(lengths)) != 1:
        return headers
    del lengths[1:]
    others = [field for field in headers if field[0].lower() != b"content-length"]
    return [*others, (b"Content-Length", lengths[0])]


def _connection_options(special: dict[bytes, list[bytes]]) -> list[bytes]:
    values = special.get(b"connection")
    if values is None:
        return []
    return [option.strip(b" \t") for option in b",".join(values).lower().split(b",")]


def _keeps_alive(options: list[bytes], http10: bool) -> bool:
    return b"close" not in options and (not http10 or b"keep-alive" in options)


def _expects_continue(values: list[bytes], http10: bool) -> bool:
    if any(value.lower() != b"100-continue" for value in values):
        raise BadMessage(417, "Only 100-continue can be expected.")
    return not http10


def _upgrade(
    method: bytes,
    http10: bool,
    options: list[bytes],
    special: dict[bytes, list[bytes]],
    framing: Framing,
    length: int,
) -> bytes | None:
    if b"upgrade" not in options or method != b"GET" or http10:
        return None
    protocols = special.get(b"upgrade", [])
    if len(protocols) != 1 or protocols[0].lower() != b"websocket":
        return None
    if framing is Framing.CHUNKED or length > 0:
        raise BadMessage(400, "A WebSocket handshake has no body.")
    return b"websocket"
