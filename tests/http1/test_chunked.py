"""Chunked bodies: what is accepted, and at which byte the body ends."""

import pytest

from printreach.http1.chunked import (
    LAST_CHUNK,
    MAX_SIZE_LINE_BYTES,
    MAX_TRAILER_BYTES,
    ChunkedDecoder,
    encode_chunk,
)
from printreach.http1.heads import BadMessage


def decode(data: bytes) -> tuple[bytes, int]:
    """The body, and the bytes that it took."""
    decoder = ChunkedDecoder()
    pieces, consumed = decoder.feed(data)
    assert decoder.done
    return b"".join(pieces), consumed


def is_refused(data: bytes) -> bool:
    try:
        ChunkedDecoder().feed(data)
    except BadMessage as exc:
        return exc.status == 400
    return False


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"0\r\n\r\n", b""),
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", b"hello, world"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"a\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"005\r\nhello\r\n0000000000000000\r\n\r\n", b"hello"),
        (b"0000000000000005\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"7\r\na\r\n0\r\n\r\r\n0\r\n\r\n", b"a\r\n0\r\n\r"),
        (b"5;\r\nhello\r\n0;\r\n\r\n", b"hello"),
        (b'5;a=b; c="d;e\xff"\t\r\nhello\r\n0;x\r\n\r\n', b"hello"),
        (b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nEmpty:\r\n\r\n", b"hello"),
        (b"0\r\nHost: x\r\nContent-Length: 5\r\n\r\n", b""),
    ],
)
def test_a_body_comes_out_of_its_chunks(data: bytes, body: bytes) -> None:
    assert decode(data) == (body, len(data))


@pytest.mark.parametrize("rest", [b"\r\n", b"GET / HTTP/1.1\r\n", b"0\r\n\r\n", b"\x00"])
def test_bytes_after_the_body_are_left_for_the_next_message(rest: bytes) -> None:
    data = b"5\r\nhello\r\n0\r\nA: b\r\n\r\n"

    assert decode(data + rest) == (b"hello", len(data))


def test_a_decoder_that_is_done_takes_nothing_more() -> None:
    decoder = ChunkedDecoder()
    decoder.feed(LAST_CHUNK)

    assert decoder.feed(b"5\r\nhello\r\n") == ([], 0)


@pytest.mark.parametrize("length", range(len(b"5\r\nhello\r\n0\r\n\r\n")))
def test_a_body_that_is_cut_off_is_not_done(length: int) -> None:
    decoder = ChunkedDecoder()

    _, consumed = decoder.feed(b"5\r\nhello\r\n0\r\n\r\n"[:length])

    assert consumed == length
    assert not decoder.done


def test_data_is_passed_on_as_it_arrives() -> None:
    decoder = ChunkedDecoder()

    assert decoder.feed(b"ffffffff\r\nhel") == ([b"hel"], 13)
    assert decoder.feed(b"lo") == ([b"lo"], 2)


def test_data_that_is_nothing_but_data_is_not_copied() -> None:
    decoder = ChunkedDecoder()
    decoder.feed(b"ffffffff\r\n")
    data = bytes(100_000)

    pieces, _ = decoder.feed(data)

    assert pieces[0] is data


def test_a_size_may_have_16_digits() -> None:
    assert ChunkedDecoder().feed(b"ffffffffffffffff\r\nx") == ([b"x"], 19)


# Bounds


def size_line_of(size: int) -> bytes:
    return b"5;" + b"a" * (size - 4) + b"\r\n"


def test_a_size_line_may_fill_256_bytes() -> None:
    assert len(size_line_of(MAX_SIZE_LINE_BYTES)) == MAX_SIZE_LINE_BYTES == 256
    assert not is_refused(size_line_of(MAX_SIZE_LINE_BYTES))


def test_a_size_line_of_one_byte_more_is_refused() -> None:
    assert is_refused(size_line_of(MAX_SIZE_LINE_BYTES + 1))


def test_a_size_line_is_refused_as_soon_as_its_end_can_no_longer_fit() -> None:
    assert not is_refused(b"5;" + b"a" * 253)
    assert is_refused(b"5;" + b"a" * 254)


def trailers_of(size: int) -> bytes:
    many = b"X: y\r\n" * 1000
    return many + b"Z: " + b"a" * (size - len(many) - 7) + b"\r\n\r\n"


def test_trailers_may_fill_8_kib() -> None:
    assert len(trailers_of(MAX_TRAILER_BYTES)) == MAX_TRAILER_BYTES == 8 * 1024
    assert decode(b"0\r\n" + trailers_of(MAX_TRAILER_BYTES))[0] == b""


def test_trailers_of_one_byte_more_are_refused() -> None:
    assert is_refused(b"0\r\n" + trailers_of(MAX_TRAILER_BYTES + 1))


def test_wrong_bytes_after_a_chunk_are_refused_without_waiting_for_a_line() -> None:
    assert is_refused(b"5\r\nhelloXX")


# Encoding


@pytest.mark.parametrize("max_pieces", [1, 2, 3, 7])
@pytest.mark.parametrize("extension", [b"", b";x=y"])
def test_a_body_is_read_some_pieces_at_a_time(max_pieces: int, extension: bytes) -> None:
    decoder = ChunkedDecoder(max_pieces)
    sent = [b"x" * size for size in (1, 2, 300, 1, 16)]
    chunks = [b"%x%b\r\n%b\r\n" % (len(data), extension, data) for data in sent]
    rest, received = b"".join(chunks) + b"0\r\nExpires: 0\r\n\r\nGET", list[bytes]()
    while not decoder.done:
        pieces, used = decoder.feed(rest)
        assert len(pieces) <= max_pieces
        received += pieces
        rest = rest[used:]

    assert received == sent
    assert rest == b"GET"


def test_a_chunk_is_its_size_in_hexadecimal_and_its_data() -> None:
    assert encode_chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"


def test_no_data_makes_no_chunk_because_an_empty_one_would_end_the_body() -> None:
    assert encode_chunk(b"") == b""
