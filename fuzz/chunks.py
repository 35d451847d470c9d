"""Chunked bodies: the result does not depend on how they are cut, and equals a plain parser's."""

import math
import re

from printreach.http1.chunked import ChunkedDecoder
from printreach.http1.heads import BadMessage

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]+)[^\r\n]*\r\n")
_TRAILERS = re.compile(rb"(?:[^\r\n]+\r\n)*\r\n")


def chunked(data: bytes) -> None:
    """Target ChunkedDecoder. The first byte decides how the rest is cut."""
    body = data[1:]
    whole = decode([body])
    step = data[0] % 16 + 1 if data else 1
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    assert decode(pieces) == whole
    assert decode([body], max_pieces=step) == whole
    if whole is not None and whole[2]:
        assert whole[:2] == plainly(body)


def decode(pieces: list[bytes], max_pieces: float = math.inf) -> tuple[bytes, int, bool] | None:
    """Return the body, the bytes consumed and whether it is complete; None if it is refused."""
    decoder, body, taken = ChunkedDecoder(max_pieces), b"", 0
    for piece in pieces:
        at = 0
        while at < len(piece) and not decoder.done:
            try:
                found, used = decoder.feed(piece[at:])
            except BadMessage:
                return None
            assert len(found) <= max_pieces
            if len(found) < max_pieces and not decoder.done:
                assert at + used == len(piece)
            body += b"".join(found)
            at += used
        taken += at
    return body, taken, decoder.done


def plainly(data: bytes) -> tuple[bytes, int]:
    """Return the body and its end, for data in one piece."""
    body, at = b"", 0
    while True:
        line = _SIZE_LINE.match(data, at)
        assert line, data[at : at + 40]
        size, at = int(line[1], 16), line.end()
        if size == 0:
            trailers = _TRAILERS.match(data, at)
            assert trailers, data[at : at + 40]
            return body, trailers.end()
        body += data[at : at + size]
        at += size
        assert data[at : at + 2] == b"\r\n"
        at += 2
