"""Ambiguous requests, as data: for the parsers here, and for whole relays on sockets.

A refused case ends with a request for SMUGGLED: a program that misreads what comes before, and
answers that one too, has been had. An accepted case says which requests it holds, and no other.
"""

from typing import NamedTuple

HOST = b"printer.example"
SMUGGLED = b"/smuggled"
NEXT = b"GET %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (SMUGGLED, HOST)
AFTER = b"GET /after HTTP/1.1\r\nHost: %b\r\n\r\n" % HOST


class Refused(NamedTuple):
    """status: what the server answers, before it closes the connection."""

    name: str
    raw: bytes
    status: int

    def sent_to(self, host: bytes, fields: bytes = b"") -> bytes:
        """The same for another host. fields: lines for its requests, credentials for instance."""
        return _sent_to(self.raw.removesuffix(NEXT), NEXT, host, fields)


class Accepted(NamedTuple):
    """targets: those of the requests in it, in order."""

    name: str
    raw: bytes
    targets: list[bytes]

    def sent_to(self, host: bytes, fields: bytes = b"") -> bytes:
        """The same for another host. fields: lines for its requests, credentials for instance."""
        return _sent_to(self.raw.removesuffix(AFTER), AFTER, host, fields)


def request(*fields: bytes, line: bytes = b"POST / HTTP/1.1", body: bytes = b"") -> bytes:
    """A request to HOST; the fields come without their CRLF."""
    return b"\r\n".join([line, b"Host: " + HOST, *fields, b"", body])


def _sent_to(first: bytes, last: bytes, host: bytes, fields: bytes) -> bytes:
    whole = b"".join(
        line + lf + fields + rest
        for line, lf, rest in (first.partition(b"\n"), last.partition(b"\n"))
    )
    return whole.replace(HOST, host)
