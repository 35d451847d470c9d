"""A minimal receiver of webhooks, which answers 200.

python -m bench.receiver        prints its port, and serves until it is stopped
python -m bench.receiver 50     answers each request 50 ms after it has come
"""

import asyncio
import sys
from typing import cast

import uvloop

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Receiving(asyncio.Protocol):
    """One connection. Its requests have a Content-Length, as those of webhooks do."""

    def __init__(self, answers_after_s: float) -> None:
        self._answers_after_s = answers_after_s
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            size = end + 4 + _length(self._buffer[:end])
            if len(self._buffer) < size:
                return
            self._buffer = self._buffer[size:]
            if self._answers_after_s:
                loop = asyncio.get_running_loop()
                loop.call_later(self._answers_after_s, self._transport.write, _ANSWER)
            else:
                self._transport.write(_ANSWER)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def _serve(answers_after_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Receiving(answers_after_s), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]) / 1000 if sys.argv[1:] else 0.0))
