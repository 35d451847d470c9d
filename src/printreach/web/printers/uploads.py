"""The file of an upload form, chunk by chunk, never stored as a whole in memory or on disk.

The part of the form before the file is bounded in time and size. Until the file begins the
printer's owner is not looked up again, so a caller could otherwise keep open an upload that was
allowed long ago.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from litestar.exceptions import ClientException, ValidationException
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header  # type: ignore[import-untyped]  # it has none

from printreach.languages import N_
from printreach.web.problems import AnyRequest

MAX_FIELDS: Final = 8
BEFORE_FILE_S: Final = 30.0
MAX_BYTES_BEFORE_FILE: Final = 64 * 1024
LONGEST_NAME: Final = 200
_PATH_MARKS: Final = "/\\"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """name: as the browser sent it, without any folder. chunks: may be read once.

    Reading them raises ValidationException if the form breaks off.
    """

    name: str
    chunks: AsyncIterator[bytes]


async def read_upload(request: AnyRequest) -> UploadedFile:
    """Read a form up to the first bytes of its first file.

    Raises ValidationException, UploadStalled and TooMuchBeforeFile.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get("boundary", "")
    if kind != "multipart/form-data" or not boundary:
        raise ValidationException(N_("This form carries no file"))
    parser, before = PushMultipartParser(boundary, max_segment_count=MAX_FIELDS), _Preamble()
    events = _events(request, parser, before)
    try:
        async with asyncio.timeout(BEFORE_FILE_S):
            async for event in events:
                if isinstance(event, MultipartSegment) and event.filename:
                    before.is_over = True
                    return UploadedFile(parse_file_name(event.filename), await _begun(events))
    except TimeoutError:
        raise UploadStalled from None
    raise ValidationException(N_("Choose a file first"))


class UploadStalled(ClientException):
    """The form began, but its file did not follow."""

    status_code = 408
    detail = N_(
        "The file did not begin to arrive within %(before_file_s)s seconds",
        before_file_s=f"{BEFORE_FILE_S:.0f}",
    )


class TooMuchBeforeFile(ClientException):
    """The fields before the file are too large."""

    status_code = 413
    detail = N_(
        "At most %(max_bytes_before_file)s KiB of other fields may precede the file",
        max_bytes_before_file=MAX_BYTES_BEFORE_FILE // 1024,
    )


@dataclass(slots=True)
class _Preamble:
    """The size of what came before the file, in bytes."""

    size: int = 0
    is_over: bool = False


def parse_file_name(sent: str) -> str:
    """Return the last part of the path that a browser sent. Raises ValidationException if it is no
    name.
    """
    name = sent.strip()
    for mark in _PATH_MARKS:
        name = name.rpartition(mark)[2]
    if not name.isprintable() or name in ("", ".", "..") or len(name) > LONGEST_NAME:
        raise ValidationException(N_("A file with this name can't be uploaded"))
    return name


_Event: TypeAlias = MultipartSegment | bytes | bytearray | None
"""The start of a field, its bytes, or its end."""


async def _events(
    request: AnyRequest, parser: PushMultipartParser, before: _Preamble
) -> AsyncIterator[_Event]:
    try:
        async for chunk in request.stream():
            for event in _parsed(parser, chunk):
                yield event
            before.size += len(chunk)
            if not before.is_over and before.size > MAX_BYTES_BEFORE_FILE:
                raise TooMuchBeforeFile
        parser.close()
    except MultipartError as fault:
        raise ValidationException(N_("The upload broke off")) from fault


def _parsed(parser: PushMultipartParser, chunk: bytes) -> Iterator[_Event]:
    if chunk and not parser.closed:  # bytes after the end of the form are ignored
        yield from parser.parse(chunk)


async def _begun(events: AsyncIterator[_Event]) -> AsyncIterator[bytes]:
    """Return the chunks of the file that begins. Raises ValidationException if it is empty."""
    chunks = _file(events)
    first = await anext(chunks, b"")
    if not first:
        raise ValidationException(N_("This file is empty, so nothing was uploaded"))

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    return whole()


async def _file(events: AsyncIterator[_Event]) -> AsyncIterator[bytes]:
    """Yield the chunks of this file; the rest of the form is read and discarded."""
    is_in_file = True
    async for event in events:
        if event is None:
            is_in_file = False
        elif is_in_file and isinstance(event, bytes | bytearray) and event:
            yield bytes(event)
