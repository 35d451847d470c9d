"""A camera on a port of its own: a stream at /stream, single pictures at /snapshot."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from printreach.http1.server import Server

PICTURE_S = 0.05
STREAM, SNAPSHOT = b"/stream", b"/snapshot"


def picture(number: int) -> bytes:
    """Begins and ends as a JPEG file does, with the number in between."""
    return b"\xff\xd8\xff\xe0" + b"picture %d" % number + b"\xff\xd9"


class Film:
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.streams = 0
        self.snapshots = 0

    async def answer(self, call: Call) -> Answer:
        if call.path == SNAPSHOT:
            self.snapshots += 1
            return Answer(headers=[(b"Content-Type", b"image/jpeg")], body=picture(0))
        if call.path == STREAM:
            self.streams += 1
            kind = b"multipart/x-mixed-replace; boundary=film"
            return Answer(headers=[(b"Content-Type", kind)], body=_parts())
        return Answer(status=404)


@asynccontextmanager
async def film_at(port: int) -> AsyncIterator[Film]:
    """Shows a film on loopback; port 0 is of no use, for the printer has to know it before."""
    film = Film()
    server = Server(film.answer, ServerLimits())
    await server.listen("127.0.0.1", port, None)
    try:
        yield film
    finally:
        await server.close()


async def _parts() -> AsyncGenerator[bytes, None]:
    number = 0
    while True:
        number += 1
        data = picture(number)
        head = b"--film\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data)
        yield head + data + b"\r\n"
        await asyncio.sleep(PICTURE_S)
