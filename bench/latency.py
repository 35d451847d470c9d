"""How long a caller waits who asks for one thing after another, over one connection."""

import asyncio
import time

from bench.load import answer_size
from bench.processes import Broken
from tests.rigs.calls import request_head
from tests.rigs.ways import Way

_READ_BYTES = 64 * 1024


async def latencies_ms(way: Way, target: str, seconds: float) -> list[float]:
    """Of each answer in turn. Raises Broken where one was not good."""
    reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
    request, taken_ms = request_head(way, "GET", target), []
    ends_at = time.perf_counter() + seconds
    try:
        while (began := time.perf_counter()) < ends_at:
            writer.write(request)
            await _read_answer(reader)
            taken_ms.append(1e3 * (time.perf_counter() - began))
    finally:
        writer.close()
    return taken_ms


async def _read_answer(reader: asyncio.StreamReader) -> None:
    data, size = b"", 0
    while not size or len(data) < size:
        piece = await reader.read(_READ_BYTES)
        if not piece:
            raise Broken("a connection was closed in the middle of an answer")
        data += piece
        size = size or answer_size(data)
    if not data.startswith(b"HTTP/1.1 200 ") or len(data) > size:
        raise Broken(f"an answer began {data[:40]!r}")
