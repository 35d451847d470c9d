"""HTTP/1.1 heads: an accepted head can be parsed in one way only."""

import re
from contextlib import suppress

from printreach.http1.heads import (
    BadMessage,
    Framing,
    Request,
    Response,
    find_head_end,
    parse_request,
    parse_response,
)
from printreach.wire import heads as tunnel_heads
from printreach.wire.heads import Headers, encode_fields

_METHODS = (b"GET", b"HEAD", b"POST", b"OPTIONS")
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def request_of(data: bytes) -> Request | None:
    """Return the request at the beginning of the data; None if it is refused or incomplete."""
    end = find_head_end(data)
    if end < 0:
        return None
    try:
        return parse_request(data[:end])
    except BadMessage:
        return None


def request(data: bytes) -> None:
    """Target parse_request: framed in one way, for one host, and the same when it is serialised."""
    found = request_of(data)
    if found is None:
        return
    check_fields(found.headers)
    check_framing(found.headers, found.framing, found.length)
    hosts = values(found.headers, b"host")
    assert hosts == [found.host] or (found.http10 and hosts == []), hosts
    version = b"1.0" if found.http10 else b"1.1"
    line = b"%b %b HTTP/%b\r\n" % (found.method, found.target, version)
    assert parse_request(line + encode_fields(found.headers) + b"\r\n") == found
    inner = tunnel_heads.encode_request(found.method, found.target, found.headers)
    assert tunnel_heads.decode_request(inner) == (found.method, found.target, found.headers)


def response(data: bytes) -> None:
    """Target parse_response, as a response to any method."""
    method = _METHODS[data[0] % len(_METHODS)] if data else b"GET"
    head = data[1:]
    end = find_head_end(head)
    if end < 0:
        return
    found: Response | None = None
    with suppress(BadMessage):
        found = parse_response(head[:end], method)
    if found is None:
        return
    check_fields(found.headers)
    if method == b"HEAD" or found.status in (204, 304) or found.status < 200:
        assert found.framing is Framing.NONE, found
    else:
        assert found.framing is not Framing.NONE, found
        check_framing(found.headers, found.framing, found.length)
    assert found.status == 101 or not found.upgrade, found
    inner = tunnel_heads.encode_response(found.status, found.reason, found.headers)
    expected = tunnel_heads.ResponseHead(found.status, found.reason, found.headers)
    assert tunnel_heads.decode_response(inner) == expected


def check_fields(headers: Headers) -> None:
    """Check that every field may be sent as it is."""
    for name, value in headers:
        assert _TOKEN.fullmatch(name), name
        assert not _UNPRINTABLE.search(value), value
        assert value == value.strip(b" \t"), value


def check_framing(headers: Headers, framing: Framing, length: int) -> None:
    """Check that the fields say exactly what the framing says."""
    lengths = set(values(headers, b"content-length"))
    codings = values(headers, b"transfer-encoding")
    match framing:
        case Framing.LENGTH:
            assert codings == []
            assert [int(one) for one in lengths] == [length]
        case Framing.CHUNKED:
            assert not lengths
            assert [one.lower() for one in codings] == [b"chunked"]
        case Framing.NONE | Framing.UNTIL_CLOSE:
            assert not lengths
            assert codings == []


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return every value of a field; name in lower case."""
    return [value for key, value in headers if key.lower() == name]
