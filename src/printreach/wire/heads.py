"""HTTP heads as they travel inside the tunnel, and which fields end at a hop.

A head in the tunnel is text: a first line, then `Name: value` lines, each ended by CRLF. It is
checked on arrival, since the other end may be another tenant's machine: what passes `decode_*`
can be written into an HTTP/1.1 message as it stands.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from .errors import CloseCode, RemoteProtocolError

Headers = list[tuple[bytes, bytes]]

MAX_HEAD_BYTES = 40 * 1024
"""Largest head in the tunnel: a 32 KiB head of HTTP/1.1 and what the ends add to it."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_VALUE = rb"[^\x00-\x08\x0a-\x1f\x7f]*+"
_FIELD = re.compile(rb"(" + _TOKEN + rb"): (" + _VALUE + rb")\r\n")
_FIELDS = re.compile(rb"(?:" + _TOKEN + rb": " + _VALUE + rb"\r\n)*+")
_REQUEST_LINE = re.compile(rb"([A-Z0-9_-]{1,32}+) ([\x21-\x22\x24-\x7e\x80-\xff]++)\r\n")
_STATUS_LINE = re.compile(rb"([1-9][0-9][0-9]) (" + _VALUE + rb")\r\n")

HOP_BY_HOP = frozenset(
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
"""Fields that speak of one connection only (RFC 9110, section 7.6.1, and RFC 2616's list)."""

_NEVER_NAMED = frozenset({b"content-length", b"host"})
"""Fields that a `Connection` line can't remove: the framing and the address of the message."""


class RequestHead(NamedTuple):
    method: bytes
    target: bytes
    headers: Headers


class ResponseHead(NamedTuple):
    status: int
    reason: bytes
    headers: Headers


def get(headers: Iterable[tuple[bytes, bytes]], name_lower: bytes) -> bytes | None:
    """The first value of a field; name_lower in lower case."""
    for name, value in headers:
        if name.lower() == name_lower:
            return value
    return None


def strip_hop_by_hop(headers: Headers) -> Headers:
    """The fields that travel on: without hop-by-hop ones and those that `Connection` names."""
    dropped = HOP_BY_HOP
    for name, value in headers:
        if name.lower() == b"connection":
            dropped = dropped | _named_in(value)
    return [field for field in headers if field[0].lower() not in dropped]


def _named_in(connection: bytes) -> frozenset[bytes]:
    names = (name.strip().lower() for name in connection.split(b","))
    return frozenset(names) - _NEVER_NAMED


def encode_request(method: bytes, target: bytes, headers: Headers) -> bytes:
    return b"%b %b\r\n%b" % (method, target, encode_fields(headers))


def encode_response(status: int, reason: bytes, headers: Headers) -> bytes:
    return b"%d %b\r\n%b" % (status, reason, encode_fields(headers))


def encode_fields(headers: Headers) -> bytes:
    """`Name: value` lines, each ended by CRLF, without the blank line behind them."""
    return b"".join([b"%b: %b\r\n" % field for field in headers])


def decode_request(data: bytes) -> RequestHead:
    """Raises RemoteProtocolError (BAD_HEAD) when a byte of it could not stand in HTTP/1.1."""
    line = _REQUEST_LINE.match(data)
    if line is None:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed request line")
    return RequestHead(line[1], line[2], _decode_fields(data, line.end()))


def decode_response(data: bytes) -> ResponseHead:
    """Raises RemoteProtocolError (BAD_HEAD) when a byte of it could not stand in HTTP/1.1."""
    line = _STATUS_LINE.match(data)
    if line is None:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed status line")
    return ResponseHead(int(line[1]), line[2], _decode_fields(data, line.end()))


def _decode_fields(data: bytes, start: int) -> Headers:
    if len(data) > MAX_HEAD_BYTES or _FIELDS.fullmatch(data, start) is None:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, "malformed or oversized header fields")
    return _FIELD.findall(data, start)
