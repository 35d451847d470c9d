"""Response heads, as printers' web servers send them."""

import pytest

from printreach.http1.heads import MAX_HEAD_BYTES, BadMessage, Framing, Response, parse_response
from tests.http1.corpus import Refused
from tests.http1.corpus.heads import FRAMING, LINES


def parse(
    *fields: bytes, line: bytes = b"HTTP/1.1 200 OK", request_method: bytes = b"GET"
) -> Response:
    return parse_response(b"\r\n".join([line, *fields, b"", b""]), request_method)


def body_of(response: Response) -> tuple[Framing, int]:
    return response.framing, response.length


def test_an_answer_is_read_as_it_stands() -> None:
    head = (
        b"HTTP/1.1 404 Not Found\r\n"
        b"Server: TornadoServer/6.4\r\n"
        b"Set-Cookie: a=1\r\n"
        b"set-cookie: b=2\r\n"
        b"Content-Length: 5\r\n"
        b"\r\n"
    )

    assert parse_response(head, b"GET") == Response(
        status=404,
        reason=b"Not Found",
        headers=[
            (b"Server", b"TornadoServer/6.4"),
            (b"Set-Cookie", b"a=1"),
            (b"set-cookie", b"b=2"),
            (b"Content-Length", b"5"),
        ],
        framing=Framing.LENGTH,
        length=5,
        keep_alive=True,
        upgrade=False,
    )


# The status line


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        (b"HTTP/1.1 200 OK", 200, b"OK"),
        (b"HTTP/1.1 200 ", 200, b""),
        (b"HTTP/1.1 200", 200, b""),
        (b"HTTP/1.0 302 Found", 302, b"Found"),
        (b"HTTP/1.2 200 OK", 200, b"OK"),
        (b"HTTP/1.1 100 Continue", 100, b"Continue"),
        (b"HTTP/1.1 613 no active print", 613, b"no active print"),
        (b"HTTP/1.1 999  two  blanks ", 999, b" two  blanks "),
        ("HTTP/1.1 404 Größe\tunbekannt".encode(), 404, "Größe\tunbekannt".encode()),
        (b"HTTP/1.1 200 \xff\x80", 200, b"\xff\x80"),
    ],
)
def test_a_status_line_is_understood(line: bytes, status: int, reason: bytes) -> None:
    response = parse(line=line)

    assert (response.status, response.reason) == (status, reason)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"HTTP/1.1",
        b"HTTP/1.1 ",
        b"HTTP/1.1 OK",
        b"HTTP/1.1 20",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 099 OK",
        b"HTTP/1.1 000 OK",
        b"HTTP/1.1 +20 OK",
        b"HTTP/1.1  200 OK",
        b"HTTP/1.1\t200 OK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.1 200\tOK",
        b" HTTP/1.1 200 OK",
        b"http/1.1 200 OK",
        b"HTTP/2.0 200 OK",
        b"HTTP/2 200",
        b"HTTP/0.9 200 OK",
        b"HTTP/1 200 OK",
        b"HTTP/1.10 200 OK",
        b"ICY 200 OK",
        b"RTSP/1.0 200 OK",
        b"HTTP/1.1 200 O\x00K",
        b"HTTP/1.1 200 O\x1bK",
        b"HTTP/1.1 200 O\rK",
        b"HTTP/1.1 200 O\nK",
        b"<html>",
    ],
)
def test_any_other_first_line_is_refused(line: bytes) -> None:
    with pytest.raises(BadMessage) as refusal:
        parse(line=line)

    assert refusal.value.status == 502


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\n\n",
        b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n",
        b"HTTP/1.1 200 OK\r\n",
        b"",
    ],
)
def test_lines_that_do_not_end_with_crlf_are_refused_in_answers_too(head: bytes) -> None:
    with pytest.raises(BadMessage) as refusal:
        parse_response(head, b"GET")

    assert refusal.value.status == 502


def test_an_answers_head_over_32_kib_is_refused() -> None:
    with pytest.raises(BadMessage) as refusal:
        parse(b"X: " + b"a" * MAX_HEAD_BYTES)

    assert refusal.value.status == 502


# The body


@pytest.mark.parametrize(
    ("fields", "framing", "length"),
    [
        ([], Framing.UNTIL_CLOSE, 0),
        ([b"Content-Length: 0"], Framing.LENGTH, 0),
        ([b"Content-Length: 5"], Framing.LENGTH, 5),
        ([b"Transfer-Encoding: chunked"], Framing.CHUNKED, 0),
        ([b"transfer-encoding: CHUNKED"], Framing.CHUNKED, 0),
    ],
)
@pytest.mark.parametrize("status", [200, 206, 404, 500, 601])
def test_an_answer_has_the_body_that_its_header_lines_say(
    fields: list[bytes], framing: Framing, length: int, status: int
) -> None:
    response = parse(*fields, line=b"HTTP/1.1 %d" % status)

    assert body_of(response) == (framing, length)


