"""Answers that are whole at once: echoes, chosen heads, files with ranges."""

import hashlib
import json
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from tests.rigs.behaviour.pattern import blocks, pattern


def query(request: web.BaseRequest) -> dict[str, str]:
    """The query's single-valued arguments."""
    return dict(parse_qsl(urlsplit(request.raw_path).query, keep_blank_values=True))


async def hash_body(request: web.BaseRequest) -> tuple[str, int]:
    """Read the whole body: its SHA-256 and its size."""
    total, size = hashlib.sha256(), 0
    async for piece in request.content.iter_any():
        total.update(piece)
        size += len(piece)
    return total.hexdigest(), size


async def echo(request: web.BaseRequest) -> web.StreamResponse:
    """Say what arrived: method, target and headers to the byte, the body as a hash."""
    sha256, size = await hash_body(request)
    seen = {
        "method": request.method,
        "target": request.raw_path,
        "version": f"{request.version.major}.{request.version.minor}",
        "headers": [
            [name.decode("latin-1"), value.decode("latin-1")] for name, value in request.raw_headers
        ],
        "sha256": sha256,
        "size": size,
    }
    return web.Response(text=json.dumps(seen), content_type="application/json")


async def chosen(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as the query says: status, reason, body, and any number of header=Name:Value."""
    await request.read()
    arguments = parse_qsl(urlsplit(request.raw_path).query, keep_blank_values=True)
    single = dict(arguments)
    answer = web.Response(
        status=int(single.get("status", "200")),
        reason=single.get("reason"),
        body=single["body"].encode() if "body" in single else None,
    )
    for name, value in arguments:
        if name == "header":
            field, _, content = value.partition(":")
            answer.headers.add(field, content)
    return answer


async def file(request: web.BaseRequest) -> web.StreamResponse:
    """A file of ?size= bytes of the pattern; one byte range is honoured."""
    size = int(query(request)["size"])
    wanted = request.http_range
    if wanted.start is not None or wanted.stop is not None:
        return _part(size, wanted)
    answer = web.StreamResponse(headers={"Accept-Ranges": "bytes", "Content-Length": str(size)})
    await answer.prepare(request)
    if request.method != "HEAD":
        for block in blocks(size):
            await answer.write(block)
    await answer.write_eof()
    return answer


def _part(size: int, wanted: slice) -> web.Response:
    start, stop, _ = wanted.indices(size)
    if start >= size:
        return web.Response(status=416, headers={"Content-Range": f"bytes */{size}"})
    return web.Response(
        status=206,
        body=pattern(size)[start:stop],
        headers={"Content-Range": f"bytes {start}-{stop - 1}/{size}"},
    )
