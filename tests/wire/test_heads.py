"""Heads in the tunnel: any head round trips, no hostile one gets through."""

import string
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printreach.wire import heads
from printreach.wire.errors import CloseCode, RemoteProtocolError
from printreach.wire.heads import (
    HOP_BY_HOP,
    MAX_HEAD_BYTES,
    Headers,
    RequestHead,
    ResponseHead,
    strip_hop_by_hop,
)

TOKEN = b"!#$%&'*+-.^_`|~" + (string.ascii_letters + string.digits).encode()
VISIBLE = bytes(range(0x21, 0x7F)) + bytes(range(0x80, 0x100))
TARGET = VISIBLE.replace(b"#", b"")


def text_of(alphabet: bytes, *, max_size: int = 12) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(alphabet), min_size=1, max_size=max_size).map(bytes)


values = st.lists(text_of(VISIBLE), max_size=3).map(b" \t".join)
fields: st.SearchStrategy[Headers] = st.lists(st.tuples(text_of(TOKEN), values), max_size=5)


@given(
    method=st.sampled_from([b"GET", b"M-SEARCH", b"X_1", b"Patch"]),
    target=text_of(TARGET),
    headers=fields,
)
def test_every_request_head_arrives_as_it_was_sent(
    method: bytes, target: bytes, headers: Headers
) -> None:
    data = heads.encode_request(method, target, headers)

    assert heads.decode_request(data) == RequestHead(method, target, headers)


@settings(max_examples=50)
@given(status=st.integers(100, 999), reason=st.just(b"") | values, headers=fields)
def test_every_response_head_arrives_as_it_was_sent(
    status: int, reason: bytes, headers: Headers
) -> None:
    data = heads.encode_response(status, reason, headers)

    assert heads.decode_response(data) == ResponseHead(status, reason, headers)


def test_repeated_fields_keep_their_case_and_order() -> None:
    headers = [(b"Set-Cookie", b"a=1"), (b"X-Other", b""), (b"set-cookie", b"b=2")]

    data = heads.encode_response(200, b"OK", headers)

    assert data == b"200 OK\r\nSet-Cookie: a=1\r\nX-Other: \r\nset-cookie: b=2\r\n"
    assert heads.decode_response(data).headers == headers


@pytest.mark.parametrize("sent", [b"X: \t value \t ", b"X:  value", b"X: value "])
def test_blanks_around_a_value_are_removed(sent: bytes) -> None:
    assert heads.decode_response(b"200 OK\r\n%b\r\n" % sent).headers == [(b"X", b"value")]


def test_a_value_of_blanks_alone_is_empty() -> None:
    assert heads.decode_response(b"200 OK\r\nX:  \t \r\nY: \r\n").headers == [
        (b"X", b""),
        (b"Y", b""),
    ]


# --- refused --------------------------------------------------------------------------------------

HOSTILE_LINES = [
    b"X: a\rb\r\n",
    b"X: a\nb\r\n",
    b"X: a\n",
    b"X: a\r",
    b"X: a",
    b"X: a\x00b\r\n",
    b"X: a\x0bb\r\n",
    b"X: a\x7fb\r\n",
    b"X: a\r\n\r\n",
    b"\r\n",
    b"\r\nX: a\r\n",
    b"X: a\r\n folded\r\n",
    b" X: a\r\n",
    b"X : a\r\n",
    b"X\t: a\r\n",
    b"X:a\r\n",
    b": a\r\n",
    b"X\r\n",
    b"X Y: a\r\n",
    b"X\x00: a\r\n",
    b"X\r: a\r\n",
    b"X\x80: a\r\n",
    b"(X): a\r\n",
    b"X: a\r\nGET / HTTP/1.1\r\n",
    b"X: a\r\n\nY: b\r\n",
    b"X: a\r\n\rY: b\r\n",
    b"junk X: a\r\n",
]
HOSTILE_REQUEST_LINES = [
    b"",
    b"GET /",
    b"GET /\n",
    b"GET  /\r\n",
    b"GET \r\n",
    b" GET /\r\n",
    b"GET / HTTP/1.1\r\n",
    b"G\x00T /\r\n",
    b"G" * 33 + b" /\r\n",
    b"GET /a b\r\n",
    b"GET /a#b\r\n",
    b"GET /a\x00\r\n",
    b"GET /a\tb\r\n",
    b"GET /a\rb\r\n",
    b"GET /a\x7f\r\n",
    b"\r\nGET /\r\n",
]
HOSTILE_STATUS_LINES = [
    b"",
    b"200\r\n",
    b"200 OK\n",
    b"20 OK\r\n",
    b"099 OK\r\n",
    b"2000 OK\r\n",
    b"+20 OK\r\n",
    b"\xb2\xb0\xb0 OK\r\n",
    b"200 O\x00K\r\n",
    b"200 O\rK\r\n",
    b"200 O\nK\r\n",
    b"HTTP/1.1 200 OK\r\n",
]


def refused_as(decode: Callable[[bytes], object], data: bytes) -> CloseCode:
    with pytest.raises(RemoteProtocolError) as raised:
        decode(data)
    return raised.value.code


@pytest.mark.parametrize("line", HOSTILE_LINES)
@pytest.mark.parametrize("behind", [b"", b"Host: a\r\n"], ids=["alone", "behind another"])
def test_a_hostile_field_is_refused(line: bytes, behind: bytes) -> None:
    assert refused_as(heads.decode_request, b"GET /\r\n" + behind + line) == CloseCode.BAD_HEAD
    assert refused_as(heads.decode_response, b"200 OK\r\n" + behind + line) == CloseCode.BAD_HEAD


