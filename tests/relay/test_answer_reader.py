"""Printers' heads that repeat are read once, and what is made of them is never confused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.relay.header_filter import (
    MAX_CACHED_ANSWERS,
    MAX_CACHED_BYTES,
    AnswerReader,
    BadAnswer,
    Field,
    read_answer,
)
from printreach.wire.errors import RemoteProtocolError

HEAD = b"200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n"
DEFAULTS: tuple[Field, ...] = ((b"Cache-Control", b"private"), (b"X-Frame-Options", b"DENY"))


def test_the_same_head_is_read_once() -> None:
    reader = AnswerReader()

    assert reader.read(HEAD) is reader.read(HEAD)


def test_defaults_of_one_answer_are_not_in_the_next() -> None:
    reader = AnswerReader()

    assert b"X-Frame-Options: DENY" in reader.read(HEAD, None, DEFAULTS).fields
    assert b"X-Frame-Options" not in reader.read(HEAD).fields


def test_a_default_gives_way_to_the_printers_own_field() -> None:
    head = HEAD + b"cache-control: no-store\r\n"

    fields = read_answer(head, None, DEFAULTS).fields

    assert b"private" not in fields
    assert fields.endswith(b"cache-control: no-store\r\nX-Frame-Options: DENY\r\n")


@pytest.mark.parametrize(
    "line",
    [b"Set-Cookie: session=secret", b"SET-COOKIE: a=b", b"X: " + MAX_CACHED_BYTES * b"x"],
    ids=["a cookie", "a cookie in capitals", "a long line"],
)
def test_a_head_with_a_cookie_or_a_long_one_is_not_cached(line: bytes) -> None:
    reader = AnswerReader()
    head = HEAD + line + b"\r\n"

    first, second = reader.read(head), reader.read(head)

    assert first == second
    assert first is not second


def test_the_first_head_is_forgotten_after_many_others() -> None:
    reader = AnswerReader()
    first = reader.read(HEAD)

    for number in range(MAX_CACHED_ANSWERS):
        reader.read(HEAD + b"X: %d\r\n" % number)

    assert reader.read(HEAD) is not first


HEADS = [
    HEAD,
    b"200 OK\r\n",
    b"204 No Content\r\nContent-Length: 0\r\n",
    b"101 Switching Protocols\r\nContent-Length: 0\r\n",
    b"103 Early Hints\r\nLink: </a.css>\r\n",
    b"304 Not Modified\r\nCache-Control: public\r\nContent-Length: 7\r\n",
    b"200 OK\r\nSet-Cookie: a=b; HttpOnly\r\n",
    b"200 OK\r\nSet-Cookie: printreach_own=x\r\n",
    b"200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x\r\n",
    b"200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
    b"200 OK\nX: y\r\n",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(HEADS),
            st.sampled_from([None, 8001, 8002]),
            st.sampled_from([(), DEFAULTS[:1], DEFAULTS]),
        )
    )
)
def test_earlier_answers_change_nothing(
    answers: list[tuple[bytes, int | None, tuple[Field, ...]]],
) -> None:
    reader = AnswerReader()
    for answer in answers:
        assert _outcome(reader, *answer) == _outcome(None, *answer)


def _outcome(
    reader: AnswerReader | None, head: bytes, cookie_port: int | None, defaults: tuple[Field, ...]
) -> object:
    try:
        if reader is not None:
            return reader.read(head, cookie_port, defaults)
        return read_answer(head, cookie_port, defaults)
    except (BadAnswer, RemoteProtocolError) as fault:
        return str(fault)
