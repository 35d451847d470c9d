"""Request heads that are accepted. Those that are refused are in corpus/ and test_smuggling.py."""

from dataclasses import dataclass

import pytest

from printreach.http1.heads import (
    MAX_HEAD_BYTES,
    BadMessage,
    Framing,
    Request,
    find_head_end,
    parse_request,
)

HANDSHAKE = (b"Connection: keep-alive, Upgrade", b"Upgrade: websocket")


def parse(*fields: bytes, line: bytes = b"GET / HTTP/1.1", host: bytes | None = b"h") -> Request:
    hosts = [] if host is None else [b"Host: " + host]
    return parse_request(b"\r\n".join([line, *hosts, *fields, b"", b""]))


def refusal_of(head: bytes) -> BadMessage:
    with pytest.raises(BadMessage) as refusal:
        parse_request(head)
    return refusal.value


# The whole


def test_a_browsers_request_is_read_as_it_stands() -> None:
    head = (
        b"GET /api/files?path=a%2Fb HTTP/1.1\r\n"
        b"Host: app-1.tunnel.example:8443\r\n"
        b"accept: */*\r\n"
        b"Cookie: a=1\r\n"
        b"Cookie: b=2\r\n"
        b"\r\n"
    )

    assert parse_request(head) == Request(
        method=b"GET",
        target=b"/api/files?path=a%2Fb",
        host=b"app-1.tunnel.example:8443",
        headers=[
            (b"Host", b"app-1.tunnel.example:8443"),
            (b"accept", b"*/*"),
            (b"Cookie", b"a=1"),
            (b"Cookie", b"b=2"),
        ],
        http10=False,
        framing=Framing.NONE,
        length=0,
        keep_alive=True,
        expects_continue=False,
        upgrade=None,
    )


def test_an_old_clients_request_needs_no_header_line() -> None:
    request = parse_request(b"GET / HTTP/1.0\r\n\r\n")

    assert request.http10
    assert request.host == b""
    assert request.headers == []
    assert not request.keep_alive


# The end of the head


def test_the_head_ends_just_after_the_blank_line() -> None:
    assert find_head_end(b"GET / HTTP/1.1\r\nHost: h\r\n\r\nbody\r\n\r\n") == 27


@pytest.mark.parametrize(
    "part", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nA: b\r\n\r"]
)
def test_a_head_that_is_still_coming_has_no_end(part: bytes) -> None:
    assert find_head_end(part) == -1


def test_the_search_for_the_end_goes_on_where_it_stopped() -> None:
    first = b"GET / HTTP/1.1\r\nHost: h\r\n\r"

    assert find_head_end(bytearray(first + b"\nx"), max(0, len(first) - 3)) == len(first) + 1


def test_the_search_can_begin_after_an_earlier_head() -> None:
    assert find_head_end(b"a\r\n\r\nb\r\n\r\n", 5) == 10
    assert find_head_end(b"a\n\nb\n\n", 3) == 6


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\n"])
def test_a_blank_line_of_bare_lf_ends_a_head_that_is_then_refused_at_once(end: bytes) -> None:
    head = b"GET / HTTP/1.1\r\nHost: h" + end

    assert find_head_end(head) == len(head)
    assert refusal_of(head).status == 400


def test_a_head_without_its_blank_line_is_refused() -> None:
    assert refusal_of(b"GET / HTTP/1.1\r\nHost: h\r\n").status == 400


def test_a_head_with_bytes_after_its_blank_line_is_refused() -> None:
    assert refusal_of(b"GET / HTTP/1.1\r\nHost: h\r\n\r\nX: y\r\n\r\n").status == 400


def test_an_empty_line_before_the_head_is_the_callers_to_skip() -> None:
    assert refusal_of(b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 400


def head_of(size: int) -> bytes:
    rest = b"GET / HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n"
    return rest[:-4] + b"a" * (size - len(rest)) + rest[-4:]


def test_a_head_may_fill_32_kib() -> None:
    assert len(head_of(MAX_HEAD_BYTES)) == MAX_HEAD_BYTES == 32 * 1024
    assert parse_request(head_of(MAX_HEAD_BYTES)).host == b"h"


def test_a_head_of_one_byte_more_is_refused() -> None:
    assert refusal_of(head_of(MAX_HEAD_BYTES + 1)).status == 431


# Method and header lines


@pytest.mark.parametrize(
    "method",
    [
        b"GET",
        b"DELETE",
        b"PROPFIND",
        b"M-SEARCH",
        b"VERSION-CONTROL",
        b"X_1",
        b"A",
        b"A" * 32,
        b"get",
        b"Purge",
    ],
)
def test_any_method_of_letters_digits_and_dashes_passes(method: bytes) -> None:
    assert parse(line=method + b" / HTTP/1.1").method == method


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"X: a", (b"X", b"a")),
        (b"X:a", (b"X", b"a")),
        (b"X: \t a \t ", (b"X", b"a")),
        (b"X:", (b"X", b"")),
        (b"X: \t", (b"X", b"")),
        (b"X: a \t b", (b"X", b"a \t b")),
        (b"X: a: b", (b"X", b"a: b")),
        (b"X: \xc3\xbc\xff", (b"X", b"\xc3\xbc\xff")),
        (b"x_y: a", (b"x_y", b"a")),
        (b"!#$%&'*+-.^_`|~09azAZ: a", (b"!#$%&'*+-.^_`|~09azAZ", b"a")),
    ],
)
def test_a_header_line_keeps_its_name_and_its_value_without_the_blanks(
    line: bytes, field: tuple[bytes, bytes]
) -> None:
    assert parse(line).headers == [(b"Host", b"h"), field]


