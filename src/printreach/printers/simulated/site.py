"""The printer's own web server: its page, its API with the files, its webcam.

Every address in the page is relative, so it works behind any host and path.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, quote, unquote_to_bytes

import msgspec
from multipart import (  # type: ignore[import-untyped]  # it ships no types
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from printreach.http1.messages import Answer, Call
from printreach.printers.websocket import WebSocket, WebSocketFailed, accept_websocket
from printreach.wire.heads import Headers

from .camera import Camera
from .control import Control, Engine
from .files import BadPath, FileStore, Upload
from .printer import SimulatedPrinter

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

NOT_STORED: Final = (b"Cache-Control", b"no-store")
_PIECE_BYTES: Final = 64 * 1024
_MAX_FIELDS: Final = 16
_MAX_FIELDS_BYTES: Final = 16 * 1024


class _BadForm(Exception):
    """The body is no form that can be taken; the sentence says why."""


class FilesApi:
    """Answers what is asked of the files."""

    def __init__(self, files: FileStore, control: Control) -> None:
        self._files = files
        self._control = control

    async def answer(self, call: Call, rest: bytes) -> Answer:
        """rest: what follows /api/files in the path, still percent-encoded."""
        try:
            path = unquote_to_bytes(rest.removeprefix(b"/")).decode()
            return await (self._answer_one(call, path) if path else self._answer_all(call))
        except UnicodeDecodeError:
            return error_answer(400, "The path is not UTF-8.")
        except (BadPath, _BadForm, MultipartError) as exc:
            return error_answer(400, str(exc))

    async def _answer_all(self, call: Call) -> Answer:
        match call.method:
            case b"GET" | b"HEAD":
                return json_answer({"Files": self._files.list()})
            case b"POST":
                return await self._receive_form(call)
        return wrong_method(b"GET, HEAD, POST")

    async def _answer_one(self, call: Call, path: str) -> Answer:
        match call.method:
            case b"GET" | b"HEAD":
                place = self._files.find(path)
                return _missing() if place is None else _download(place)
            case b"PUT":
                return await self._receive(call, path)
            case b"DELETE":
                return Answer(status=204) if self._files.delete(path) else _missing()
        return wrong_method(b"GET, HEAD, PUT, DELETE")

    async def _receive(self, call: Call, path: str) -> Answer:
        existed = self._files.find(path) is not None
        with self._files.receive() as upload:
            async for piece in call.body:
                upload.write(piece)
            upload.commit(path)
        return json_answer(_upload_details(path, upload), 200 if existed else 201)

    async def _receive_form(self, call: Call) -> Answer:
        """Receive a form with a file, and optionally `path` (folder) and `print` (start it)."""
        content_type = (call.header(b"content-type") or b"").decode("latin-1")
        kind, options = parse_options_header(content_type)
        if kind != "multipart/form-data":
            raise _BadForm("The body has to be multipart/form-data.")
        parser = PushMultipartParser(options.get("boundary", ""), max_segment_count=_MAX_FIELDS)
        with self._files.receive() as upload:
            form = _UploadForm(upload)
            async for piece in call.body:
                for event in () if parser.closed else parser.parse(piece):
                    form.take(event)
            parser.close()
            path = form.path()
            upload.commit(path)
        if form.text("print").strip().lower() in ("true", "1"):
            problem = await self._control.start(path)
            if problem is not None:
                return error_answer(problem.status, problem.sentence)
        return json_answer(_upload_details(path, upload), 201)


class _UploadForm:
    """The fields of an upload as they come, in any order."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._filename = ""
        self._fields: dict[str, bytes] = {}
        self._field = ""  # the one that is coming
        self._is_file = False

    def take(self, event: MultipartSegment | bytes | bytearray | None) -> None:
        """event: the start of a field, its bytes, or None at its end. Raises _BadForm."""
        if isinstance(event, MultipartSegment):
            self._field, self._is_file = event.name, event.filename is not None
            if self._is_file and self._filename:
                raise _BadForm("One file at a time.")
            self._filename = event.filename or self._filename
        elif event and self._is_file:
            self._upload.write(event)
        elif event:
            self._fields[self._field] = self._fields.get(self._field, b"") + event
            if sum(map(len, self._fields.values())) > _MAX_FIELDS_BYTES:
                raise _BadForm("The fields are too long.")

    def path(self) -> str:
        """Return where the file belongs. Raises _BadForm where there was none."""
        name = self._filename.replace("\\", "/").rpartition("/")[2]
        if not name:
            raise _BadForm("The form has no file.")
        return f"{self.text('path').strip('/')}/{name}".removeprefix("/")

    def text(self, name: str) -> str:
        return self._fields.get(name, b"").decode()


def _missing() -> Answer:
    return error_answer(404, "There is no file of that path.")


def _upload_details(path: str, upload: Upload) -> dict[str, object]:
    return {"Path": path, "SizeBytes": upload.size_bytes}


def _download(place: Path) -> Answer:
    name = f"attachment; filename*=UTF-8''{quote(place.name, safe='')}"
    headers = [(b"Content-Type", b"text/x.gcode"), (b"Content-Disposition", name.encode("ascii"))]
    return Answer(headers=headers, length=place.stat().st_size, body=_pieces_of(place))


async def _pieces_of(place: Path) -> AsyncGenerator[bytes, None]:
    with place.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def json_answer(value: object, status: int = 200) -> Answer:
    headers = [(b"Content-Type", b"application/json"), NOT_STORED]
    return Answer(status=status, headers=headers, body=msgspec.json.encode(value))


def error_answer(status: int, sentence: str) -> Answer:
    return json_answer({"Error": sentence}, status)


def wrong_method(allowed: bytes) -> Answer:
    answer = error_answer(405, "This address doesn't take that method.")
    answer.headers.append((b"Allow", allowed))
    return answer


class PrinterSite:
    """Answers every call; give `answer` to the HTTP server."""

    def __init__(self, engine: Engine, control: Control, files: FileStore, camera: Camera) -> None:
        self._engine = engine
        self._control = control
        self._files = FilesApi(files, control)
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
        "PrintId": printer.print_id,
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
