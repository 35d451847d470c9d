"""Answers that take their time, and answers that break off."""

import asyncio

from aiohttp import web

from tests.rigs.behaviour.answers import query
from tests.rigs.behaviour.journal import Journal

BOUNDARY = b"frame"


def jpeg_part(number: int) -> bytes:
    """One part of a motion JPEG stream, its boundary in front as webcams send it."""
    picture = b"\xff\xd8" + b"picture %d" % number + b"\xff\xd9"
    head = b"--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
    return head % (BOUNDARY, len(picture)) + picture + b"\r\n"


def event(number: int) -> bytes:
    """One server-sent event."""
    return b"id: %d\ndata: event %d\n\n" % (number, number)


PARTS = {
    "mjpeg": (f"multipart/x-mixed-replace; boundary={BOUNDARY.decode()}", jpeg_part),
    "sse": ("text/event-stream", event),
}


async def stepped(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """/stepped/mjpeg or /stepped/sse: part 0 at once, each later one when a test allows it."""
    key = query(request)["key"]
    content_type, part = PARTS[request.path.rsplit("/", 1)[1]]
    answer = web.StreamResponse(headers={"Content-Type": content_type})
    await answer.prepare(request)
    for number in range(1000):
        await answer.write(part(number))
        await journal.step(key)
    return answer


async def endless(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Send as fast as the reader takes it, until it leaves."""
    answer = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
    await answer.prepare(request)
    sent = 0
    while True:
        await answer.write(b"\0" * 16384)
        sent += 16384
        journal.note(query(request)["key"], "sent", sent)
        await asyncio.sleep(0)


async def silent(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Not a byte of answer until a test allows it."""
    await journal.step(query(request)["key"])
    return web.Response(text="at last")


async def cut(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """/cut/length and /cut/chunked: break off in mid-answer as a printer that loses power."""
    answer = web.StreamResponse()
    if request.path.endswith("/length"):
        answer.headers["Content-Length"] = "100000"
    await answer.prepare(request)
    await answer.write(b"half of it")
    await journal.step(query(request)["key"])
    assert request.transport is not None
    request.transport.abort()
    return answer


async def hints(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """An informational answer ahead of the real one."""
    assert request.transport is not None
    request.transport.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
    return web.Response(text="after the hints")


async def late_body(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """The head at once, the body when a test allows it."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(b"")  # pushes the head out
    await journal.step(query(request)["key"])
    await answer.write(b"at last")
    return answer
