"""HTTP heads as they travel inside the tunnel, and the header fields that end at a hop.

A head in the tunnel is text: a first line, then `Name: value` lines, each ended by CRLF. It is
checked on arrival, since the other end may be another tenant's machine: a head that passes
`decode_*` can be written into an HTTP/1.1 message without a change.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .errors import CloseCode, RemoteProtocolError

Headers = list[tuple[bytes, bytes]]

MAX_HEAD_BYTES: Final = 40 * 1024
"""The largest head in the tunnel: a 32 KiB head of HTTP/1.1 and the fields that the ends add."""

REQUEST_ID_FIELD: Final = b"X-Service-Request-Id"
"""The id of a request, by which logs name it. The first node that it meets adds it, as the first
line after the request line, and to the answer."""

TRACE_PARENT_FIELD: Final = b"X-Service-Trace-Parent"
"""The `traceparent` of a request that the service makes of itself, where traces are wanted."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_TEXT: Final = rb"[\t\x20-\x7e\x80-\xff]*"
_VALUE: Final = rb"(?:" + _TEXT + rb"[\x21-\x7e\x80-\xff])?+"  # ends with no blank
_FIELD: Final = re.compile(rb"(?<=\n)(%b): [ \t]*+(%b)[ \t]*+\r\n" % (_TOKEN, _VALUE))
_REQUEST_ID: Final = rb"[A-Za-z0-9._:-]{8,64}+"
_REQUEST_LINE: Final = re.compile(
    rb"([A-Za-z0-9_-]{1,32}+) ([\x21-\x22\x24-\x7e\x80-\xff]++)\r\n(?:%b: (%b)\r\n)?+"
    % (REQUEST_ID_FIELD, _REQUEST_ID)
)
_STATUS_LINE: Final = re.compile(rb"([1-9][0-9][0-9]) (%b+)\r\n" % _TEXT)

_IS_REQUEST_ID: Final = re.compile(_REQUEST_ID).fullmatch

HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Fields that apply to one connection only (RFC 9110, section 7.6.1, and RFC 2616's list)."""

_KEEP_ALIVE: Final = [b"keep-alive"]
"""The `Connection` value of nearly every server; it names a hop-by-hop field only."""
_NEVER_NAMED: Final = frozenset({b"content-length", b"host"})
"""Fields that a `Connection` line can't remove: the framing and the address of the message."""


@dataclass(init=False, slots=True)
class RequestLine:
    """A request's first line, and its id.

    request_id: empty for none. lines: the lines after both, for decode_fields.
    """

    method: bytes
    target: bytes
    request_id: bytes
    lines: bytes

    # Written out, since mypyc compiles it, and not the one that dataclass makes.
    def __init__(self, method: bytes, target: bytes, request_id: bytes, lines: bytes) -> None:
        self.method = method
        self.target = target
        self.request_id = request_id
        self.lines = lines


class RequestHead(NamedTuple):
    method: bytes
    target: bytes
    headers: Headers


@dataclass(init=False, slots=True)
class ResponseHead:
    status: int
    reason: bytes
    headers: Headers

    # Written out, since mypyc compiles it, and not the one that dataclass makes.
    def __init__(self, status: int, reason: bytes, headers: Headers) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers


def get(headers: Iterable[tuple[bytes, bytes]], name_lower: bytes) -> bytes | None:
    """Return the first value of a field, or None. name_lower: the name in lower case."""
    for name, value in headers:
        if name.lower() == name_lower:
            return value
    return None


def strip_hop_by_hop(headers: Headers) -> Headers:
    """Return the fields without hop-by-hop fields and those that `Connection` names."""
    kept: Headers = []
    options = []
    for field in headers:
        name = field[0].lower()
        if name not in HOP_BY_HOP:
            kept.append(field)
        elif name == b"connection":
            options.append(field[1].lower())
    if not options or options == _KEEP_ALIVE:
        return kept
    named = {name.strip() for name in b",".join(options).split(b",")} - _NEVER_NAMED
    return [field for field in kept if field[0].lower() not in named]


def is_request_id(value: bytes) -> bool:
    """Return whether a value can be a request's id: short, and harmless in a log and a head."""
    return _IS_REQUEST_ID(value) is not None


def encode_request(method: bytes, target: bytes, headers: Headers) -> bytes:
    return b"%b %b\r\n%b" % (method, target, encode_fields(headers))


def encode_response(status: int, reason: bytes, headers: Headers) -> bytes:
    return b"%d %b\r\n%b" % (status, reason, encode_fields(headers))


def encode_fields(headers: Headers) -> bytes:
    """Format `Name: value` lines, each ended by CRLF, without the blank line after them."""
    return b"".join([b"%b: %b\r\n" % (name, value) for name, value in headers])


def decode_request(data: bytes) -> RequestHead:
    """Parse a request's head. Raises RemoteProtocolError (BAD_HEAD) for bytes not in HTTP/1.1."""
    line = decode_request_line(data)
    return RequestHead(line.method, line.target, decode_fields(line.lines))


def decode_request_line(data: bytes) -> RequestLine:
    """Parse the first line of a request's head, which tells where it goes, and the line of its id,
    and no other line.
    """
    line = _REQUEST_LINE.match(data)
    if line is None:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed request line")
    if len(data) > MAX_HEAD_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, f"a head of {len(data)} bytes")
    method, target, request_id = line.groups(b"")
    return RequestLine(method, target, request_id, data[line.end() - 1 :])


def request_id_in(head: bytes) -> bytes:
    """Return the id of a request; empty for none, and for a head that can't be read."""
    line = _REQUEST_LINE.match(head)
    return (line[3] or b"") if line is not None else b""


def decode_fields(lines: bytes) -> Headers:
    """Parse the lines that decode_request_line left. Raises RemoteProtocolError (BAD_HEAD)."""
    return _decode_fields(lines, 1)


def decode_response(data: bytes) -> ResponseHead:
    """Parse a response's head. Raises RemoteProtocolError (BAD_HEAD) for bytes not in HTTP/1.1."""
    line = _STATUS_LINE.match(data)
    if line is None:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed status line")
    return ResponseHead(int(line[1]), line[2], _decode_fields(data, line.end()))


def _decode_fields(data: bytes, start: int) -> Headers:
    if len(data) > MAX_HEAD_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, f"a head of {len(data)} bytes")
    # findall skips text that doesn't match. A match is one line, from after an LF to the next LF,
    # so equal counts mean that every line matched whole.
    headers: Headers = _FIELD.findall(data, start)
    if len(headers) != data.count(b"\n", start) or not data.endswith(b"\n"):
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed header fields")
    return headers
