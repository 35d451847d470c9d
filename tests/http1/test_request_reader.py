"""Requests of one connection: header lines that repeat are read once, and never confused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.http1.heads import BadMessage, Framing, RequestReader, parse_request

LINES = b"Host: h\r\nAccept: text/html\r\n\r\n"


def test_the_same_head_is_parsed_once() -> None:
    reader = RequestReader()
    first = reader.read(b"GET / HTTP/1.1\r\n" + LINES)

    assert reader.read(b"GET / HTTP/1.1\r\n" + LINES) is first
    assert reader.read(b"GET / HTTP/1.0\r\n" + LINES).http10
    assert reader.read(b"GET / HTTP/1.1\r\n" + LINES) is not first


def test_requests_with_the_same_lines_share_their_headers() -> None:
    reader = RequestReader()

    first = reader.read(b"GET /one HTTP/1.1\r\n" + LINES)
    second = reader.read(b"POST /two HTTP/1.1\r\n" + LINES)

    assert second.headers is first.headers
    assert (second.method, second.target) == (b"POST", b"/two")


def test_other_lines_are_parsed_again() -> None:
    reader = RequestReader()
    first = reader.read(b"GET / HTTP/1.1\r\n" + LINES)

    second = reader.read(b"GET / HTTP/1.1\r\nHost: other\r\nContent-Length: 3\r\n\r\n")

    assert second.headers is not first.headers
    assert second.host == b"other"
    assert (second.framing, second.length) == (Framing.LENGTH, 3)


def test_lines_that_were_refused_are_refused_again() -> None:
    reader = RequestReader()
    reader.read(b"GET / HTTP/1.1\r\n" + LINES)

    for _ in range(2):
        with pytest.raises(BadMessage):
            reader.read(b"GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n")


def test_long_lines_are_not_kept_for_the_next_request() -> None:
    reader = RequestReader()
    many = b"GET / HTTP/1.1\r\nHost: h\r\n" + b"ab: cd\r\n" * 1000 + b"\r\n"

    first, second = reader.read(many), reader.read(many)

    assert second.headers == first.headers
    assert second.headers is not first.headers
    assert not reader.remembers(second.headers)


def test_short_lines_are_cached_after_long_ones() -> None:
    reader = RequestReader()
    first = reader.read(b"GET / HTTP/1.1\r\n" + LINES)
    long = reader.read(b"GET / HTTP/1.1\r\nHost: h\r\n" + b"ab: cd\r\n" * 1000 + b"\r\n")

    assert reader.remembers(first.headers)
    assert not reader.remembers(long.headers)
    assert reader.read(b"GET / HTTP/1.1\r\n" + LINES).headers is first.headers


LINES_IN_TURN = [
    LINES,
    b"\r\n",
    b"Host: h\r\nConnection: keep-alive\r\n\r\n",
    b"Host: h\r\nConnection: close\r\n\r\n",
    b"Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n",
    b"Host: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"Host: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    b"Host: h\r\nExpect: else\r\n\r\n",
    b"Host : h\r\n\r\n",
]
FIRST_LINES = [b"GET / HTTP/1.1", b"GET / HTTP/1.0", b"POST /a HTTP/1.1", b"GET http://h/ HTTP/1.1"]


@given(st.lists(st.tuples(st.sampled_from(FIRST_LINES), st.sampled_from(LINES_IN_TURN))))
def test_earlier_requests_change_nothing(requests: list[tuple[bytes, bytes]]) -> None:
    reader = RequestReader()
    for first_line, lines in requests:
        head = first_line + b"\r\n" + lines
        assert _outcome(reader, head) == _outcome(RequestReader(), head)


def _outcome(reader: RequestReader, head: bytes) -> object:
    try:
        return reader.read(head)
    except BadMessage as fault:
        return fault.status, fault.reason


def test_the_last_byte_of_the_lines_counts() -> None:
    assert parse_request(b"GET / HTTP/1.0\r\n\r\n").headers == []
    with pytest.raises(BadMessage):
        parse_request(b"GET / HTTP/1.0\r\nHost: h\r\n")
