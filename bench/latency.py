"""Latency of sequential requests over one connection."""

import asyncio
import time

from bench.answers import read_answer
from tests.rigs.calls import request_head
from tests.rigs.ways import Way


async def latencies_ms(way: Way, target: str, seconds: float) -> list[float]:
    """Return the latency of each response in order. Raises Broken for an error."""
    reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
    request, taken_ms = request_head(way, "GET", target), []
    ends_at = time.perf_counter() + seconds
    try:
        while (began := time.perf_counter()) < ends_at:
            writer.write(request)
            await read_answer(reader)
            taken_ms.append(1e3 * (time.perf_counter() - began))
    finally:
        writer.close()
    return taken_ms
