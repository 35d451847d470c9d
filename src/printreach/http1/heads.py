"""Heads of HTTP/1.1 and HTTP/1.0 messages: bytes in, values out.

Parsing is strict for responses too: a line ends with CRLF, never with LF alone. Two mistakes of
printers' web servers are tolerated in responses, because they are unambiguous: a status line
without a reason, and a Content-Length line that is repeated literally.

The caller skips an empty line before a request (RFC 9112, section 2.2), one at most: a head that
begins with one is refused here.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from printreach.wire.heads import Headers, encode_response, get, strip_hop_by_hop

from .fields import BadMessage, parse_fields, special_values
from .framing import Framing, declared_framing
from .target import origin_form, read_host
from .tracing import Span

__all__ = [
    "MAX_HEAD_BYTES",
    "BadMessage",
    "Framing",
    "Request",
    "RequestReader",
    "Response",
    "ResponseReader",
    "find_head_end",
    "parse_request",
    "parse_response",
]

MAX_HEAD_BYTES: Final = 32 * 1024
"""First line, header lines and blank line together."""
MAX_REMEMBERED_BYTES: Final = 4096
"""The most bytes of header lines that are cached from one request to the next: parsed, many short
lines take twenty times as much memory, and a caller may keep thousands of idle connections."""
MAX_CACHED_RESPONSES: Final = 64
MAX_CACHED_BYTES: Final = 1024
"""The most cached heads of a server, and the longest one: parsed, 1 MiB together at worst."""


@dataclass(init=False, slots=True)
class Request:
    """A request's head, and its statements about the rest of the message.

    target: path and query, or `*` for OPTIONS; its bytes unchanged.
    host: as sent, port included; empty where HTTP/1.0 left it out.
    length: the body's bytes where framing is LENGTH, else 0.
    upgrade: b"websocket" where this is a WebSocket handshake; other protocols are ignored.
    request_id: by which logs name it; the node that serves it sets it. Empty for none.
    span: of the work for it, where traces are wanted.
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
    request_id: bytes = field(repr=False, compare=False)
    span: Span | None = field(repr=False, compare=False)

    # Written out, since mypyc compiles it, and not the one that dataclass makes.
    def __init__(
        self,
        method: bytes,
        target: bytes,
        host: bytes,
        headers: Headers,
        http10: bool,
        framing: Framing,
        length: int,
        keep_alive: bool,
        expects_continue: bool,
        upgrade: bytes | None,
    ) -> None:
        self.method = method
        self.target = target
        self.host = host
        self.headers = headers
        self.http10 = http10
        self.framing = framing
        self.length = length
        self.keep_alive = keep_alive
        self.expects_continue = expects_continue
        self.upgrade = upgrade
        self.request_id = b""
        self.span = None


@dataclass(init=False, slots=True)
class Response:
    """A response's head, and its statements about the rest of the message. It must not be changed:
    responses with the same head may share it.

    length: the body's bytes where framing is LENGTH, else 0; so 0 in an answer to HEAD.
    keep_alive: whether another request may follow on the connection, once the body has ended.
    upgrade: after this head (101) the connection uses another protocol.
    """

    status: int
    reason: bytes
    headers: Headers
    framing: Framing
    length: int
    keep_alive: bool
    upgrade: bool
    _for_tunnel: bytes = field(repr=False, compare=False)

    # Written out, since mypyc compiles it, and not the one that dataclass makes.
    def __init__(
        self,
        status: int,
        reason: bytes,
        headers: Headers,
        framing: Framing,
        length: int,
        keep_alive: bool,
        upgrade: bool,
    ) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self.framing = framing
        self.length = length
        self.keep_alive = keep_alive
        self.upgrade = upgrade
        self._for_tunnel = b""

    def for_tunnel(self) -> bytes:
        """Return the head as it travels in a tunnel: what concerns this connection is left out."""
        if not self._for_tunnel:
            headers = strip_hop_by_hop(self.headers)
            self._for_tunnel = encode_response(self.status, self.reason, headers)
        return self._for_tunnel


_REQUEST_LINE: Final = re.compile(
    rb"([A-Za-z0-9_-]{1,32}) ([\x21\x22\x24-\x7e\x80-\xff]++) HTTP/([0-9])\.([0-9])\r\n"
)
_STATUS_LINE: Final = re.compile(
    rb"HTTP/1\.([0-9]) ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*+))?\r\n"
)
_LENIENT_END: Final = re.compile(rb"\n\r?\n")


def find_head_end(buffer: bytes | bytearray, start: int = 0) -> int:
    """Return the index after the blank line that ends the head, or -1 while there is none.

    start: where to begin; a caller that has searched n bytes already passes max(0, n - 3).
    If no proper blank line has arrived, one made by a bare LF counts too: the parser refuses that
    head at once, while waiting for a proper one would leave the sender hanging.
    """
    end = buffer.find(b"\r\n\r\n", start)
    if end >= 0:
        return end + 4
    lenient = _LENIENT_END.search(buffer, start)
    return lenient.end() if lenient else -1


def parse_request(head: bytes) -> Request:
    """Parse a request's head.

    head: everything up to and including the blank line.
    Raises BadMessage; its status is that of the answer before the connection is closed.
    """
    return RequestReader().read(head)


