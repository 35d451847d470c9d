"""Chunked bodies that are refused after a good head, and messages that only look wrong."""

from . import AFTER, NEXT, SMUGGLED, Accepted, Refused, request

_CHUNKED = b"Transfer-Encoding: chunked"


def _body(name: str, body: bytes) -> Refused:
    return Refused(name, request(_CHUNKED, body=body) + NEXT, 400)


REFUSED_BODIES = [
    _body("size line of bare LF", b"5\nhello\r\n0\r\n\r\n"),
    _body("size line of bare CR", b"5\rhello\r\n0\r\n\r\n"),
    _body("size line of CR CR LF", b"5\r\r\nhello\r\n0\r\n\r\n"),
    _body("data ended by bare LF", b"5\r\nhello\n0\r\n\r\n"),
    _body("data ended by bare CR", b"5\r\nhello\r0\r\n\r\n"),
    _body("data ended by nothing", b"5\r\nhello0\r\n\r\n"),
    _body("data ended by two other bytes", b"5\r\nhelloXX0\r\n\r\n"),
    _body("data longer than its size", b"5\r\nhello!\r\n0\r\n\r\n"),
    _body("data shorter than its size", b"6\r\nhello\r\n0\r\n\r\n"),
    _body("size with 0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
    _body("size with plus", b"+5\r\nhello\r\n0\r\n\r\n"),
    _body("size with minus", b"-5\r\nhello\r\n0\r\n\r\n"),
    _body("size with underscore", b"0_5\r\nhello\r\n0\r\n\r\n"),
    _body("size in another alphabet", b"g\r\nhello\r\n0\r\n\r\n"),
    _body("size empty", b"\r\nhello\r\n0\r\n\r\n"),
    _body("size after blank", b" 5\r\nhello\r\n0\r\n\r\n"),
    _body("size before blank", b"5 \r\nhello\r\n0\r\n\r\n"),
    _body("size before tab", b"5\t\r\nhello\r\n0\r\n\r\n"),
    _body("size before vertical tab", b"5\x0b\r\nhello\r\n0\r\n\r\n"),
    _body("size before NUL", b"5\x00\r\nhello\r\n0\r\n\r\n"),
    _body("size before no-break space", b"5\xa0\r\nhello\r\n0\r\n\r\n"),
    _body("size in quotes", b'"5"\r\nhello\r\n0\r\n\r\n'),
    _body("size of 17 digits", b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
    _body("size of 17 digits with zeros", b"00000000000000005\r\nhello\r\n0\r\n\r\n"),
    _body("size of 200 digits", b"f" * 200 + b"\r\nhello\r\n0\r\n\r\n"),
    _body("blank before an extension", b"5 ;a=b\r\nhello\r\n0\r\n\r\n"),
    _body("extension without semicolon", b"5 a=b\r\nhello\r\n0\r\n\r\n"),
    _body("extension with bare LF", b"5;a\nb\r\nhello\r\n0\r\n\r\n"),
    _body("extension with bare CR", b"5;a\rb\r\nhello\r\n0\r\n\r\n"),
    _body("extension with NUL", b"5;a\x00\r\nhello\r\n0\r\n\r\n"),
    _body("extension with LF in quotes", b'5;a="\n"\r\nhello\r\n0\r\n\r\n'),
    _body("extension without end", b"5;" + b"a" * 300 + b"\r\nhello\r\n0\r\n\r\n"),
    _body("last size line of bare LF", b"5\r\nhello\r\n0\n\r\n"),
    _body("end of the body as bare LF", b"5\r\nhello\r\n0\r\n\n"),
    _body("end of the body as bare CR", b"5\r\nhello\r\n0\r\n\rX"),
    _body("last chunk without its line", b"5\r\nhello\r\n0\r\n"),
    _body("trailer without colon", b"0\r\nX\r\n\r\n"),
    _body("trailer folded", b"0\r\nX: a\r\n b\r\n\r\n"),
    _body("trailer of bare LF", b"0\r\nX: a\n\r\n"),
    _body("trailer with blank before its colon", b"0\r\nX : a\r\n\r\n"),
    _body("trailer with NUL", b"0\r\nX: \x00\r\n\r\n"),
    _body("trailers without end", b"0\r\n" + b"X: y\r\n" * 1500 + b"\r\n"),
    _body("trailer line without end", b"0\r\nX: " + b"y" * 9000 + b"\r\n\r\n"),
]

_HIDDEN = b"GET %b HTTP/1.1\r\nHost: other.example\r\n\r\n" % SMUGGLED
_LENGTH = b"Content-Length: %d" % len(_HIDDEN)


def _accepted(name: str, *fields: bytes, line: bytes = b"POST / HTTP/1.1", body: bytes) -> Accepted:
    return Accepted(name, request(*fields, line=line, body=body) + AFTER, [b"/", b"/after"])


ACCEPTED = [
    _accepted("request in a body of known length", _LENGTH, body=_HIDDEN),
    _accepted("request in a GET's body", _LENGTH, line=b"GET / HTTP/1.1", body=_HIDDEN),
    _accepted("request in a DELETE's body", _LENGTH, line=b"DELETE / HTTP/1.1", body=_HIDDEN),
    _accepted("request in a HEAD's body", _LENGTH, line=b"HEAD / HTTP/1.1", body=_HIDDEN),
    _accepted(
        "request in a body behind h2c",
        b"Connection: Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
        _LENGTH,
        body=_HIDDEN,
    ),
    _accepted(
        "request in a body behind an Upgrade that Connection doesn't name",
        b"Upgrade: websocket",
        _LENGTH,
        line=b"GET / HTTP/1.1",
        body=_HIDDEN,
    ),
    _accepted("length with leading zeros", b"Content-Length: 0000000005", body=b"hello"),
    _accepted("length between blanks", b"Content-Length: \t 5 \t", body=b"hello"),
    _accepted("length of nothing", b"Content-Length: 0", body=b""),
    _accepted("name that resembles a length", b"Content_Length: 500", body=b""),
    _accepted("name that resembles a coding", b"Transfer_Encoding: chunked", body=b""),
    _accepted("names in odd case", b"cOnTeNt-LeNgTh: 5", body=b"hello"),
    _accepted(
        "request in a chunk", _CHUNKED, body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(_HIDDEN), _HIDDEN)
    ),
    _accepted("CHUNKED", b"Transfer-Encoding: CHUNKED", body=b"5\r\nhello\r\n0\r\n\r\n"),
    _accepted("chunked between blanks", b"Transfer-Encoding:\tchunked ", body=b"0\r\n\r\n"),
    _accepted("last chunk with many zeros", _CHUNKED, body=b"5\r\nhello\r\n0000\r\n\r\n"),
    _accepted("size in upper case", _CHUNKED, body=b"A\r\n0123456789\r\n0\r\n\r\n"),
    _accepted("size of 16 digits", _CHUNKED, body=b"0000000000000005\r\nhello\r\n0\r\n\r\n"),
    _accepted("extension", _CHUNKED, body=b'5;a;b=c; d="e;f"\r\nhello\r\n0;x\r\n\r\n'),
    _accepted(
        "trailers that speak of framing",
        _CHUNKED,
        b"Trailer: Content-Length",
        body=b"0\r\nContent-Length: 500\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\n",
    ),
    _accepted("length named by Connection", b"Connection: Content-Length", _LENGTH, body=_HIDDEN),
]
