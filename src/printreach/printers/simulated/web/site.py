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
from printreach.printers.simulated.engine import Engine
from printreach.printers.simulated.model.printer import SimulatedPrinter
from printreach.printers.simulated.webcam.camera import Camera
from printreach.printers.websocket import WebSocket, WebSocketFailed, accept_websocket
from printreach.wire.heads import Headers

from .files_api import NOT_STORED, FilesApi, error_answer, json_answer, wrong_method
from .orders import Control

_CONSOLE_LINES = 12
_MAX_ORDER_BYTES = 64 * 1024
_SHORTEST_S = 0.25
"""At most four reports a second to each watcher."""
CLIENT_SILENCE_S = 40.0
"""A client whose machine is gone says nothing, not even goodbye, and answers no ping."""
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


class PrinterSite:
    """Answers every call; give `answer` to the HTTP server."""

    def __init__(self, engine: Engine, control: Control, files: FilesApi, camera: Camera) -> None:
        self._engine = engine
        self._control = control
        self._files = files
        self._camera = camera

    async def answer(self, call: Call) -> Answer:
        is_upgrade = call.head.upgrade is not None
        if (call.method not in _SAFE_METHODS or is_upgrade) and _is_from_another_site(call):
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
            case b"/ws" if is_upgrade:
                return accept_websocket(call, self._serve_websocket)
            case b"/ws":
                answer = error_answer(426, "This address speaks WebSocket.")
                answer.headers.append((b"Upgrade", b"websocket"))
                return answer
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
            return Answer(headers=_streamed(b"image/jpeg"), body=picture)
        if action == "stream":
            kind = b"multipart/x-mixed-replace; boundary=frame"
            return Answer(headers=_streamed(kind), body=self._stream())
        return error_answer(400, "The action has to be stream or snapshot.")

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._camera.pictures()) as pictures:
            async for picture in pictures:
                yield _PART_HEAD % len(picture) + picture + b"\r\n"

    async def _serve_websocket(self, socket: WebSocket) -> None:
        """Send {"Status": …} at once and on every change; whatever the client says is ignored."""
        pushing = asyncio.create_task(self._push(socket))
        try:
            while True:
                await socket.receive(CLIENT_SILENCE_S)
        finally:
            pushing.cancel()

    async def _push(self, socket: WebSocket) -> None:
        loop, seen_version, last = asyncio.get_running_loop(), -1, b""
        try:
            while True:
                await self._engine.wait_for_change(seen_version)
                seen_version = self._engine.version
                status = report_status(self._engine.printer, self._engine.speed)
                report = msgspec.json.encode({"Status": status})
                if report != last:
                    last, next_s = report, loop.time() + _SHORTEST_S
                    await socket.send(report.decode())
                    await asyncio.sleep(next_s - loop.time())
        except WebSocketFailed:
            pass  # the task that receives is told too


def _is_from_another_site(call: Call) -> bool:
    """Return whether a browser says that a page of another host sent this.

    Behind a relay the browser knows the printer by another name, which X-Forwarded-Host tells;
    no page can make a browser send that header without being asked first.
    """
    origin = call.header(b"origin")
    if origin is None:
        return False
    host = origin.partition(b"://")[2].lower()
    own = (call.head.host, call.header(b"x-forwarded-host") or b"")
    return not host or host not in [name.lower() for name in own]


def _streamed(content_type: bytes) -> Headers:
    """Return the headers of a stream that no proxy may gather up before passing it on."""
    return [(b"Content-Type", content_type), NOT_STORED, (b"X-Accel-Buffering", b"no")]


def _page(name: str, content_type: bytes) -> Answer:
    headers = [(b"Content-Type", content_type), *_PAGE_HEADERS]
    return Answer(headers=headers, body=_read(name))


@cache
def _read(name: str) -> bytes:
    return (package_files(__package__) / "page" / name).read_bytes()


def report_status(printer: SimulatedPrinter, speed: float) -> dict[str, object]:
    """Return the printer's status for its pages and apps.

    Unknown is null. Rounded to what a person can tell apart, so that smaller changes are no news.
    Temps: in °C; a target of 0 is off. Console: the latest lines, oldest first; Number counts all
    lines, so that a reader sees which are new.
    """
    machine = printer.machine
    temps = {}
    for heater_name, heater in machine.heaters.items():
        temps[f"{heater_name.value.capitalize()}Actual"] = round(heater.actual_c, 1)
        temps[f"{heater_name.value.capitalize()}Target"] = heater.target_c
    console = list(machine.console)[-_CONSOLE_LINES:]
    return {
        "State": printer.state.value,
        "SubState": printer.sub_state,
        "Error": printer.error,
        "FileName": printer.file_name,
        "Progress": round(printer.progress, 1),
        "DurationSec": int(printer.duration_s),
        "TimeLeftSec": _rounded(printer.time_left_s),
        "CurrentLayer": printer.current_layer,
        "TotalLayers": printer.total_layers,
        "FilamentUsedMm": round(printer.filament_mm),
        "FilamentTotalMm": _rounded(printer.filament_total_mm),
        "Temps": temps,
        "Position": {axis: round(v, 1) for axis, v in zip("XYZ", machine.position, strict=True)},
        "FanPercent": machine.fan_percent,
        "SpeedPercent": machine.speed_percent,
        "FlowPercent": machine.flow_percent,
        "ZOffsetMm": machine.z_offset_mm,
        "LightOn": machine.light_is_on,
        "Failure": machine.failure.value,
        "Speed": speed,
        "Console": [{"Number": m.number, "Text": m.text, "IsError": m.is_error} for m in console],
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)
