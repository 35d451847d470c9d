"""A load generator that checks each response."""

import asyncio
from dataclasses import dataclass
from typing import cast

from bench.answers import answer_size
from bench.processes import Broken


@dataclass(frozen=True, slots=True)
class Target:
    """port: on this machine."""

    port: int
    host: str
    path: str

    @property
    def request(self) -> bytes:
        return f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()


class Caller(asyncio.Protocol):
    """Sends the next request once it has the response. All responses have the length of the
    first.
    """

    def __init__(self, request: bytes) -> None:
        self.answers = 0
        self.fault = ""
        self._request = request
        self._buffer = b""
        self._size = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._size:
            self._size = answer_size(self._buffer)
        if self._size and len(self._buffer) >= self._size:
            if not self._buffer.startswith(b"HTTP/1.1 200 ") or len(self._buffer) > self._size:
                self.fault = f"an answer began {self._buffer[:40]!r}"
                self._transport.abort()
                return
            self.answers += 1
            self._buffer = b""
            self._transport.write(self._request)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.fault = self.fault or "the connection was closed"

    def stop(self) -> None:
        self._transport.abort()


async def keep_asking(target: Target, connections: int, seconds: float) -> int:
    """Return the number of responses. Raises Broken for an error."""
    loop = asyncio.get_running_loop()

    def caller() -> Caller:
        return Caller(target.request)

    callers: list[Caller] = []
    for _ in range(connections):
        _, one = await loop.create_connection(caller, "127.0.0.1", target.port)
        callers.append(one)
    before = sum(one.answers for one in callers)
    await asyncio.sleep(seconds)
    answers = sum(one.answers for one in callers) - before
    faults = {one.fault for one in callers if one.fault}
    for one in callers:
        one.stop()
    if faults or not answers:
        raise Broken(f"port {target.port}: {'; '.join(sorted(faults)) or 'no answer'}")
    return answers
