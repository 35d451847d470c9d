"""Properties of every chunked body, and of every mutated one."""

from collections.abc import Iterable
from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from printreach.http1.chunked import LAST_CHUNK, ChunkedDecoder, encode_chunk
from printreach.http1.heads import BadMessage
from tests.http1.httptools_oracle import Oracle
from tests.http1.mutations import pieces_of, wounded

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


class Outcome(NamedTuple):
    body: bytes
    consumed: int
    done: bool


def outcome_of(parts: Iterable[bytes]) -> Outcome | None:
    """What a decoder makes of the parts; None where it refuses them."""
    decoder = ChunkedDecoder()
    body, taken = b"", 0
    try:
        for part in parts:
            pieces, consumed = decoder.feed(part)
            body += b"".join(pieces)
            taken += consumed
    except BadMessage:
        return None
    return Outcome(body, taken, decoder.done)


SIZES = ("%x", "%X", "000%x", "%016x")
EXTENSIONS = (b"", b";a", b";a=b", b';a="b;c"', b";a;b=c")
TRAILERS = (b"", b"A: b\r\n", b"A:\r\nB: \xff\r\n")


@st.composite
def encoded(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A body, and one of the ways to write it in chunks."""
    body = wire = b""
    for data in draw(st.lists(st.binary(min_size=1, max_size=40), max_size=5)):
        size = (draw(st.sampled_from(SIZES)) % len(data)).encode()
        body += data
        wire += b"%b%b\r\n%b\r\n" % (size, draw(st.sampled_from(EXTENSIONS)), data)
    return body, wire + b"0\r\n%b\r\n" % draw(st.sampled_from(TRAILERS))


almost_right = wounded(
    [
        b"5\r\nhello\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
        b'5;a=b\r\nhello\r\nA;x="y"\r\n0123456789\r\n0\r\nA: b\r\nC: d\r\n\r\n',
    ]
)


@given(st.lists(st.binary(max_size=40), max_size=6), st.binary(max_size=20))
def test_encoded_bytes_are_decoded_to_the_same(parts: list[bytes], rest: bytes) -> None:
    data = b"".join(map(encode_chunk, parts)) + LAST_CHUNK

    assert outcome_of([data + rest]) == Outcome(b"".join(parts), len(data), True)


@given(encoded(), st.data())
def test_a_body_is_the_same_however_its_bytes_arrive(
    encoded: tuple[bytes, bytes], draws: st.DataObject
) -> None:
    body, data = encoded

    assert outcome_of(draws.draw(pieces_of(data))) == Outcome(body, len(data), True)


@given(almost_right, st.data())
def test_a_mistake_is_the_same_however_its_bytes_arrive(data: bytes, draws: st.DataObject) -> None:
    assert outcome_of(draws.draw(pieces_of(data))) == outcome_of([data])


@given(encoded())
def test_httptools_reads_the_same_body(encoded: tuple[bytes, bytes]) -> None:
    body, data = encoded
    oracle = Oracle(HEAD + data)

    assert (oracle.refused, oracle.body, oracle.done) == (False, body, True)


@given(almost_right)
@example(b"5\r\nhello\r\n0\r\n\r\nrest")
def test_a_body_that_both_accept_is_the_same_to_httptools(data: bytes) -> None:
    ours = outcome_of([data])
    if ours is None or not ours.done:
        return
    oracle = Oracle(HEAD + data[: ours.consumed])

    # It looks into extensions and trailers, which we drop, and may refuse there.
    assert oracle.refused or (oracle.body, oracle.done) == (ours.body, True)
