"""The file of an upload form, piece by piece: neither memory nor disk ever holds the whole."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from litestar.exceptions import ValidationException
from multipart import (  # type: ignore[import-untyped]  # it has none
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from printreach.web.problems import AnyRequest

MOST_FIELDS: Final = 8
LONGEST_NAME: Final = 200
_PATH_MARKS: Final = "/\\"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """name: as the browser called it, without any folder. chunks: may be read once.

    They raise ValidationException where the form breaks off.
    """

    name: str
    chunks: AsyncIterator[bytes]


async def read_upload(request: AnyRequest) -> UploadedFile:
    """Read a form up to the bytes of its first file. Raises ValidationException."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get("boundary", "")
    if kind != "multipart/form-data" or not boundary:
        raise ValidationException("This form carries no file")
    events = _events(request, PushMultipartParser(boundary, max_segment_count=MOST_FIELDS))
    async for event in events:
        if isinstance(event, MultipartSegment) and event.filename:
            return UploadedFile(read_file_name(event.filename), _file(events))
    raise ValidationException("Choose a file first")


def read_file_name(sent: str) -> str:
    """The last part of what a browser sent. Raises ValidationException where that is no name."""
    name = sent.strip()
    for mark in _PATH_MARKS:
        name = name.rpartition(mark)[2]
    if not name.isprintable() or name in ("", ".", "..") or len(name) > LONGEST_NAME:
        raise ValidationException("A file with this name can't be uploaded")
    return name


_Event: TypeAlias = MultipartSegment | bytes | bytearray | None
"""A field begins, its bytes, it ends."""


async def _events(request: AnyRequest, parser: PushMultipartParser) -> AsyncIterator[_Event]:
    try:
        async for chunk in request.stream():
            for event in _parsed(parser, chunk):
                yield event
        parser.close()
    except MultipartError as fault:
        raise ValidationException("The upload broke off") from fault


def _parsed(parser: PushMultipartParser, chunk: bytes) -> Iterator[_Event]:
    if chunk and not parser.closed:  # what is behind the end of the form is nobody's business
        yield from parser.parse(chunk)


async def _file(events: AsyncIterator[_Event]) -> AsyncIterator[bytes]:
    """The pieces up to the end of this file; the rest of the form is read, and thrown away."""
    is_in_file = True
    async for event in events:
        if event is None:
            is_in_file = False
        elif is_in_file and isinstance(event, bytes | bytearray):
            yield bytes(event)