@pytest.mark.parametrize("line", HOSTILE_REQUEST_LINES)
def test_a_hostile_request_line_is_refused(line: bytes) -> None:
    assert refused_as(heads.decode_request, line) == CloseCode.BAD_HEAD
    assert refused_as(heads.decode_request, line + b"X: a\r\n") == CloseCode.BAD_HEAD


@pytest.mark.parametrize("line", HOSTILE_STATUS_LINES)
def test_a_hostile_status_line_is_refused(line: bytes) -> None:
    assert refused_as(heads.decode_response, line) == CloseCode.BAD_HEAD
    assert refused_as(heads.decode_response, line + b"X: a\r\n") == CloseCode.BAD_HEAD


@pytest.mark.parametrize("cut", [b"200 OK", b"200 OK\r", b"200 OK\r\nX: a\r\nY: b"])
def test_a_head_that_ends_in_mid_line_is_refused(cut: bytes) -> None:
    assert refused_as(heads.decode_response, cut) == CloseCode.BAD_HEAD


@pytest.mark.parametrize("size", [MAX_HEAD_BYTES, MAX_HEAD_BYTES + 1])
def test_a_head_has_a_bound(size: int) -> None:
    start = b"GET /\r\nX: "
    data = start + b"a" * (size - len(start) - 2) + b"\r\n"

    if size <= MAX_HEAD_BYTES:
        assert len(heads.decode_request(data).headers) == 1
    else:
        assert refused_as(heads.decode_request, data) == CloseCode.BAD_HEAD


WHOLE = b"200 OK\r\nServer: x\r\nContent-Length: 12\r\nX-Note: some words\r\n"
hostile_bytes = st.text(alphabet="\r\n\0\t :aZ\x7f\xff", max_size=4).map(
    lambda s: s.encode("latin-1")
)


@given(at=st.integers(0, len(WHOLE)), cut=st.integers(0, 4), put=hostile_bytes)
def test_a_head_that_passes_is_valid_in_http(at: int, cut: int, put: bytes) -> None:
    data = WHOLE[:at] + put + WHOLE[at + cut :]

    try:
        head = heads.decode_response(data)
    except RemoteProtocolError:
        return

    assert data.count(b"\n") == data.count(b"\r") == data.count(b"\r\n") == len(head.headers) + 1
    for name, value in head.headers:
        assert name
        assert set(name) <= set(TOKEN)
        assert set(value) <= set(VISIBLE + b" \t")
        assert value == value.strip(b" \t")


# --- hop by hop -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(HOP_BY_HOP))
def test_fields_of_one_connection_end_there(name: bytes) -> None:
    headers = [(b"Accept", b"*/*"), (name.title(), b"x"), (b"Cookie", b"a=b")]

    assert strip_hop_by_hop(headers) == [(b"Accept", b"*/*"), (b"Cookie", b"a=b")]


def test_fields_that_connection_names_end_there_too() -> None:
    headers = [
        (b"X-First", b"1"),
        (b"Connection", b"keep-alive , x-FIRST"),
        (b"connection", b"X-Second,,"),
        (b"X-Second", b"2"),
        (b"X-Third", b"3"),
    ]

    assert strip_hop_by_hop(headers) == [(b"X-Third", b"3")]


def test_a_connection_line_cannot_remove_framing_or_address() -> None:
    headers = [(b"Host", b"a"), (b"Content-Length", b"3")]

    stripped = strip_hop_by_hop([*headers, (b"Connection", b"close, Content-Length, host")])

    assert stripped == headers


def test_stripping_leaves_its_input_as_it_was() -> None:
    headers = [(b"Host", b"a"), (b"Connection", b"close")]

    strip_hop_by_hop(headers)

    assert headers == [(b"Host", b"a"), (b"Connection", b"close")]


def test_the_first_value_of_a_field_is_found_in_any_case() -> None:
    headers = [(b"X-A", b"1"), (b"x-a", b"2")]

    assert heads.get(headers, b"x-a") == b"1"
    assert heads.get(headers, b"x-b") is None


@pytest.mark.parametrize(
    "request_id", [b"0af7651916cd43dd8448eb211c80319c", b"a-b_c.d:E", b"x" * 64]
)
def test_the_id_of_a_request_is_taken_off_its_head(request_id: bytes) -> None:
    line = b"X-Service-Request-Id: %b\r\n" % request_id
    head = b"GET /x\r\n" + line + b"Host: a\r\n"
    read = heads.decode_request_line(head)

    assert (read.target, read.request_id) == (b"/x", request_id)
    assert heads.decode_fields(read.lines) == [(b"Host", b"a")]
    assert heads.request_id_in(head) == request_id


@pytest.mark.parametrize("request_id", [b"short", b"x" * 65, b"a b c d e f", b"\xe4" * 20, b""])
def test_what_cannot_be_an_id_is_a_field_like_any_other(request_id: bytes) -> None:
    head = b"GET /x\r\nX-Service-Request-Id: %b\r\nHost: a\r\n" % request_id
    read = heads.decode_request_line(head)

    assert (read.request_id, heads.request_id_in(head)) == (b"", b"")
    assert len(heads.decode_fields(read.lines)) == 2
    assert not heads.is_request_id(request_id)


def test_an_id_that_does_not_come_first_is_a_field_like_any_other() -> None:
    head = b"GET /x\r\nHost: a\r\nX-Service-Request-Id: 0af7651916cd43dd\r\n"

    assert heads.decode_request_line(head).request_id == b""