@pytest.mark.parametrize(
    "fields",
    [[], [b"Content-Length: 0"], [b"Content-Length: 5"], [b"Transfer-Encoding: chunked"]],
)
@pytest.mark.parametrize(
    ("method", "status"),
    [(b"HEAD", 200), (b"HEAD", 404), (b"GET", 100), (b"GET", 103), (b"GET", 204), (b"GET", 304)],
)
def test_some_answers_have_no_body_whatever_their_header_lines_say(
    fields: list[bytes], method: bytes, status: int
) -> None:
    response = parse(*fields, line=b"HTTP/1.1 %d" % status, request_method=method)

    assert body_of(response) == (Framing.NONE, 0)


def test_a_repeated_length_is_forgiven_and_passed_on_once() -> None:
    response = parse(b"content-length: 5", b"A: b", b"Content-Length: 5", b"Content-Length: 5")

    assert body_of(response) == (Framing.LENGTH, 5)
    assert response.headers == [(b"content-length", b"5"), (b"A", b"b")]


@pytest.mark.parametrize(
    "fields",
    [
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: 5", b"Content-Length: 05"],
        [b"Content-Length: 5", b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: x", b"Content-Length: x"],
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_a_repeated_length_is_not_forgiven_where_it_can_be_read_in_two_ways(
    fields: list[bytes], method: bytes
) -> None:
    with pytest.raises(BadMessage):
        parse(*fields, request_method=method)


def refused_in_answers_too(cases: list[Refused]) -> list[Refused]:
    """Without those of the request line, which comes first, and of HTTP/1.0."""
    start = b"POST / HTTP/1.1\r\n"
    return [c for c in cases if c.raw.startswith(start) and c.name != "CL.CL the same"]


@pytest.mark.parametrize("case", refused_in_answers_too([*FRAMING, *LINES]), ids=lambda c: c.name)
def test_header_lines_refused_in_requests_are_refused_in_answers(case: Refused) -> None:
    fields = case.raw.partition(b"\r\n")[2]
    head = b"HTTP/1.1 200 OK\r\n" + fields[: fields.index(b"\r\n\r\n") + 4]

    with pytest.raises(BadMessage) as refusal:
        parse_response(head, b"GET")

    assert refusal.value.status == 502


def test_chunks_in_an_answer_of_http_1_0_are_refused() -> None:
    with pytest.raises(BadMessage):
        parse(b"Transfer-Encoding: chunked", line=b"HTTP/1.0 200 OK")


# The connection


@pytest.mark.parametrize(
    ("fields", "http11", "http10"),
    [
        ([b"Content-Length: 5"], True, False),
        ([b"Content-Length: 5", b"Connection: keep-alive"], True, True),
        ([b"Content-Length: 5", b"Connection: Keep-Alive, x"], True, True),
        ([b"Content-Length: 5", b"Connection: close"], False, False),
        ([b"Content-Length: 5", b"Connection: keep-alive", b"Connection: Close"], False, False),
        ([], False, False),
        ([b"Connection: keep-alive"], False, False),
    ],
)
def test_the_connection_can_be_used_again_where_the_answer_allows_it(
    fields: list[bytes], http11: bool, http10: bool
) -> None:
    assert parse(*fields, line=b"HTTP/1.1 200 OK").keep_alive is http11
    assert parse(*fields, line=b"HTTP/1.0 200 OK").keep_alive is http10


@pytest.mark.parametrize(
    ("method", "status", "fields"),
    [
        (b"HEAD", 200, []),
        (b"HEAD", 200, [b"Content-Length: 5"]),
        (b"HEAD", 200, [b"Transfer-Encoding: chunked"]),
        (b"GET", 304, []),
        (b"GET", 304, [b"Content-Length: 5"]),
        (b"GET", 204, []),
    ],
)
def test_an_answer_without_a_body_leaves_the_connection_open(
    method: bytes, status: int, fields: list[bytes]
) -> None:
    assert parse(*fields, line=b"HTTP/1.1 %d" % status, request_method=method).keep_alive


@pytest.mark.parametrize(
    ("field", "keep_alive"),
    [
        (b"Content-Length: 0", True),
        (b"Content-Length: 5", False),
        (b"Transfer-Encoding: chunked", False),
    ],
)
def test_a_204_that_announces_a_body_ends_the_connection(field: bytes, keep_alive: bool) -> None:
    assert parse(field, line=b"HTTP/1.1 204 No Content").keep_alive is keep_alive
