"""The printer's own web server: its page, its API, its webcam.

Every address in the page is relative, so it works behind any host and path.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from importlib.resources import files as package_files
from urllib.parse import parse_qs

import msgspec

from printreach.http1.messages import Answer, Call
from printreach.http1.stream import ClientGone
from printreach.printers.simulated.engine import Engine
from printreach.printers.simulated.webcam.camera import Camera
from printreach.wire.heads import Headers

from .files_api import FilesApi
from .orders import Control
from .reports import report_status
from .responses import error_answer, is_from_another_site, json_answer, streamed, wrong_method
from .websocket import WebSocket, accept_websocket

_MAX_ORDER_BYTES = 64 * 1024
_EVENTS_ALIVE_S = 15.0
_SAFE_METHODS = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_PART_HEAD = b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
_PAGE_FILES = {
    b"/": ("index.html", b"text/html; charset=utf-8"),
    b"/style.css": ("style.css", b"text/css; charset=utf-8"),
    b"/app.js": ("app.js", b"text/javascript; charset=utf-8"),
    b"/favicon.svg": ("favicon.svg", b"image/svg+xml"),
}
_PAGE_HEADERS: Headers = [
    (b"Cache-Control", b"no-cache"),
    (b"Content-Security-Policy", b"default-src 'self'; img-src 'self' blob: data:"),
    (b"X-Content-Type-Options", b"nosniff"),
]
_SHORTEST_S = 0.25
"""At most four a second to each watcher."""


class PrinterSite:
    """Answers every call; give `answer` to the HTTP server."""

    def __init__(self, engine: Engine, control: Control, files: FilesApi, camera: Camera) -> None:
        self._engine = engine
        self._control = control
        self._files = files
        self._camera = camera

    async def answer(self, call: Call) -> Answer:
        is_upgrade = call.head.upgrade is not None
        if (call.method not in _SAFE_METHODS or is_upgrade) and is_from_another_site(call):
            return error_answer(403, "The request came from another site's page.")
        path = call.path
        if path.startswith(b"/api/files"):
            return await self._files.answer(call, path.removeprefix(b"/api/files"))
        if call.method == b"POST" and path.startswith(b"/api/"):
            return await self._order(call, path.removeprefix(b"/api/").decode("latin-1"))
        if call.method not in (b"GET", b"HEAD"):
            return wrong_method(b"GET, HEAD")
        if path in _PAGE_FILES:
            return _page(*_PAGE_FILES[path])
        match path:
            case b"/api/status":
                return self._status()
            case b"/webcam" | b"/webcam/":
                return await self._webcam(call)
            case b"/events":
                return Answer(headers=streamed(b"text/event-stream"), body=self._tell())
            case b"/ws":
                return self._websocket(call)
        return error_answer(404, "There is nothing at this address.")

    async def _order(self, call: Call, name: str) -> Answer:
        problem = await self._control.execute(name, await call.body.read(_MAX_ORDER_BYTES))
        return self._status() if problem is None else error_answer(problem.status, problem.sentence)

    def _status(self) -> Answer:
        return json_answer(report_status(self._engine.printer, self._engine.speed))

    async def _webcam(self, call: Call) -> Answer:
        """Serve the webcam as mjpg-streamer does: ?action=stream or ?action=snapshot."""
        action = parse_qs(call.query.decode("latin-1")).get("action", ["stream"])[0]
        if action == "snapshot":
            picture = await self._camera.snapshot()
            return Answer(headers=streamed(b"image/jpeg"), body=picture)
        if action == "stream":
            kind = b"multipart/x-mixed-replace; boundary=frame"
            return Answer(headers=streamed(kind), body=self._stream())
        return error_answer(400, "The action has to be stream or snapshot.")

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._camera.pictures()) as pictures:
            async for picture in pictures:
                yield _PART_HEAD % len(picture) + picture + b"\r\n"

    async def _tell(self) -> AsyncGenerator[bytes, None]:
        feed = StatusFeed(self._engine)
        while True:
            try:
                async with asyncio.timeout(_EVENTS_ALIVE_S):
                    status = await feed.next()
                yield b"event: status\ndata: %b\n\n" % status
            except TimeoutError:
                # A comment keeps proxies from closing a quiet stream.
                yield b": alive\n\n"

    def _websocket(self, call: Call) -> Answer:
        if call.head.upgrade is None:
            answer = error_answer(426, "This address speaks WebSocket.")
            answer.headers.append((b"Upgrade", b"websocket"))
            return answer
        return accept_websocket(call, self._talk)

    async def _talk(self, socket: WebSocket) -> None:
        """Send {"Status": …} at once and on every change; whatever the page says is ignored."""
        pushing = asyncio.create_task(self._push(socket))
        try:
            while await socket.receive() is not None:
                pass
        finally:
            pushing.cancel()

    async def _push(self, socket: WebSocket) -> None:
        feed = StatusFeed(self._engine)
        try:
            while True:
                await socket.send(f'{{"Status":{(await feed.next()).decode()}}}')
        except ClientGone:
            pass  # the task that receives is told too


def _page(name: str, content_type: bytes) -> Answer:
    headers = [(b"Content-Type", content_type), *_PAGE_HEADERS]
    return Answer(headers=headers, body=_read(name))


@cache
def _read(name: str) -> bytes:
    return (package_files(__package__) / "page" / name).read_bytes()


class StatusFeed:
    """One watcher's view of the status. Costs nothing unless next() is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen_version = -1
        self._last = b""
        self._due_s = 0.0

    async def next(self) -> bytes:
        """Return the status as JSON, once it is another than the last. The first comes at once."""
        loop = asyncio.get_running_loop()
        while True:
            await self._engine.wait_for_change(self._seen_version)
            await asyncio.sleep(max(self._due_s - loop.time(), 0.0))
            self._seen_version = self._engine.version
            report = msgspec.json.encode(report_status(self._engine.printer, self._engine.speed))
            if report != self._last:
                self._last = report
                self._due_s = loop.time() + _SHORTEST_S
                return report
