"""The one image of a multipart body, parsed as it arrives, with all limits enforced meanwhile."""

import io
import re
from typing import Final

from multipart import (  # type: ignore[import-untyped]  # it ships no types
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,
)

from printreach.contract.detection_api import DetectionError
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.access import CallRefused
from printreach.web.detection.problems import DetectionRefused
from printreach.web.problems import AnyRequest
from printreach.web.requests import Body, is_encoded

MAX_OVERHEAD_BYTES: Final = 64 * 1024
"""Bytes of a body that are not the image."""
LONGEST_BOUNDARY: Final = 70
"""RFC 2046, section 5.1.1."""
MAX_PARTS: Final = 16

_FORM: Final = "multipart/form-data"
_NAMED_AS_IN_MAILS: Final = re.compile(r";\s*filename\*\d*\*?=", re.IGNORECASE)
"""RFC 2231; RFC 7578 forbids it in forms."""

_FILES: Final = ("image/", "application/octet-stream")
"""Content types that no form gives to a typed value."""

TOO_LARGE: Final = CallRefused(
    DetectionError.IMAGE_TOO_LARGE, f"An image has at most {MAX_IMAGE_BYTES} bytes."
)
NO_FILE: Final = CallRefused(
    DetectionError.BAD_ARGS, "The form has no file: no part of it has a file name."
)


async def read_image(request: AnyRequest, body: Body) -> bytes:
    """Read the file of a form. Raises DetectionRefused, TooManyBodies and TooSlow."""
    reader = _ImageReader(_boundary(request), body)
    announced = request.content_length
    if announced is not None and announced > MAX_IMAGE_BYTES + MAX_OVERHEAD_BYTES:
        raise DetectionRefused(TOO_LARGE)
    async with body.reading():
        while True:
            event = await request.receive()
            if event["type"] != "http.request":
                raise _unreadable("It broke off.")
            reader.feed(event["body"])
            if not event["more_body"]:
                return reader.whole()


def _boundary(request: AnyRequest) -> str:
    if is_encoded(request):
        raise _unreadable("Send it without Content-Encoding.")
    try:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
    except MultipartError as error:
        raise _unreadable("Its Content-Type can't be read.") from error
    boundary = str(options.get("boundary", ""))
    if kind != _FORM or not 0 < len(boundary) <= LONGEST_BOUNDARY or not boundary.isascii():
        raise _unreadable(f"It has to be {_FORM}, with a boundary of at most 70 characters.")
    return boundary


class _ImageReader:
    """Consumes the chunks of a body and keeps the file's bytes."""

    def __init__(self, boundary: str, body: Body) -> None:
        self._parser = PushMultipartParser(boundary, max_segment_count=MAX_PARTS)
        self._body = body
        self._image = io.BytesIO()
        self._image_size = 0
        self._received = 0
        self._files = 0
        self._is_in_file = False

    def feed(self, data: bytes) -> None:
        self._received += len(data)
        if not data:
            return
        try:
            for event in self._parser.parse(data):
                self._take(event)
        except ParserLimitReached as error:
            raise _unreadable("It has too many parts, or too long heads.") from error
        except MultipartError as error:
            raise _unreadable(f"It is no {_FORM}.") from error
        if self._received - self._image_size > MAX_OVERHEAD_BYTES:
            raise _unreadable("It holds too much beside the image.")

    def whole(self) -> bytes:
        """Return the file, after the last chunk."""
        try:
            self._parser.close()
        except MultipartError as error:
            raise _unreadable("It broke off.") from error
        if not self._files:
            raise DetectionRefused(NO_FILE)
        return self._image.getvalue()

    def _take(self, event: MultipartSegment | bytes | None) -> None:
        if isinstance(event, MultipartSegment):
            self._is_in_file = _is_file(event)
            self._files += self._is_in_file
            if self._files > 1:
                raise DetectionRefused(
                    CallRefused(DetectionError.BAD_ARGS, "Send one file, not several.")
                )
        elif event is not None and self._is_in_file:
            self._image_size += len(event)
            if self._image_size > MAX_IMAGE_BYTES:
                raise DetectionRefused(TOO_LARGE)
            self._body.grow(len(event))
            self._image.write(event)


def _is_file(part: MultipartSegment) -> bool:
    """Return whether a part is a file. Some programs encode the file name as mails do, or give only
    a content type.
    """
    disposition = part.header("Content-Disposition", "")
    is_named = part.filename is not None or _NAMED_AS_IN_MAILS.search(disposition) is not None
    return is_named or (part.content_type or "").startswith(_FILES)


def _unreadable(sentence: str) -> DetectionRefused:
    return DetectionRefused(
        CallRefused(DetectionError.ARGS_PARSE_FAILED, f"The body can't be read. {sentence}")
    )
