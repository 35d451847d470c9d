"""The printer's handling of a body: take it, refuse it, answer before its end."""

import hashlib

from aiohttp import web

from tests.rigs.behaviour.answers import query
from tests.rigs.behaviour.journal import Journal

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def sink(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Hash the body, noting how much has arrived so that a test can see it come in pieces."""
    key = query(request)["key"]
    if request.headers.get("Expect", "").lower() == "100-continue":
        assert request.transport is not None
        request.transport.write(CONTINUE)
    total, size = hashlib.sha256(), 0
    async for piece in request.content.iter_any():
        total.update(piece)
        size += len(piece)
        journal.note(key, "received", size)
    return web.json_response({"sha256": total.hexdigest(), "size": size})


async def sink_late(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Read not a byte of the body until a test allows it; then as sink does."""
    await journal.step(query(request)["key"])
    return await sink(request, journal)


async def refuse(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Answer 413 after ?after= bytes of the body, and read no more of it.

    The connection is closed behind the answer, as most servers do then.
    """
    after, size = int(query(request)["after"]), 0
    while size < after:
        size += len(await request.content.readany())
    answer = web.Response(status=413, text="too large for this printer")
    answer.force_close()
    return answer


async def answer_early(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Answer in full before the body has come, then take the body; the connection stays."""
    answer = web.StreamResponse(headers={"Content-Length": "5"})
    await answer.prepare(request)
    await answer.write(b"early")
    await answer.write_eof()
    size = 0
    async for piece in request.content.iter_any():
        size += len(piece)
        journal.note(query(request)["key"], "received", size)
    return answer
