"""An HTTP caller that changes nothing: targets, header order and repeats go out as given."""

import http.client
import json
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.rigs.ways import ANSWER_SECONDS, Header, Way


@dataclass(frozen=True)
class Answer:
    """A whole answer, its headers in their order."""

    status: int
    reason: str
    headers: list[Header]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Every value of a header, without regard to case."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def first(self, name: str) -> str | None:
        """The first value of a header."""
        return next(iter(self.all(name)), None)

    def json(self) -> object:
        """The body, decoded."""
        return json.loads(self.body)


CHUNKED: Header = ("Transfer-Encoding", "chunked")


def _framing(method: str, headers: Sequence[Header], body: bytes | Iterable[bytes]) -> list[Header]:
    """The header that says where the body ends, unless the caller wrote one itself."""
    if any(name.lower() == "content-length" for name, _ in headers):
        return []
    if not isinstance(body, bytes):
        return [CHUNKED]
    if body or method in {"POST", "PUT", "PATCH"}:
        return [("Content-Length", str(len(body)))]
    return []


def _send(
    way: Way, method: str, target: str, headers: Sequence[Header], body: bytes | Iterable[bytes]
) -> http.client.HTTPConnection:
    framing = _framing(method, headers, body)
    connection = http.client.HTTPConnection("127.0.0.1", way.port)
    connection.sock = way.connect()
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in (("Host", way.host), *way.credentials, *headers, *framing):
        connection.putheader(name, value)
    connection.endheaders(body or None, encode_chunked=CHUNKED in framing)
    return connection


@contextmanager
def opened(
    way: Way,
    target: str,
    *,
    method: str = "GET",
    headers: Sequence[Header] = (),
    body: bytes | Iterable[bytes] = b"",
) -> Iterator[http.client.HTTPResponse]:
    """Send a request and give its answer once the head is there; the body is yours to read.

    An iterable body goes out chunked, piece by piece.
    """
    connection = _send(way, method, target, headers, body)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def call(
    way: Way,
    target: str,
    *,
    method: str = "GET",
    headers: Sequence[Header] = (),
    body: bytes | Iterable[bytes] = b"",
) -> Answer:
    """Send a request and read its whole answer."""
    with opened(way, target, method=method, headers=headers, body=body) as response:
        content = response.read()
        return Answer(response.status, response.reason, response.getheaders(), content)


def request_head(way: Way, method: str, target: str, *headers: Header) -> bytes:
    """The bytes of a request's head, for a test that writes to the socket itself."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {way.host}"]
    lines += [f"{name}: {value}" for name, value in (*way.credentials, *headers)]
    return "\r\n".join([*lines, "", ""]).encode()


def read_head(connection: socket.socket) -> tuple[int, list[Header]]:
    """Read one head, informational ones too, and not a byte more: (status, headers)."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError(f"closed inside a head: {head!r}")
        head += byte
    status_line, *fields = head.decode("latin-1").split("\r\n")[:-2]
    split = (field.partition(":") for field in fields)
    return int(status_line.split()[1]), [(name, value.strip()) for name, _, value in split]


def read_exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes. MSG_WAITALL does not wait for them where a socket has a time-out."""
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise ConnectionError(f"closed behind {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


def read_answer(connection: socket.socket) -> Answer:
    """Read one answer that says its length, and not a byte more."""
    status, headers = read_head(connection)
    bare = Answer(status, "", headers, b"")
    return replace(bare, body=read_exactly(connection, int(bare.first("Content-Length") or 0)))


@contextmanager
def raw_request(way: Way, method: str, target: str, *headers: Header) -> Iterator[socket.socket]:
    """Send a head and give the socket, for a test that owns every byte that follows."""
    with way.connect(ANSWER_SECONDS) as connection:
        connection.sendall(request_head(way, method, target, *headers))
        yield connection