class RequestReader:
    """Parses the heads of one connection's requests.

    Many callers send the same head again and again, and most the same header lines with every
    request, so both are cached as the last request had them, unless they are long. Requests with
    the same head are one object. Those with the same lines share one list of headers, which must
    not be changed; the identity of that list serves as a key for values derived from it.
    """

    __slots__ = ("_head", "_http10", "_lines", "_parsed", "_request")

    def __init__(self) -> None:
        self._head = b""
        self._request: Request
        self._lines = b""
        self._http10 = False
        self._parsed: _ParsedLines

    def read(self, head: bytes) -> Request:
        """Parse a request's head, as parse_request does."""
        if not head or head != self._head:
            request = self._parse(head)
            if len(head) > MAX_REMEMBERED_BYTES:
                return request
            self._head, self._request = head, request
        return self._request

    def _parse(self, head: bytes) -> Request:
        if len(head) > MAX_HEAD_BYTES:
            raise BadMessage(431, "The head of the request is larger than 32 KiB.")
        line = _REQUEST_LINE.match(head)
        if line is None:
            raise BadMessage(400, "The request line is malformed.")
        method, target, major, minor = line.groups()
        _check_speakable(method, major, minor)
        http10 = minor == b"0"
        lines = head[line.end() - 2 :]  # from the CRLF of the first line on
        parsed = self._parse_or_reuse(lines, http10)
        headers, host, framing, length, keep_alive, expects_continue, websocket = parsed
        request = Request(
            method,
            origin_form(method, target, host),
            host,
            headers,
            http10,
            framing,
            length,
            keep_alive,
            expects_continue,
            None,
        )
        if websocket and method == b"GET":
            request.upgrade = _upgrade(framing, length)
        return request

    def remembers(self, headers: Headers) -> bool:
        """True if the next request may share this very list."""
        return bool(self._lines) and self._parsed.headers is headers

    def _parse_or_reuse(self, lines: bytes, http10: bool) -> "_ParsedLines":
        if lines == self._lines and http10 == self._http10:
            return self._parsed
        parsed = _parse_lines(lines, http10)
        if len(lines) <= MAX_REMEMBERED_BYTES:
            self._lines, self._http10, self._parsed = lines, http10, parsed
        return parsed


class _ParsedLines(NamedTuple):
    """Parsed header lines. asks_for_websocket: true if the method is GET, too."""

    headers: Headers
    host: bytes
    framing: Framing
    length: int
    keep_alive: bool
    expects_continue: bool
    asks_for_websocket: bool


def _parse_lines(lines: bytes, http10: bool) -> _ParsedLines:
    """Parse header lines. Raises BadMessage.

    lines: the CRLF of the first line, the header lines, the blank line.
    """
    headers = parse_fields(lines, 2)
    special = special_values(headers)
    host = read_host(special.get(b"host"), http10)
    framing, length = declared_framing(special, http10) or (Framing.NONE, 0)
    options = _connection_options(special)
    protocols = special.get(b"upgrade", [])
    return _ParsedLines(
        headers,
        host,
        framing,
        length,
        _keeps_alive(options, http10),
        b"expect" in special and _expects_continue(special[b"expect"], http10),
        not http10
        and b"upgrade" in options
        and len(protocols) == 1
        and protocols[0].lower() == b"websocket",
    )


class ResponseReader:
    """Parses the heads of one server's responses.

    A server that is asked many times a second often gives the same head, even the same Date. The
    last responses to GET are cached by the bytes of their heads. Those that set a cookie are not:
    it is a secret, and seldom the same twice.
    """

    __slots__ = ("_cached",)

    def __init__(self) -> None:
        self._cached: dict[bytes, Response] = {}  # to GET

    def read(self, head: bytes, request_method: bytes) -> Response:
        """Parse a response's head, as parse_response does."""
        if request_method != b"GET":
            return parse_response(head, request_method)
        response = self._cached.get(head)
        if response is None:
            response = parse_response(head, request_method)
            if len(head) <= MAX_CACHED_BYTES and get(response.headers, b"set-cookie") is None:
                if len(self._cached) >= MAX_CACHED_RESPONSES:
                    self._cached.clear()
                self._cached[head] = response
        return response


def parse_response(head: bytes, request_method: bytes) -> Response:
    """Parse a response's head.

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
    special = special_values(headers)
    lengths = special.get(b"content-length", [])
    if len(lengths) > 1 and len(set(lengths)) == 1:
        headers = _without_repeated_length(headers)
        special[b"content-length"] = lengths[:1]
    framing, length = declared_framing(special, http10) or (Framing.UNTIL_CLOSE, 0)
    options = _connection_options(special)
    keep_alive = _keeps_alive(options, http10)
    if request_method == b"HEAD" or status < 200 or status in (204, 304):
        # A 204 that announces a body may be followed by one, which must not be taken for the next
        # answer. Responses to HEAD and 304s may announce the length that GET would have.
        keep_alive &= status != 204 or (length == 0 and framing is not Framing.CHUNKED)
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


def _check_speakable(method: bytes, major: bytes, minor: bytes) -> None:
    if major != b"1":
        raise BadMessage(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    if minor > b"1":
        raise BadMessage(400, "There is no such version of HTTP/1.")
    # Methods differ by case, but a server may overlook that: these two change where an answer ends.
    if method.upper() == b"CONNECT":
        raise BadMessage(501, "CONNECT is not served here.")
    if method != b"HEAD" and method.upper() == b"HEAD":
        raise BadMessage(400, "HEAD is written in capitals.")


def _without_repeated_length(headers: Headers) -> Headers:
    """Return the headers with the first Content-Length line only."""
    names = [name.lower() for name, _ in headers]
    first = names.index(b"content-length")
    return [
        field for at, field in enumerate(headers) if at == first or names[at] != b"content-length"
    ]


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


def _upgrade(framing: Framing, length: int) -> bytes:
    """Return the protocol of the upgrade. Raises BadMessage (400) for a handshake with a body: a
    program that doesn't expect a body takes it for the first frames, or for the next request.
    """
    if framing is Framing.CHUNKED or length > 0:
        raise BadMessage(400, "A WebSocket handshake has no body.")
    return b"websocket"