def test_blanks_after_one_value_leave_the_other_values_alone() -> None:
    assert parse(b"A: b ", b"C:  d  e").headers[1:] == [(b"A", b"b"), (b"C", b"d  e")]


def test_repeated_and_odd_header_lines_keep_their_order() -> None:
    headers = parse(b"b: 2", b"A: 1", b"B: 3", b"a: 1").headers

    assert headers[1:] == [(b"b", b"2"), (b"A", b"1"), (b"B", b"3"), (b"a", b"1")]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (b"A: b\nC: d", "bare LF"),
        (b"A: b\rC: d", "CR"),
        (b"A: \x00", "control character"),
        (b"A: b\r\n c", "folded"),
        (b"A : b", "blank before its colon"),
        (b": b", "no name"),
        (b"A b", "malformed"),
    ],
)
def test_a_refusal_says_what_is_wrong_with_the_header_lines(lines: bytes, words: str) -> None:
    assert words in refusal_of(b"GET / HTTP/1.1\r\nHost: h\r\n%b\r\n\r\n" % lines).reason


# The body


@dataclass(frozen=True)
class Body:
    framing: Framing
    length: int = 0


@pytest.mark.parametrize(
    ("field", "body"),
    [
        (b"X: y", Body(Framing.NONE)),
        (b"Content-Length: 0", Body(Framing.LENGTH)),
        (b"Content-Length: 5", Body(Framing.LENGTH, 5)),
        (b"content-length:005 ", Body(Framing.LENGTH, 5)),
        (b"Content-Length: 9999999999999999999", Body(Framing.LENGTH, 9_999_999_999_999_999_999)),
        (b"Transfer-Encoding: chunked", Body(Framing.CHUNKED)),
        (b"transfer-encoding:\tChUnKeD ", Body(Framing.CHUNKED)),
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"POST", b"DELETE", b"OPTIONS"])
def test_a_request_has_the_body_that_its_header_lines_say(
    field: bytes, body: Body, method: bytes
) -> None:
    request = parse(field, line=method + b" / HTTP/1.1")

    assert Body(request.framing, request.length) == body


def test_a_body_of_known_length_is_known_to_old_clients_too() -> None:
    request = parse(b"Content-Length: 5", line=b"POST / HTTP/1.0")

    assert Body(request.framing, request.length) == Body(Framing.LENGTH, 5)


# The connection


@pytest.mark.parametrize(
    ("fields", "http11", "http10"),
    [
        ([], True, False),
        ([b"Connection: keep-alive"], True, True),
        ([b"Connection: Keep-Alive"], True, True),
        ([b"connection: x,\tKEEP-ALIVE , y"], True, True),
        ([b"Connection: x", b"Connection: keep-alive"], True, True),
        ([b"Connection: close"], False, False),
        ([b"Connection: CLOSE"], False, False),
        ([b"Connection: x, close"], False, False),
        ([b"Connection: keep-alive", b"Connection: close"], False, False),
        ([b"Connection: close, keep-alive"], False, False),
        ([b"Connection: closed"], True, False),
        ([b"Connection:"], True, False),
        ([b"Connection: ,,"], True, False),
        ([b"Keep-Alive: timeout=5"], True, False),
    ],
)
def test_the_connection_stays_open_as_the_request_asks(
    fields: list[bytes], http11: bool, http10: bool
) -> None:
    assert parse(*fields, line=b"GET / HTTP/1.1").keep_alive is http11
    assert parse(*fields, line=b"GET / HTTP/1.0").keep_alive is http10


@pytest.mark.parametrize("value", [b"100-continue", b"100-Continue"])
def test_a_client_may_wait_to_be_told_to_continue(value: bytes) -> None:
    assert parse(b"Expect: " + value, b"Content-Length: 5").expects_continue


def test_an_old_client_waits_for_nothing() -> None:
    assert not parse(b"Expect: 100-continue", line=b"POST / HTTP/1.0").expects_continue
