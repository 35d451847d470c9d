"""As much of Spoolman as Moonraker asks of it: its WebSocket, and one spool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from tests.printers.moonraker.test_materials import SPOOL

SPOOL_ID = 3


@asynccontextmanager
async def spoolman_at(port: int) -> AsyncIterator[None]:
    """Moonraker finds it at this port of loopback after a while."""
    app = web.Application()
    app.router.add_get("/api/v1/spool", _listen)
    app.router.add_get("/api/v1/spool/{number}", _spool)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield
    finally:
        await runner.cleanup()


async def _listen(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for _ in socket:
        pass  # it tells of changes, of which there are none
    return socket


async def _spool(request: web.Request) -> web.Response:
    if request.match_info["number"] != str(SPOOL_ID):
        return web.json_response({"message": "No spool found"}, status=404)
    return web.json_response(SPOOL)
