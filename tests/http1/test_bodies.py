"""Reading a body by its framing: its bytes, its end, and the surplus."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.http1.bodies import BodyReader
from printreach.http1.chunked import LAST_CHUNK, encode_chunk
from printreach.http1.heads import BadMessage, Framing

pieces = st.lists(st.binary(min_size=1, max_size=20), max_size=8)


def read(reader: BodyReader, arrivals: list[bytes]) -> tuple[bytes, bytes]:
    """The body and what is left over, where the bytes arrive so."""
    body, rest = b"", b""
    for data in arrivals:
        more, left = reader.feed(data)
        body += more
        rest += left
    return body, rest


def cut(data: bytes, at: list[int]) -> list[bytes]:
    """The data in pieces."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in at)})
    return [data[start:end] for start, end in pairwise(edges)]


def test_no_body_is_complete_from_the_start_and_leaves_everything_over() -> None:
    reader = BodyReader(Framing.NONE, 0)

    assert reader.is_complete
    assert reader.feed(b"GET /next") == (b"", b"GET /next")


def test_a_body_of_length_zero_is_complete_from_the_start() -> None:
    reader = BodyReader(Framing.LENGTH, 0)

    assert reader.is_complete
    assert reader.feed(b"GET /next") == (b"", b"GET /next")


def test_a_body_by_length_is_complete_with_its_last_byte() -> None:
    reader = BodyReader(Framing.LENGTH, 5)

    assert reader.feed(b"hell") == (b"hell", b"")
    assert not reader.is_complete
    assert reader.feed(b"o") == (b"o", b"")
    assert reader.is_complete


def test_a_body_until_close_is_never_complete_before() -> None:
    reader = BodyReader(Framing.UNTIL_CLOSE, 0)

    assert reader.feed(b"hello") == (b"hello", b"")
    assert not reader.is_complete
    assert reader.end_of_input()
    assert reader.is_complete


@pytest.mark.parametrize("framing", [Framing.LENGTH, Framing.CHUNKED])
def test_the_end_of_input_completes_no_other_body(framing: Framing) -> None:
    reader = BodyReader(framing, 5)
    reader.feed(b"4\r\nhe"[: 4 if framing is Framing.LENGTH else None])

    assert not reader.end_of_input()
    assert not reader.is_complete


def test_a_broken_chunk_is_refused() -> None:
    reader = BodyReader(Framing.CHUNKED, 0)

    with pytest.raises(BadMessage):
        reader.feed(b"five\r\nhello\r\n")


@pytest.mark.slow
@given(pieces, st.binary(max_size=20), st.lists(st.integers(0, 500), max_size=10))
def test_a_chunked_body_is_the_same_however_it_arrives(
    chunks: list[bytes], surplus: bytes, at: list[int]
) -> None:
    sent = b"".join(map(encode_chunk, chunks)) + LAST_CHUNK + surplus
    reader = BodyReader(Framing.CHUNKED, 0)

    assert read(reader, cut(sent, at)) == (b"".join(chunks), surplus)
    assert reader.is_complete


@given(st.binary(max_size=60), st.binary(max_size=20), st.lists(st.integers(0, 500), max_size=10))
def test_a_body_by_length_is_the_same_however_it_arrives(
    sent: bytes, surplus: bytes, at: list[int]
) -> None:
    reader = BodyReader(Framing.LENGTH, len(sent))

    assert read(reader, cut(sent + surplus, at)) == (sent, surplus)
    assert reader.is_complete
