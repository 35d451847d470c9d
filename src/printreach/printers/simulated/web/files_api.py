"""/api/files: what the printer has, uploads, downloads and deletion."""

from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import unquote_to_bytes

from printreach.http1.messages import Answer, Call
from printreach.printers.simulated.files import BadPath, FileStore, Upload

from .multipart import BadForm, Event, FormReader, PartBegins, PartData
from .orders import Control
from .ranges import Span, UnsatisfiableRange, read_range
from .reports import report_files
from .responses import attachment, error_answer, json_answer, problem_answer, wrong_method

_PIECE_BYTES = 64 * 1024
_MAX_FIELDS_BYTES = 16 * 1024


class FilesApi:
    """Answers what is asked of the files."""

    def __init__(self, files: FileStore, control: Control) -> None:
        self._files = files
        self._control = control

    async def answer(self, call: Call, rest: bytes) -> Answer:
        """rest: what follows /api/files in the path, still percent-encoded."""
        try:
            if rest in (b"", b"/"):
                return await self._answer_all(call)
            path = unquote_to_bytes(rest.removeprefix(b"/")).decode()
            return await self._answer_one(call, path)
        except UnicodeDecodeError:
            return error_answer(400, "The path is not UTF-8.")
        except (BadPath, BadForm) as exc:
            return error_answer(400, str(exc))

    async def _answer_all(self, call: Call) -> Answer:
        match call.method:
            case b"GET" | b"HEAD":
                return self._list()
            case b"POST":
                return await self._receive_form(call)
        return wrong_method("GET", "HEAD", "POST")

    async def _answer_one(self, call: Call, path: str) -> Answer:
        match call.method:
            case b"GET" | b"HEAD":
                return self._download(call, path)
            case b"PUT":
                return await self._receive(call, path)
            case b"DELETE":
                return self._delete(path)
        return wrong_method("GET", "HEAD", "PUT", "DELETE")

    def _list(self) -> Answer:
        return json_answer({"Files": report_files(self._files.list())})

    def _delete(self, path: str) -> Answer:
        if not self._files.delete(path):
            return error_answer(404, "There is no file of that path.")
        return Answer(status=204)

    def _download(self, call: Call, path: str) -> Answer:
        place = self._files.find(path)
        if place is None:
            return error_answer(404, "There is no file of that path.")
        facts = place.stat()
        tag = b'"%x-%x"' % (facts.st_mtime_ns, facts.st_size)
        headers = [
            (b"Content-Type", b"text/x.gcode"),
            (b"Accept-Ranges", b"bytes"),
            (b"ETag", tag),
            *attachment(place.name),
        ]
        if call.header(b"if-none-match") == tag:
            return Answer(status=304, headers=headers)
        is_range_valid = call.header(b"if-range") in (None, tag)
        try:
            span = read_range(call.header(b"range") if is_range_valid else None, facts.st_size)
        except UnsatisfiableRange:
            headers.append((b"Content-Range", b"bytes */%d" % facts.st_size))
            return Answer(status=416, headers=headers)
        if span is not None:
            told = b"bytes %d-%d/%d" % (span.first, span.end - 1, facts.st_size)
            headers.append((b"Content-Range", told))
        return Answer(
            status=200 if span is None else 206,
            headers=headers,
            length=facts.st_size if span is None else span.length,
            body=_read(place, span or Span(0, facts.st_size)),
        )

    async def _receive(self, call: Call, path: str) -> Answer:
        existed = self._files.find(path) is not None
        with self._files.receive() as upload:
            async for piece in call.body:
                upload.write(piece)
            upload.commit(path)
        told = {"Path": path, "SizeBytes": upload.size_bytes}
        return json_answer(told, 200 if existed else 201)

    async def _receive_form(self, call: Call) -> Answer:
        """Receive a form with a file, and optionally `path` (folder) and `print` (start it)."""
        reader = FormReader(call.header(b"content-type"))
        with self._files.receive() as upload:
            form = _UploadForm(upload)
            async for piece in call.body:
                for event in reader.feed(piece):
                    form.take(event)
            reader.finish()
            path = form.path()
            upload.commit(path)
        if form.wants_print():
            problem = await self._control.start(path)
            if problem is not None:
                return problem_answer(problem)
        return json_answer({"Path": path, "SizeBytes": upload.size_bytes}, 201)


class _UploadForm:
    """The fields of an upload as they come, in any order."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._filename: str | None = None
        self._fields: dict[str, bytes] = {}
        self._field: str | None = None  # the one that is coming; None while it's the file

    def take(self, event: Event) -> None:
        """Raises BadForm."""
        match event:
            case PartBegins(filename=None):
                self._field = event.name
                self._fields[event.name] = b""
            case PartBegins():
                if self._filename is not None:
                    raise BadForm("One file at a time.")
                self._field, self._filename = None, event.filename
            case PartData() if self._field is None:
                self._upload.write(event.data)
            case PartData():
                self._fields[self._field] += event.data
                if sum(map(len, self._fields.values())) > _MAX_FIELDS_BYTES:
                    raise BadForm("The fields are too long.")

    def path(self) -> str:
        """Return where the file belongs. Raises BadForm where there was none."""
        if not self._filename:
            raise BadForm("The form has no file.")
        folder = self._text("path").strip("/")
        return f"{folder}/{self._filename}" if folder else self._filename

    def wants_print(self) -> bool:
        return self._text("print").strip().lower() in ("true", "1")

    def _text(self, name: str) -> str:
        return self._fields.get(name, b"").decode()


async def _read(place: Path, span: Span) -> AsyncGenerator[bytes, None]:
    left = span.length
    with place.open("rb") as file:
        file.seek(span.first)
        while left > 0 and (piece := file.read(min(left, _PIECE_BYTES))):
            left -= len(piece)
            yield piece
