"""A minimal reader of HTTP responses for load generators."""

import asyncio
import re

from bench.processes import Broken

_READ_BYTES = 64 * 1024


def answer_size(data: bytes) -> int:
    """Return the size of head and body together; 0 while the head is incomplete."""
    end = data.find(b"\r\n\r\n") + 4
    length = re.search(rb"\r\ncontent-length: *(\d+)\r\n", data[:end], re.IGNORECASE)
    return end + int(length[1]) if end > 3 and length else 0


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """Return the body of the next response. Raises Broken for an error."""
    data, size = b"", 0
    while not size or len(data) < size:
        piece = await reader.read(_READ_BYTES)
        if not piece:
            raise Broken("a connection was closed in the middle of an answer")
        data += piece
        size = size or answer_size(data)
    if not data.startswith(b"HTTP/1.1 200 ") or len(data) > size:
        raise Broken(f"an answer was {data[:400]!r}")
    return data.partition(b"\r\n\r\n")[2]
