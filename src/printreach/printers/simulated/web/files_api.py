"""/api/files: what the printer has, uploads, downloads and deletion; and answers as JSON."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from multipart import (  # type: ignore[import-untyped]  # it ships no types
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from printreach.http1.messages import Answer, Call
from printreach.printers.simulated.files import BadPath, FileStore, Upload

from .orders import Control

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
    return Answer(headers=headers, length=place.stat().st_size, body=_read(place))


async def _read(place: Path) -> AsyncGenerator[bytes, None]:
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
