"""Properties of every head, and of every mutated one."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.http1.heads import (
    BadMessage,
    Framing,
    Request,
    Response,
    find_head_end,
    parse_request,
    parse_response,
)
from printreach.wire.heads import Headers
from tests.http1.corpus.bodies import ACCEPTED
from tests.http1.corpus.heads import REFUSED_HEADS
from tests.http1.httptools_oracle import Oracle
from tests.http1.mutations import pieces_of, wounded

TOKEN_BYTES = b"!#$%&'*+-.^_`|~09azAZ"
VALUE_BYTES = bytes(set(range(0x20, 0x100)) - {0x7F}) + b"\t"
TARGET_BYTES = bytes(set(VALUE_BYTES) - set(b" \t#"))
SPECIAL = {b"host", b"content-length", b"transfer-encoding", b"connection", b"upgrade", b"expect"}


def bytes_of(alphabet: bytes, min_size: int = 0, max_size: int = 12) -> st.SearchStrategy[bytes]:
    texts = st.text(alphabet.decode("latin-1"), min_size=min_size, max_size=max_size)
    return texts.map(lambda text: text.encode("latin-1"))


names = bytes_of(TOKEN_BYTES, min_size=1).filter(lambda name: name.lower() not in SPECIAL)
values = bytes_of(VALUE_BYTES).map(lambda value: value.strip(b" \t"))
blanks = bytes_of(b" \t", max_size=2)
fields = st.lists(st.tuples(names, blanks, values, blanks), max_size=8)


def lines_of(fields: list[tuple[bytes, bytes, bytes, bytes]]) -> bytes:
    return b"".join(b"%b:%b%b%b\r\n" % field for field in fields)


def headers_of(fields: list[tuple[bytes, bytes, bytes, bytes]]) -> Headers:
    return [(name, value) for name, _, value, _ in fields]


@given(
    bytes_of(b"ABZabz09_-", min_size=1),
    bytes_of(TARGET_BYTES).map(lambda rest: b"/" + rest),
    fields,
)
def test_a_request_is_read_as_it_was_written(
    method: bytes, target: bytes, fields: list[tuple[bytes, bytes, bytes, bytes]]
) -> None:
    head = b"%b %b HTTP/1.1\r\nHost: h\r\n%b\r\n" % (method, target, lines_of(fields))

    assert parse_request(head) == Request(
        method=method,
        target=target,
        host=b"h",
        headers=[(b"Host", b"h"), *headers_of(fields)],
        http10=False,
        framing=Framing.NONE,
        length=0,
        keep_alive=True,
        expects_continue=False,
        upgrade=None,
    )


@pytest.mark.slow
@given(st.integers(200, 999).filter(lambda status: status not in (204, 304)), values, fields)
def test_an_answer_is_read_as_it_was_written(
    status: int, reason: bytes, fields: list[tuple[bytes, bytes, bytes, bytes]]
) -> None:
    head = b"HTTP/1.1 %d %b\r\n%b\r\n" % (status, reason, lines_of(fields))

    assert parse_response(head, b"GET") == Response(
        status=status,
        reason=reason,
        headers=headers_of(fields),
        framing=Framing.UNTIL_CLOSE,
        length=0,
        keep_alive=False,
        upgrade=False,
    )


def first_request(parts: Iterable[bytes]) -> tuple[int, Request] | int | None:
    """The first request and where its head ends; the status of a refusal; None where it waits."""
    buffer = bytearray()
    for part in parts:
        searched = len(buffer)
        buffer += part
        end = find_head_end(buffer, max(0, searched - 3))
        if end >= 0:
            try:
                return end, parse_request(bytes(buffer[:end]))
            except BadMessage as exc:
                return exc.status
    return None


small_corpus = [
    *(case.raw for case in REFUSED_HEADS if len(case.raw) < 2000),
    *(case.raw for case in ACCEPTED),
]
good_heads = [
    b"POST /a%20b?c HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nContent-Length: 5\r\nX: y\r\n\r\n",
    b"GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
    b"GET /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nEmpty:\r\n\r\n",
    b"GET http://h/ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
]
almost_right = wounded([*good_heads, *small_corpus])


@given(almost_right, st.data())
def test_a_head_is_the_same_however_its_bytes_arrive(data: bytes, draws: st.DataObject) -> None:
    assert first_request(draws.draw(pieces_of(data))) == first_request([data])


@given(almost_right)
def test_a_head_that_is_accepted_can_be_read_in_one_way_only(data: bytes) -> None:
    outcome = first_request([data])
    if not isinstance(outcome, tuple):
        return
    end, request = outcome
    head = data[:end]

    assert head.count(b"\n") == head.count(b"\r") == head.count(b"\r\n") == len(request.headers) + 2
    assert not set(head) & {*range(9), 11, 12, *range(14, 32), 127}
    assert sum(name.lower() == b"host" for name, _ in request.headers) + request.http10 >= 1


@given(wounded(good_heads))
def test_a_head_that_both_accept_says_the_same_to_httptools(data: bytes) -> None:
    outcome = first_request([data])
    if not isinstance(outcome, tuple):
        return
    end, request = outcome
    oracle = Oracle(data[:end])

    # It knows fewer methods, and some bytes of a target are not to its liking.
    if not oracle.refused:
        assert oracle.method == request.method
        assert oracle.target.removeprefix(b"http://h") == request.target
        # It leaves a tab at the end of a value.
        assert [(name, value.rstrip(b" \t")) for name, value in oracle.headers] == request.headers


@given(wounded([b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"]))
def test_an_answer_that_is_almost_right_is_understood_or_refused(data: bytes) -> None:
    status = 502
    try:
        response = parse_response(data, b"GET")
    except BadMessage as exc:
        status = exc.status
    else:
        # Fewer where a Content-Length was repeated.
        assert len(response.headers) <= data.count(b"\n") - 2
    assert status == 502
