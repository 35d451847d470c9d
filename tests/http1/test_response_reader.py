"""Responses of one server: heads that repeat are parsed once, and never confused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.http1.heads import (
    MAX_CACHED_BYTES,
    MAX_CACHED_RESPONSES,
    BadMessage,
    ResponseReader,
    parse_response,
)

LINES = b"Content-Type: text/html\r\nContent-Length: 5\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n" + LINES


def test_the_same_head_is_parsed_once() -> None:
    reader = ResponseReader()

    assert reader.read(OK, b"GET") is reader.read(OK, b"GET")


def test_the_response_to_another_method_is_parsed_by_itself() -> None:
    reader = ResponseReader()

    assert reader.read(OK, b"GET").length == 5
    assert reader.read(OK, b"HEAD").length == 0
    assert reader.read(OK, b"GET").length == 5


def test_a_head_that_was_refused_is_refused_again() -> None:
    reader = ResponseReader()
    for _ in range(2):
        with pytest.raises(BadMessage):
            reader.read(
                b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"GET"
            )


@pytest.mark.parametrize(
    "line",
    [b"Set-Cookie: session=secret", b"SET-COOKIE:a=b", b"X: " + MAX_CACHED_BYTES * b"x"],
    ids=["a cookie", "a cookie in capitals", "a long line"],
)
def test_a_head_with_a_cookie_or_a_long_one_is_not_cached(line: bytes) -> None:
    reader = ResponseReader()
    head = b"HTTP/1.1 200 OK\r\n" + line + b"\r\n" + LINES

    first, second = reader.read(head, b"GET"), reader.read(head, b"GET")

    assert first == second
    assert first is not second


def test_the_first_head_is_forgotten_after_many_others() -> None:
    reader = ResponseReader()
    first = reader.read(OK, b"GET")

    for number in range(MAX_CACHED_RESPONSES):
        reader.read(b"HTTP/1.1 200 OK\r\nX: %d\r\n" % number + LINES, b"GET")

    assert reader.read(OK, b"GET") is not first


LINES_IN_TURN = [
    LINES,
    b"\r\n",
    b"Connection: keep-alive\r\nX: y\r\n\r\n",
    b"Connection: close, X\r\nX: y\r\n\r\n",
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n",
    b"Set-Cookie: a=b\r\n\r\n",
    b"X : y\r\n\r\n",
]
FIRST_LINES = [
    b"HTTP/1.1 200 OK",
    b"HTTP/1.0 200 OK",
    b"HTTP/1.1 101 S",
    b"HTTP/1.1 204 N",
    b"GET /",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(FIRST_LINES),
            st.sampled_from(LINES_IN_TURN),
            st.sampled_from([b"GET", b"HEAD", b"POST"]),
        )
    )
)
def test_earlier_responses_change_nothing(responses: list[tuple[bytes, bytes, bytes]]) -> None:
    reader = ResponseReader()
    for first_line, lines, method in responses:
        head = first_line + b"\r\n" + lines
        assert _outcome(reader, head, method) == _outcome(None, head, method)


def _outcome(reader: ResponseReader | None, head: bytes, method: bytes) -> object:
    try:
        response = reader.read(head, method) if reader else parse_response(head, method)
    except BadMessage as fault:
        return fault.status, fault.reason
    return response, response.for_tunnel()


def test_in_the_tunnel_a_head_has_no_field_of_its_connection() -> None:
    head = (
        b"HTTP/1.1 404 Not Found\r\nConnection: close, X-Own\r\nKeep-Alive: timeout=5\r\n"
        b"X-Own: 1\r\nContent-Length: 5\r\n\r\n"
    )

    assert parse_response(head, b"GET").for_tunnel() == b"404 Not Found\r\nContent-Length: 5\r\n"
