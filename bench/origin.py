"""The server behind the tunnel for what nginx can't serve: a camera, an echo, a live stream.

python -m bench.origin PORT

/ws      WebSocket: every message of 1 KB comes back
/camera  MJPEG: pictures of 100 KB, 15 a second; a slow viewer misses some
/live    a stream that says something at once and then keeps quiet
"""

import asyncio
import os
import sys
from base64 import b64encode
from hashlib import sha1
from typing import Final, cast

import uvloop

from bench.echo import CLIENT_HEADER, GUID, MESSAGE_BYTES, SERVER_HEADER

PICTURES_A_SECOND: Final = 15
_PICTURE: Final = os.urandom(100_000)
PART: Final = (
    b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 100000\r\n\r\n" + _PICTURE + b"\r\n"
)
_MAX_UNSENT_BYTES: Final = 2 * len(PART)  # late pictures are dropped, as a camera's server does
_STREAM_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
)
_ECHO_BYTES: Final = len(CLIENT_HEADER) + MESSAGE_BYTES


class Caller(asyncio.Protocol):
    """One connection with one request."""

    def __init__(self, viewers: set[asyncio.Transport]) -> None:
        self._viewers = viewers
        self._buffer = b""
        self._is_echo = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._viewers.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._is_echo:
            self._echo()
        elif b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        match head.split(b" ", 2)[1]:
            case b"/ws":
                self._is_echo = True
                self._transport.write(_switch(head))
            case b"/camera":
                kind = b"multipart/x-mixed-replace; boundary=frame"
                self._transport.write(_STREAM_HEAD % kind)
                self._viewers.add(self._transport)
            case b"/live":
                self._transport.write(_STREAM_HEAD % b"text/event-stream")
                loop = asyncio.get_running_loop()
                loop.call_soon(self._transport.write, b"data: here\n\n")
            case _:
                self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    def _echo(self) -> None:
        while len(self._buffer) >= _ECHO_BYTES:
            message = self._buffer[len(CLIENT_HEADER) : _ECHO_BYTES]
            self._buffer = self._buffer[_ECHO_BYTES:]
            self._transport.write(SERVER_HEADER + message)


def _switch(head: bytes) -> bytes:
    key = next(
        line.partition(b":")[2].strip()
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"sec-websocket-key:")
    )
    accept = b64encode(sha1(key + GUID).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept
    )


async def _show(viewers: set[asyncio.Transport]) -> None:
    """Send every viewer each picture at the frame rate."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        for viewer in viewers:
            if viewer.get_write_buffer_size() < _MAX_UNSENT_BYTES:
                viewer.write(PART)
        due = max(due + 1 / PICTURES_A_SECOND, loop.time())
        await asyncio.sleep(due - loop.time())


async def _serve(port: int) -> None:
    viewers: set[asyncio.Transport] = set()
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: Caller(viewers), "127.0.0.1", port, backlog=1024)
    await _show(viewers)


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
