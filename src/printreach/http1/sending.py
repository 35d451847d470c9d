"""Sending an Answer: the headers that frame it, then its body as fast as the client reads."""

import http
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from printreach.wire.heads import Headers

from .chunked import LAST_CHUNK, encode_chunk
from .messages import Answer
from .stream import ByteStream

_WITHOUT_BODY: Final = frozenset({204, 304})


async def send_answer(
    stream: ByteStream, answer: Answer, *, method: bytes, http10: bool, keep_alive: bool
) -> bool:
    """Send a whole answer; False if the connection has to be closed afterwards.

    Raises ClientGone, and exceptions of the body's generator. Raises ValueError for a header with a
    line break, before anything is sent, and for a body whose length isn't the announced one.
    """
    length = len(answer.body) if isinstance(answer.body, bytes) else answer.length
    is_chunked = length is None and not http10
    keep_alive = keep_alive and (length is not None or is_chunked)
    headers = [*answer.headers, *_framing(answer.status, length, is_chunked)]
    if not keep_alive:
        headers.append((b"Connection", b"close"))
    elif http10:
        headers.append((b"Connection", b"keep-alive"))
    head = encode_head(answer.status, headers)
    has_body = method != b"HEAD" and answer.status not in _WITHOUT_BODY
    if isinstance(answer.body, bytes):
        await stream.send(head + answer.body if has_body else head)
        return keep_alive
    async with aclosing(answer.body) as pieces:
        await stream.send(head)
        if has_body and is_chunked:
            await _send_chunks(stream, pieces)
        elif has_body:
            await _send_plain(stream, pieces, length)
    return keep_alive


def encode_head(status: int, headers: Headers) -> bytes:
    """Format a head. Raises ValueError for a header with a line break."""
    try:
        reason = http.HTTPStatus(status).phrase.encode()
    except ValueError:
        reason = b""
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, reason)]
    for name, value in headers:
        if b"\r" in name + value or b"\n" in name + value:
            raise ValueError(f"a line break in the header {name!r}")
        lines.append(b"%b: %b\r\n" % (name, value))
    return b"".join([*lines, b"\r\n"])


def _framing(status: int, length: int | None, is_chunked: bool) -> Headers:
    if status in _WITHOUT_BODY:
        return []
    if is_chunked:
        return [(b"Transfer-Encoding", b"chunked")]
    return [] if length is None else [(b"Content-Length", b"%d" % length)]


async def _send_chunks(stream: ByteStream, pieces: AsyncGenerator[bytes, None]) -> None:
    async for piece in pieces:
        await stream.send(encode_chunk(piece))
    await stream.send(LAST_CHUNK)


async def _send_plain(
    stream: ByteStream, pieces: AsyncGenerator[bytes, None], length: int | None
) -> None:
    """Send the pieces. Raises ValueError unless they have the announced length, if one was."""
    sent = 0
    async for piece in pieces:
        sent += len(piece)
        if length is not None and sent > length:
            break
        await stream.send(piece)
    if length not in (None, sent):
        raise ValueError(f"an answer's body of {sent} bytes was announced as {length}")
